"""What the papers found in databases, looked for again: in the histories that are public, and on servers of this machine.

Public histories are those of a folder with a MANIFEST.tsv (path, format, level, verdict), which has a part of the histories
that the authors of C4, Plume, PolySI and dbcop published with their programs.
"""
import csv
import json
import os

import measure

CODES = [f"TAP-{letter}" for letter in "abcdefghijklmn"]

# Name, history, what the paper found in it, and where the paper says so.
FOUND = (
    ("AntidoteDB 0.2.2", "plume/new_bugs/antidote.txt", "TAP-g TAP-h TAP-k TAP-m", "Plume, 5.2; C4, table 2"),
    ("MariaDB-Galera 10.4.22", "plume/new_bugs/mariadb/result.txt", "TAP-f TAP-h TAP-i TAP-j TAP-k TAP-l TAP-n",
     "Plume, 5.2; C4, table 2"),
    ("YugabyteDB 2.11.1", "plume/new_bugs/yugabyte.txt", "TAP-i TAP-k TAP-l TAP-m TAP-n", "Plume, 5.2; C4, table 2"),
    ("Dgraph 21.12", "plume/dgraph/history.txt", "TAP-l TAP-m TAP-n, in Plume's letters", "C4, table 2; PolySI, table 2"),
    ("MariaDB-Galera 10.7.3", "polysi/galera.txt", "lost update", "PolySI, figure 4"),
    ("YugabyteDB 2.11.1.0", "polysi/yugabyte.txt", "causality violation", "PolySI, 5.3"),
    ("CockroachDB (Cobra's history)", "cobra/cock-G2", "G2", "Cobra, a baseline of PolySI"),
    ("YugabyteDB (Cobra's history)", "cobra/yuga-G2-a", "G2", "Cobra, a baseline of PolySI"),
)

# The groups of the public part of the 3,097 histories of C4 and Plume: name, folder.
GROUPS = (
    ("CockroachDB, found by dbcop", "plume/dbcop/roachdb"),
    ("MySQL-Galera, found by dbcop", "plume/dbcop/galera"),
    ("MySQL-Galera, single operations (CausalC)", "plume/Galera"),
    ("CockroachDB, single operations (CausalC)", "plume/Cockreach"),
    ("AntidoteDB, sound", "plume/dbcop/antidote_all_writes"),
)

# What Elle's paper prints of its four databases (section 6): name, transactions, workload, model, what it is called.
EXCERPTS = (
    ("TiDB 2.1.7", "list-append", "snapshot-isolation", "G-single",
     ('[:r 34 [2 1]] [:append 36 5] [:append 34 4]', '[:append 34 5]', '[:r 34 [2 1 5 4]]',
      '[:append 34 2]', '[:append 34 1]')),
    ("YugaByte DB 1.3.1", "list-append", "serializable", "G2-item",
     ('[:append 3 837] [:r 4 [874]]', '[:append 4 885] [:r 3 [836]]', '[:append 4 874]', '[:append 3 836]',
      '[:r 3 [836 837]] [:r 4 [874 885]]')),
    ("FaunaDB 2.6.0", "list-append", "serializable", "internal", ('[:append 0 6] [:r 0 nil]',)),
    ("Dgraph 1.1.1, own write", "rw-register", "snapshot-isolation", "internal",
     ('[:w 10 2] [:r 10 1]', '[:w 10 1]')),
    ("Dgraph 1.1.1, read skew", "rw-register", "snapshot-isolation", "G-single",
     ('[:r 2432 10] [:r 2434 nil]', '[:w 2434 10]', '[:w 2432 10] [:r 2434 10]')),
)


def result(program, path, *options):
    usage = measure.run([program, "check", "--json", "--timeout=60", *options, path])
    if usage.code not in (0, 1, 3):
        raise measure.Failed(f"exit code {usage.code}: check {path}")
    return usage, [json.loads(line) for line in usage.out.splitlines() if line.startswith('{"schema"')]


def row(group, name, published, found, level="", seconds=""):
    return {"group": group, "name": name, "published": published, "found": found, "level": level, "seconds": seconds}


def codes(one):
    return " ".join(a["code"] for a in sorted(one["anomalies"], key=lambda a: a["code"]))


def cases(program, corpus):
    """The 14 test cases, one for each pattern (Plume, table 5)."""
    for letter in "abcdefghijklmn":
        _, (one,) = result(program, os.path.join(corpus, "tap", f"tap-{letter}.txt"), "--anomaly=" + ",".join(CODES))
        yield row("case", f"TAP-{letter}", f"TAP-{letter}", codes(one), one["verdict"])


def bugs(program, corpus):
    for name, path, published, where in FOUND:
        whole = os.path.join(corpus, path)
        usage, (one,) = result(program, whole)
        _, (patterns,) = result(program, whole, "--anomaly=" + ",".join(CODES))
        names = codes(patterns) or codes(one)
        yield row("bug", name, f"{published} ({where})", names, ", ".join(one["weakest_violated"]), f"{usage.cpu:.3f}")


def groups(program, corpus):
    """How many histories of each group have which pattern, beside what Plume reports of all 3,100."""
    for name, folder in GROUPS:
        _, every = result(program, os.path.join(corpus, folder), "--anomaly=" + ",".join(CODES))
        counts = {code: sum(any(a["code"] == code for a in one["anomalies"]) for one in every) for code in CODES}
        anomalous = sum(one["verdict"] == "violated" for one in every)
        yield row("group", name, f"{len(every)} {anomalous}", " ".join(str(counts[code]) for code in CODES))


def verdicts(program, corpus):
    """How many verdicts of the manifest are ours, by level."""
    agree, all_of = {}, {}
    with open(os.path.join(corpus, "MANIFEST.tsv"), encoding="utf-8") as manifest:
        for line in csv.DictReader(manifest, delimiter="\t"):
            level = line["level"]
            _, (one,) = result(program, os.path.join(corpus, line["path"]), f"--level={level}")
            all_of[level] = all_of.get(level, 0) + 1
            agree[level] = agree.get(level, 0) + (one["verdict"] == line["verdict"])
    for level in sorted(all_of):
        yield row("verdict", level, str(all_of[level]), str(agree[level]))


def excerpts(program, folder):
    """Each transaction in a process of its own, all at the same time, so that no order is known but that of values."""
    for name, workload, model, called, txns in EXCERPTS:
        path = os.path.join(folder, "excerpt.edn")
        with open(path, "w", encoding="utf-8") as out:
            for kind in ("invoke", "ok"):
                for i, txn in enumerate(txns):
                    out.write(f"{{:type :{kind}, :f :txn, :process {i}, :value [{txn}]}}\n")
        _, (one,) = result(program, path, f"--workload={workload}", f"--model={model}")
        yield row("excerpt", name, called, codes(one), f"{model} {one['verdict']}")


def histories(program, corpus, folder, say):
    """Every row about histories; those that need the corpus only where it is."""
    parts = [excerpts(program, folder)]
    if corpus and os.path.exists(os.path.join(corpus, "MANIFEST.tsv")):
        parts += [cases(program, corpus), bugs(program, corpus), groups(program, corpus), verdicts(program, corpus)]
    else:
        say("no public histories here (--data): what was found in them before is kept")
    for part in parts:
        for one in part:
            say(f"{one['group']:8} {one['name']:42} {one['published']:44.44} {one['found']}")
            yield one


# Database of `isoproof coo`, and the level names of the paper by those of the database.
MATRICES = (
    ("PostgreSQL", ["--cluster=postgres"]),
    ("MariaDB", ["--cluster=mariadb"]),
    ("SQLite", ["--db=sqlite:"]),
)


def matrices(program, say, which=MATRICES, options=()):
    """The letter of each case at each level; a database that is not installed is left out."""
    for name, where in which:
        usage = measure.run([program, "coo", "--json", "--quiet", *where, *options])
        if usage.code not in (0, 1):
            say(f"coo      {name}: not here (exit code {usage.code}); what was found on it before is kept")
            continue
        matrix = json.loads(usage.out)
        say(f"coo      {matrix['database']}: {len(matrix['cases'])} cases at {len(matrix['levels'])} levels")
        for case in matrix["cases"]:
            for level in matrix["levels"]:
                yield {"database": name, "version": matrix["database"], "level": level, "case": str(case["no"]),
                       "letter": case["results"][level]["result"]}
