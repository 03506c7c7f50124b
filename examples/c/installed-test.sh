#!/bin/sh
# Installs into an empty directory and builds programs against what is there: installed-test.sh BUILD SOURCE
#
# The programs are the example, and every whole program that README.md and docs/library.md show.
set -eu
build=$1
source=$2
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

DESTDIR=$root meson install -C "$build" --no-rebuild --quiet
pc=$(find "$root" -name isoproof.pc)
[ -n "$pc" ] || { echo "no isoproof.pc was installed" >&2; exit 1; }
prefix=$(sed -n 's/^prefix=//p' "$pc")
PKG_CONFIG_PATH=$(dirname "$pc")
export PKG_CONFIG_PATH
# The prefix moves along with the directory that it was installed into.
flags=$(pkg-config --define-variable=prefix="$root$prefix" --cflags --libs isoproof)
# shellcheck disable=SC2086
cc -Wall -Wextra -Werror -o "$root/example" "$source" $flags -pthread
LD_LIBRARY_PATH=$(dirname "$(dirname "$pc")") "$root/example"

# Writes the blocks of C with a main() in a Markdown file to page-N.c.
programs_of() {
  awk -v out="$root/$(basename "$1" .md)" '
    /^```c$/ { inside = 1; text = ""; next }
    /^```$/ && inside { inside = 0; if (text ~ /int main\(/) { printf "%s", text > (out "-" ++n ".c") } next }
    inside { text = text $0 "\n" }' "$1"
}
tree=$(cd "$(dirname "$source")/../.." && pwd)
programs_of "$tree/README.md"
programs_of "$tree/docs/library.md"
for page in README-1 library-1; do
  # shellcheck disable=SC2086
  cc -Wall -Wextra -Werror -o "$root/$page" "$root/$page.c" $flags
done
said=$(cd "$tree" && LD_LIBRARY_PATH=$(dirname "$(dirname "$pc")") "$root/README-1")
[ "$said" = violated ] || { echo "the program of README.md said '$said'" >&2; exit 1; }
LD_LIBRARY_PATH=$(dirname "$(dirname "$pc")") "$root/library-1" "$tree/examples/histories/aborted-read.txt" | grep '^TAP-b: '

# The example in Python, with the library that was installed.
if command -v python3 >/dev/null; then
  python3 "$tree/tests/tools/python_example.py" "$tree/examples/python/isoproof_check.py" \
    "$(dirname "$(dirname "$pc")")/libisoproof.so.0" "$tree/examples/histories"
fi

for file in bin/isoproof share/man/man1/isoproof.1 share/bash-completion/completions/isoproof \
  share/zsh/site-functions/_isoproof share/fish/vendor_completions.d/isoproof.fish include/isoproof/isoproof.h; do
  [ -s "$root$prefix/$file" ] || { echo "$file was not installed" >&2; exit 1; }
done
"$root$prefix/bin/isoproof" --version
