#!/bin/sh
# Installs into an empty directory and builds the example against what is there: installed-test.sh BUILD SOURCE
set -eu
build=$1
source=$2
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

DESTDIR=$root meson install -C "$build" --no-rebuild --quiet
pc=$(find "$root" -name isolde.pc)
[ -n "$pc" ] || { echo "no isolde.pc was installed" >&2; exit 1; }
prefix=$(sed -n 's/^prefix=//p' "$pc")
PKG_CONFIG_PATH=$(dirname "$pc")
export PKG_CONFIG_PATH
# The prefix moves along with the directory that it was installed into.
flags=$(pkg-config --define-variable=prefix="$root$prefix" --cflags --libs isolde)
# shellcheck disable=SC2086
cc -Wall -Wextra -Werror -o "$root/example" "$source" $flags -pthread
LD_LIBRARY_PATH=$(dirname "$(dirname "$pc")") "$root/example"

for file in bin/isolde share/man/man1/isolde.1 share/bash-completion/completions/isolde \
  share/zsh/site-functions/_isolde share/fish/vendor_completions.d/isolde.fish include/isolde/isolde.h; do
  [ -s "$root$prefix/$file" ] || { echo "$file was not installed" >&2; exit 1; }
done
"$root$prefix/bin/isolde" --version
