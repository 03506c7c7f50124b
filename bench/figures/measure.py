"""Makes histories and measures what the program needs to check them."""
import json
import os
import signal
import subprocess
import tempfile
import time


class Failed(Exception):
    """A command that did not do its job, or a verdict that cannot be."""


class Usage:
    """What a process printed, how it ended, and how long it took."""

    def __init__(self, out, code, wall, rusage):
        self.out = out
        self.code = code
        self.wall = wall
        self.cpu = rusage.ru_utime + rusage.ru_stime


def run(command):
    """Runs it.  wait4 tells of this one child, however many there were before it.

    A shell stands in between: a process that is started from here would count the memory of this interpreter as its
    own, as Linux keeps the peak of a process when it becomes another program.  As what a shell starts like this does not
    hear of Ctrl-C, both are a group of their own and are told.
    """
    with tempfile.TemporaryFile() as out:
        began = time.monotonic()
        child = subprocess.Popen(["sh", "-c", '"$@" & wait $!', "sh"] + command, stdin=subprocess.DEVNULL, stdout=out,
                                 start_new_session=True)
        try:
            _, status, rusage = os.wait4(child.pid, 0)
        except BaseException:
            os.killpg(child.pid, signal.SIGTERM)
            os.wait4(child.pid, 0)
            raise
        wall = time.monotonic() - began
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        return Usage(out.read().decode("utf-8"), child.returncode, wall, rusage)


def must(command):
    usage = run(command)
    if usage.code != 0:
        raise Failed(f"exit code {usage.code}: {' '.join(command)}")
    return usage


def plain(recorded, path):
    """Writes the committed transactions of a recorded run as Plume text: neither times nor aborted attempts, which
    the papers' histories do not have, and numbers for the names of keys."""
    keys, count = {}, 0
    with open(recorded, encoding="utf-8") as lines, open(path, "w", encoding="utf-8") as out:
        next(lines)
        for line in lines:
            txn = json.loads(line)
            if txn.get("status") != "committed":
                continue
            count += 1
            for kind, key, value in txn["ops"]:
                code = keys.setdefault(key, len(keys))
                out.write(f"{kind}({code},{0 if value is None else value},{txn['session']},{count})\n")


class Maker:
    """Makes the history of a shape in a folder, once."""

    def __init__(self, program, folder):
        self.program = program
        self.folder = folder
        self.made = None, None

    def path(self, shape):
        known, path = self.made
        if known == shape:
            return path
        if path:
            os.unlink(path)
        path = os.path.join(self.folder, "history.edn" if shape.maker == "lists" else "history.txt")
        if shape.maker in ("simulate", "lists"):
            self.simulate(shape, path)
        else:
            self.record(shape, path)
        self.made = shape, path
        return path

    def common(self, shape):
        return ["--seed=1", "--quiet", f"--sessions={shape.sessions}", f"--transactions={shape.sessions * shape.txns}",
                f"--keys={shape.keys}"]

    def general(self, shape):
        return [f"--operations={shape.operations}", f"--read-share={shape.reads}", f"--distribution={shape.distribution}"]

    def simulate(self, shape, path):
        command = [self.program, "gen", "--simulate", f"--level={shape.level}", f"--output={path}", "--lossy"]
        command += self.common(shape) + self.general(shape)
        if shape.maker == "lists":
            command += ["--workload=list-append", "--format=edn", f"--appends-per-key={shape.appends}"]
        else:
            command += ["--format=plume"]
        must(command)

    def record(self, shape, path):
        """On the simulated database, by sessions that run at the same time: the seed decides what they do, but not who
        comes first."""
        recorded = os.path.join(self.folder, "recorded.jsonl")
        command = [self.program, "run", f"--db=sim:?level={shape.level}", f"--output={recorded}", "--retries=1000"]
        command += self.common(shape)
        if shape.maker == "long":
            command += ["--workload=general", "--long-share=0.1", f"--long-operations={shape.long_operations}"]
            command += self.general(shape)
        else:
            command += [f"--workload={shape.maker}"]
        must(command)
        if shape.maker == "long":
            must([self.program, "convert", "--to=plume", "--lossy", "--quiet", recorded, path])
        else:
            plain(recorded, path)
        os.unlink(recorded)


def checked(program, path, level, stats, timeout):
    """One run of the check: what it needed, and its result."""
    command = [program, "check", "--json", f"--timeout={timeout}"]
    command += ["--workload=list-append"] if level == "elle" else [f"--level={level}"]
    command += ["--stats"] if stats else []
    usage = run(command + [path])
    if usage.code not in (0, 1, 3):
        raise Failed(f"exit code {usage.code}: {' '.join(command)} {path}")
    return usage, json.loads(usage.out.splitlines()[0])


def sweep(program, folder, what, satisfied, timeout, say):
    """Measures a sweep; yields a row for each x and level."""
    maker = Maker(program, folder)
    for x, shape in what.shapes:
        path = maker.path(shape)
        for level in what.levels:
            best, result = None, None
            for _ in range(what.repeat):
                usage, result = checked(program, path, level, what.stats, timeout)
                if best is None or usage.cpu < best.cpu:
                    best = usage
            verdict = result["verdict"]
            if verdict == "violated" and level in satisfied[shape.level]:
                raise Failed(f"{what.name} {x}: {level} is violated, though the database keeps it")
            megabytes = result["peak_bytes"] / 1e6
            row = {"sweep": what.name, "x": str(x), "level": level, "cpu": f"{best.cpu:.4f}", "wall": f"{best.wall:.4f}",
                   "megabytes": f"{megabytes:.1f}", "verdict": verdict,
                   "transactions": str(result["transactions"]), "operations": str(result["operations"]),
                   "load": f"{result['seconds']['load']:.4f}", "check": f"{result['seconds']['check']:.4f}"}
            row["stats"] = json.dumps(result.get("stats", {}).get(level, {}), separators=(",", ":"))
            say(f"{what.name:24} {x!s:10} {level:20} {verdict:10} {best.cpu:8.3f} s {megabytes:8.1f} MB")
            yield row
    _, path = maker.made
    if path:
        os.unlink(path)
