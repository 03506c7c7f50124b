"""Writes the numbers of docs/evaluation.md that are measured: each block between its two marks."""
import json
import re

import experiments
import pictures
import plot

BLOCK = re.compile(r"(<!-- figures: ([a-z0-9 -]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(str(c) for c in row) + " |" for row in rows]) + "\n"


def figures(value, digits=2):
    """A number with so many figures that count."""
    if value == 0:
        return "0"
    return f"{value:,.0f}" if value >= 100 else f"{float(f'{value:.{digits}g}'):g}"


def amount(value, unit):
    return f"{figures(value)} {unit}"


def panel_row(panel, unit, measured, published):
    """From where to where, the first published tool and ours, how much both grow, and the ratio where both have a point."""
    mine = next(pictures.ours(measured, panel, unit))
    other = next(pictures.theirs(published, panel), None)
    points = dict(mine.points)
    other = other if other and set(points) & set(dict(other.points)) else None
    xs = [x for x in points if other is None or x in dict(other.points)]
    if not isinstance(xs[0], str):
        xs.sort()
    first, last = xs[0], xs[-1]
    span = f"{plot.number(first)} to {plot.number(last)}" if not isinstance(first, str) else ", ".join(xs)
    cells = [panel.title.replace("*", ""), span]
    if isinstance(first, str):
        low, high = min(points[x] for x in xs), max(points[x] for x in xs)
        mine_is = f"{figures(low)} to {amount(high, unit)}"
    else:
        mine_is = f"{figures(points[first])} to {amount(points[last], unit)}"
    if other is None:
        return cells + [mine_is, "", "", ""]
    theirs = dict(other.points)
    ratios = [theirs[x] / points[x] / panel.scale for x in xs]
    if isinstance(first, str):
        theirs_is = f"{figures(min(theirs[x] for x in xs))} to {amount(max(theirs[x] for x in xs), unit)}"
        grow = ""
    else:
        theirs_is = f"{figures(theirs[first])} to {amount(theirs[last], unit)}"
        grow = f"{figures(points[last] / points[first])}, {figures(theirs[last] / theirs[first])}"
    ratio = f"{figures(min(ratios))} to {figures(max(ratios))}" if len(ratios) > 1 else figures(ratios[0])
    if panel.scale > 1:
        mine_is += f" for a history of 1/{panel.scale}"
        ratio += ", by transaction"
    return cells + [mine_is, f"{other.label}: {theirs_is}", grow, ratio]


def figure_table(name, measured, published):
    figure = next(f for f in experiments.FIGURES if f.name == name)
    known = {row["sweep"] for row in measured}
    if not all(one.sweep in known for panel in figure.panels for one in panel.ours):
        return "(never measured)\n"
    rows = [panel_row(p, figure.unit, measured, published) for p in figure.panels]
    if all(not r[3] for r in rows):
        return table(["panel", "x", "isoproof"], [r[:3] for r in rows])
    return table(["panel", "x", "isoproof", "published", "growth of ours, of theirs", "theirs / ours"], rows)


def stages(measured, published):
    """PolySI's table 3 and figure 8."""
    rows = []
    for row in (r for r in measured if r["sweep"] == "snapshot-stages"):
        stats, x = json.loads(row["stats"]), row["x"]
        theirs = [next(r["y"] for r in published if r["figure"] == "table 3" and r["x"] == x and r["series"] == series)
                  for series in ("constraints before", "constraints after", "unknown dependencies before",
                                 "unknown dependencies after")]
        ours = [stats[k] for k in ("pairs", "pairs_left", "dependencies", "dependencies_left")]
        pairs = [f"{mine:,} ({int(other):,})" for mine, other in zip(ours, theirs)]
        seconds = [f"{1000 * stats['seconds'][k]:.1f}" for k in ("construct", "guess", "saturate", "solve")]
        rows.append([x] + pairs + seconds)
    return table(["history", "pairs of writers", "left", "unknown dependencies", "left", "construct, ms", "guess", "saturate",
                  "solve"], rows)


def loading(measured, published):
    """Plume's figure 11: loading and checking apart."""
    def published_row(tool):
        parts = [(r["x"], float(r["y"])) for r in published if r["figure"] == "11" and r["series"] == tool]
        return [tool] + [f"{dict(parts).get(s, 0):g}" for s in ("construction", "traversal", "encoding", "solving")]
    ours = next(r for r in measured if r["sweep"] == "weak-sessions" and r["x"] in ("10", "50"))
    lists = next(r for r in measured if r["sweep"] == "lists-sessions" and r["x"] in ("60", "100") and r["level"] == "causal")
    rows = [["isoproof (loading, then checking)", ours["load"], ours["check"], "", ""]]
    rows += [published_row(t) for t in ("Plume", "TCC-Mono", "PolySI", "Viper", "CausalC+", "dbcop")]
    rows += [[f"isoproof, lists, {lists['x']} sessions", lists["load"], lists["check"], "", ""]]
    rows += [published_row(t) for t in ("Plume, lists", "Elle, lists")]
    return table(["", "construction, s", "traversal", "encoding", "solving"], rows)


def whole(measured):
    row = next((r for r in measured if r["sweep"] == "snapshot-large-whole"), None)
    if not row:
        return "(never measured)\n"
    return (f"The whole size, {int(row['transactions']):,} transactions and {int(row['operations']):,} operations: snapshot "
            f"isolation is {row['verdict']}, after {figures(float(row['cpu']))} s of the processor and with "
            f"{figures(float(row['megabytes']))} MB.\n")


def two_levels(measured):
    """PolySI's figure 7, with memory."""
    known = {(r["x"], r["level"]): r for r in measured if r["sweep"] == "snapshot-benchmarks"}
    rows = []
    for x in dict.fromkeys(x for x, _ in known):
        cells = [known[x, level] for level in ("snapshot-isolation", "serializable")]
        rows.append([x] + [f"{figures(float(r['cpu']))} s, {figures(float(r['megabytes']))} MB" for r in cells])
    return table(["history", "snapshot isolation", "serializable"], rows)


# The histories of Plume's table 3, by what they are called there.
TIMED = {"AntidoteDB 0.2.2": "AntidoteDB", "MariaDB-Galera 10.4.22": "MariaDB-Galera", "YugabyteDB 2.11.1": "YugabyteDB"}


def bugs(found, published):
    times = {r["x"]: r["y"] for r in published if (r["paper"], r["figure"]) == ("Plume", "table 3")}
    rows = []
    for r in (r for r in found if r["group"] == "bug"):
        what, where = r["published"].rsplit(" (", 1)
        rows.append([r["name"], where.rstrip(")"), what, r["found"], r["level"], f"{float(r['seconds']):.3f}",
                     times.get(TIMED.get(r["name"]), "")])
    return table(["database", "where", "published", "isoproof finds", "weakest levels violated", "s", "Plume, s"], rows)


def cases(found):
    rows = [r for r in found if r["group"] == "case"]
    return table(["test case"] + [r["name"] for r in rows], [
        ["detected"] + [("yes" if r["level"] == "violated" else "no") for r in rows],
        ["called"] + [r["found"].replace("TAP-", "") for r in rows]])


def groups(found, published):
    codes = [f"TAP-{c}" for c in "abcdefghijklmn"]
    rows = []
    for r in (r for r in found if r["group"] == "group"):
        number, anomalous = r["published"].split()
        rows.append([r["name"], number, anomalous] + r["found"].split())
    for name, paper, where, number in (("Plume, all histories", "Plume", "table 4", "3100"),
                                       ("C4, all histories, in Plume's letters", "C4", "table 3", "3111")):
        theirs = {r["x"]: r["y"] for r in published if (r["paper"], r["figure"]) == (paper, where)}
        rows.append([name, number, number] + [theirs.get(c, "") for c in codes])
    return table(["histories", "all", "anomalous"] + [c[4:] for c in codes], rows)


def verdicts(found):
    rows = [r for r in found if r["group"] == "verdict"]
    return table([""] + [r["name"] for r in rows], [["verdicts known"] + [r["published"] for r in rows],
                                                   ["isoproof the same"] + [r["found"] for r in rows]])


def excerpts(found):
    rows = [[r["name"], r["published"], r["found"], r["level"]] for r in found if r["group"] == "excerpt"]
    return table(["database", "called in the paper", "isoproof", "level"], rows)


def columns(matrices, database):
    """The levels of a database, each with its letters by case."""
    by_level = {}
    for r in matrices:
        if r["database"] == database:
            by_level.setdefault(r["level"], {})[r["case"]] = r["letter"]
    return by_level


# A column of ours, and that of the paper which it is held against.
COMPARED = (
    ("PostgreSQL", "serializable", "PG12.4/SER"), ("PostgreSQL", "repeatable read", "PG12.4/RR"),
    ("PostgreSQL", "read committed", "PG12.4/RC,RU"), ("PostgreSQL", "read uncommitted", "PG12.4/RC,RU"),
    ("MariaDB", "serializable", "MySQL8.0.20/SER"), ("MariaDB", "repeatable read", "MySQL8.0.20/RR"),
    ("MariaDB", "read committed", "MySQL8.0.20/RC"), ("MariaDB", "read uncommitted", "MySQL8.0.20/RU"),
    ("SQLite", "serializable", ""), ("SQLite", "immediate", ""), ("SQLite", "exclusive", ""),
)
SHORT = {"serializable": "SER", "repeatable read": "RR", "read committed": "RC", "read uncommitted": "RU", "immediate": "IMM",
         "exclusive": "EXC"}


def agreement(matrices, coo):
    rows = []
    for database, level, column in COMPARED:
        letters = columns(matrices, database).get(level)
        if not letters:
            continue
        version = next(r["version"] for r in matrices if r["database"] == database)
        counts = " ".join(f"{sum(v == k for v in letters.values())} {k}" for k in "PARDT" if k in letters.values())
        same = ""
        if column:
            differ = [r["no"] for r in coo if letters.get(r["no"], r[column]) != r[column]]
            same = f"{len(letters) - len(differ)} of {len(letters)}" + (f", not {', '.join(differ)}" if differ else "")
        rows.append([version, level, counts, column.replace("/", " "), same])
    return table(["database", "level", "letters", "published column", "the same"], rows)


# Coo's table 6: groups of anomalies, each by one of its cases, and which groups the paper names for PostgreSQL and MySQL.
GROUPS = (("1", "31"), ("2", "32"), ("3", "28"), ("4", "29"), ("5", "11"))
PUBLISHED_GROUPS = {
    ("PostgreSQL", "serializable"): "none", ("PostgreSQL", "repeatable read"): "1 2", ("PostgreSQL", "read committed"): "1 2 3 4",
    ("PostgreSQL", "read uncommitted"): "1 2 3 4", ("MariaDB", "serializable"): "none", ("MariaDB", "repeatable read"): "1 2 3",
    ("MariaDB", "read committed"): "1 2 3 4", ("MariaDB", "read uncommitted"): "5"}


def anomaly_groups(matrices):
    rows = []
    for (database, level), theirs in PUBLISHED_GROUPS.items():
        letters = columns(matrices, database).get(level)
        if letters:
            ours = " ".join(group for group, case in GROUPS if letters.get(case, "").startswith("A")) or "none"
            rows.append([database, level, ours, theirs])
    return table(["database", "level", "groups that isoproof sees", "published"], rows) if rows else "(not run)\n"


def rewrite(page, about, measured, published, found, matrices, coo):
    """The page with its blocks made anew."""
    known = {f.name: (lambda name=f.name: figure_table(name, measured, published)) for f in experiments.FIGURES}
    known.update({
        "machine": lambda: about + "\n", "polysi-stages": lambda: stages(measured, published),
        "plume-stages": lambda: loading(measured, published), "polysi-whole": lambda: whole(measured),
        "bugs": lambda: bugs(found, published), "polysi-levels": lambda: two_levels(measured), "cases": lambda: cases(found), "groups": lambda: groups(found, published),
        "verdicts": lambda: verdicts(found), "excerpts": lambda: excerpts(found), "coo": lambda: agreement(matrices, coo),
        "coo-groups": lambda: anomaly_groups(matrices)})
    return BLOCK.sub(lambda m: m.group(1) + known[m.group(2)]() + m.group(3), page)
