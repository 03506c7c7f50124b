"""What the command line tests share: a place to run the program in, and output without what changes from run to run."""
import json
import os
import re
import shutil
import subprocess
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# Times, sizes and versions differ between runs and machines; everything else must be exact.
VARYING = [
    (re.compile(r'"(load|check)":[0-9.e+-]+'), r'"\1":<seconds>'),
    (re.compile(r'"(construct|guess|saturate|solve|blame|explain)":[0-9.e+-]+'), r'"\1":<seconds>'),
    (re.compile(r'"peak_bytes":\d+'), '"peak_bytes":<bytes>'),
    (re.compile(r'\b\d+(\.\d+)? (us|ms|s)\b'), '<time>'),
    (re.compile(r'\b\d+ committed per second'), '<rate> committed per second'),
    (re.compile(r'tried: [\d.]+ at once'), 'tried: <many> at once'),
    (re.compile(r'--seed=\d+ repeats'), '--seed=<seed> repeats'),
    (re.compile(r'\b\d{8}-\d{6}(-\d+)?\b'), '<now>'),
    (re.compile(r'\bSQLite \d[0-9.]*'), 'SQLite <version>'),
    (re.compile(r'\b\d+(\.\d+)? ([kKMGT]i?B|bytes) peak\b'), '<bytes> peak'),
    (re.compile(r'\bseed \d+ \('), 'seed <seed> ('),
]


def steady(text, directory):
    """The text with what varies replaced by placeholders."""
    text = text.replace(directory, "<tmp>")
    # Markdown escapes what could be emphasis.
    text = text.replace(directory.replace("_", "\\_"), "<tmp>")
    for pattern, replacement in VARYING:
        text = pattern.sub(replacement, text)
    return text


class Place:
    """A private directory that is gone in the end."""

    def __init__(self):
        self.path = tempfile.mkdtemp(prefix="isoproof-cli-")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)


class Program:
    """The program on PATH as `isoproof`, run in the root of the source tree with an empty directory as $TMP, or in a place
    that the caller made, which is $TMP then."""

    def __init__(self, path):
        self.path = os.path.abspath(path)
        if not os.access(self.path, os.X_OK):
            raise SystemExit(f"{path}: no program to test there; --isoproof names another")
        self.bin = tempfile.mkdtemp(prefix="isoproof-cli-bin-")
        os.symlink(self.path, os.path.join(self.bin, "isoproof"))
        self.facts = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.bin, ignore_errors=True)

    def environment(self, directory):
        """A small, known environment."""
        # The address sanitizer must not hide that an allocation failed.
        return {
            "PATH": self.bin + ":" + os.environ.get("PATH", "/usr/bin:/bin"),
            "HOME": directory,
            "TMP": directory,
            "TMPDIR": directory,
            "LC_ALL": "C.UTF-8",
            "TERM": "xterm",
            "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", ""),
            "TSAN_OPTIONS": os.environ.get("TSAN_OPTIONS", ""),
            "UBSAN_OPTIONS": os.environ.get("UBSAN_OPTIONS", "halt_on_error=1:print_stacktrace=1"),
        }

    def run(self, script, clean=True, place=None):
        """Runs lines of bash; returns exit code, standard output and standard error."""
        if place is None:
            with Place() as fresh:
                return self.run_in(script, clean, ROOT, fresh.path)
        return self.run_in(script, clean, place.path, place.path)

    def run_in(self, script, clean, working, directory):
        """The same with `working` as working directory and `directory` as $TMP and home."""
        done = subprocess.run(["bash", "-o", "pipefail", "-c", script], cwd=working, stdin=subprocess.DEVNULL,
                              env=self.environment(directory), capture_output=True, timeout=600, check=False)
        out, err = (stream.decode("utf-8", "backslashreplace") for stream in (done.stdout, done.stderr))
        if clean:
            out, err = steady(out, directory), steady(err, directory)
        return done.returncode, out, err

    def has(self, word):
        """Whether a requirement of a case is met: `plain` (no sanitizer), `full` (/dev/full), `driver:NAME`, or a program."""
        if self.facts is None:
            self.facts = json.loads(self.run("isoproof doctor --json", clean=False)[1])
        if word == "plain":
            return not self.facts["address_sanitizer"]
        if word.startswith("driver:"):
            return word[7:] in self.facts["drivers"]
        if word == "full":
            return os.path.exists("/dev/full")
        if word == "user":
            return os.geteuid() != 0
        return shutil.which(word) is not None
