"""What is measured and what is drawn: the evaluations of five papers as tables.

A Sweep is one axis of a paper: the histories to make, one for each x, and the levels at which they are checked.  A
Figure is a picture of panels, each of which shows a sweep beside the published series of a figure.  Where a paper does
not say a size, docs/evaluation.md says what is taken.
"""
import dataclasses


@dataclasses.dataclass(frozen=True)
class Shape:
    """A history to make.  maker: "simulate" (registers, by `isoproof gen --simulate`), "lists" (the same with lists,
    as EDN), "long" (a share of long transactions, by `isoproof run` on the simulated database), or a workload of
    `isoproof run` on the simulated database (tpcc, rubis, twitter)."""
    maker: str = "simulate"
    level: str = "snapshot-isolation"
    sessions: int = 20
    txns: int = 100  # per session
    operations: str = "15"
    reads: float = 0.5
    keys: int = 10000
    distribution: str = "uniform"
    long_operations: int = 0  # of every tenth transaction
    appends: int = 0  # per list; 0: no list is ever replaced

    def having(self, **changes):
        return dataclasses.replace(self, **changes)


@dataclasses.dataclass(frozen=True)
class Sweep:
    name: str
    papers: tuple
    axis: str
    shapes: tuple  # of (x, Shape)
    levels: tuple  # of levels of `check --level`, "elle" for `check --workload=list-append`
    repeat: int = 3
    stats: bool = False


def along(base, field, values, **more):
    return tuple((x, base.having(**{field: x}, **more)) for x in values)


# Section 5.1 of C4 and of Plume: 25 sessions of 200 transactions of 20 operations on 10,000 keys.
WEAK = Shape(sessions=25, txns=200, operations="20")
WEAK_LISTS = WEAK.having(maker="lists", operations="50")
WEAK_LARGE = Shape(sessions=100, txns=10000, operations="20", keys=20000000)
WEAK_LONG = Shape(maker="long", sessions=100, txns=1000, operations="20", keys=2000000)
# Section 5.1 of PolySI: 20 sessions of 100 transactions of 15 operations on 10,000 keys.
SNAPSHOT = Shape()
SNAPSHOT_LONG = Shape(maker="long", sessions=20, txns=5000, keys=2000000, long_operations=150)
# Section 6.1 of Elle: 1 to 5 operations on 100 lists at a time, each replaced after 100 appends.
ELLE = Shape(maker="lists", level="serializable", operations="1-5", keys=100, appends=100)


def benchmarks(sessions, txns, operations):
    """The six histories of C4, Plume and PolySI; those of the three applications have 10,000 transactions.  Uniform keys,
    and RUBiS with so few items, have about as many pairs of writers as table 3 of PolySI says."""
    general = Shape(sessions=sessions, txns=txns, operations=operations, level="serializable")
    applications = Shape(maker="rubis", level="serializable", sessions=24, txns=417, keys=1000)
    return (("GeneralRH", general.having(reads=0.95)), ("GeneralRW", general.having(reads=0.5)),
            ("GeneralWH", general.having(reads=0.3)), ("RUBiS", applications),
            ("TPC-C", applications.having(maker="tpcc", keys=1)),
            ("C-Twitter", applications.having(maker="twitter", keys=1000)))


def elle(name, lengths, processes):
    shapes = tuple((length, ELLE.having(sessions=processes, txns=length // processes)) for length in lengths)
    return Sweep(name, ("Elle",), "transactions", shapes, ("elle",))


def elle_processes(name, length):
    shapes = tuple((c, ELLE.having(sessions=c, txns=length // c)) for c in PROCESSES)
    return Sweep(name, ("Elle",), "concurrent processes", shapes, ("elle",))


DISTRIBUTIONS = ("uniform", "zipf", "hotspot")
SHARES = (0, 0.25, 0.5, 0.75, 1)
KEYS = (1000, 2000, 3000, 4000, 6000, 8000, 10000)
LENGTHS = (5000, 10000, 20000, 40000, 60000, 80000, 100000)
PROCESSES = (1, 2, 3, 4, 5, 10, 20, 40, 60, 80, 100)
WEAK_LEVELS = ("read-committed", "read-atomic", "causal")
BOTH = ("C4", "Plume")

SWEEPS = (
    Sweep("weak-sessions", BOTH, "sessions", along(WEAK, "sessions", (2, 5, 10, 15, 20, 25, 30, 40, 50)), ("causal",)),
    Sweep("weak-txns", BOTH, "transactions per session", along(WEAK, "txns", (100, 200, 300, 400, 500)), ("causal",)),
    Sweep("weak-operations", BOTH, "operations per transaction",
          tuple((n, WEAK.having(operations=str(n))) for n in (10, 20, 30, 40, 50)), ("causal",)),
    Sweep("weak-reads", ("C4",), "share of reads", along(WEAK, "reads", SHARES), ("causal",)),
    Sweep("weak-keys", ("C4",), "keys", along(WEAK, "keys", KEYS), ("causal",)),
    Sweep("weak-distribution", BOTH, "distribution of keys", along(WEAK, "distribution", DISTRIBUTIONS), ("causal",)),
    Sweep("weak-benchmarks", BOTH, "history", benchmarks(25, 640, "20"), ("causal",)),
    Sweep("lists-sessions", BOTH, "sessions",
          along(WEAK_LISTS, "sessions", (2, 5, 10, 15, 20, 25, 30, 40, 50, 60, 70, 80, 90, 100)), WEAK_LEVELS, repeat=1),
    Sweep("lists-txns", BOTH, "transactions per session",
          along(WEAK_LISTS, "txns", (100, 200, 300, 400, 500), sessions=50), WEAK_LEVELS, repeat=1),
    Sweep("large-reads", BOTH, "share of reads", along(WEAK_LARGE, "reads", (0.2, 0.4, 0.5, 0.6, 0.8)), WEAK_LEVELS,
          repeat=1),
    Sweep("large-long", BOTH, "operations of a long transaction",
          along(WEAK_LONG, "long_operations", (100, 200, 300, 400)), WEAK_LEVELS, repeat=1),
    Sweep("snapshot-sessions", ("PolySI",), "sessions", along(SNAPSHOT, "sessions", (5, 10, 15, 20, 25, 30)),
          ("snapshot-isolation",)),
    Sweep("snapshot-txns", ("PolySI",), "transactions per session",
          along(SNAPSHOT, "txns", (10, 20, 30, 40, 50, 100, 150, 200, 250)), ("snapshot-isolation",)),
    Sweep("snapshot-operations", ("PolySI",), "operations per transaction",
          tuple((n, SNAPSHOT.having(operations=str(n))) for n in (5, 10, 15, 20, 25, 30)), ("snapshot-isolation",)),
    Sweep("snapshot-reads", ("PolySI",), "share of reads", along(SNAPSHOT, "reads", SHARES), ("snapshot-isolation",)),
    Sweep("snapshot-keys", ("PolySI",), "keys", along(SNAPSHOT, "keys", KEYS), ("snapshot-isolation",)),
    Sweep("snapshot-distribution", ("PolySI",), "distribution of keys",
          along(SNAPSHOT, "distribution", DISTRIBUTIONS), ("snapshot-isolation",)),
    Sweep("snapshot-benchmarks", ("PolySI",), "history", benchmarks(25, 400, "8"), ("snapshot-isolation", "serializable")),
    Sweep("snapshot-stages", ("PolySI",), "history", benchmarks(25, 400, "8"), ("snapshot-isolation",), repeat=1, stats=True),
    Sweep("snapshot-large-reads", ("PolySI",), "share of reads", along(SNAPSHOT_LONG, "reads", (0.2, 0.4, 0.5, 0.6, 0.8)),
          ("snapshot-isolation",), repeat=1),
    Sweep("snapshot-large-long", ("PolySI",), "operations of a long transaction",
          along(SNAPSHOT_LONG, "long_operations", (50, 150, 250, 350, 450)), ("snapshot-isolation",), repeat=1),
    Sweep("snapshot-large-whole", ("PolySI",), "transactions",
          ((1000000, Shape(txns=50000, operations="15-42", keys=20000000)),), ("snapshot-isolation",), repeat=1),
    elle("elle-1", LENGTHS, 1), elle("elle-20", LENGTHS, 20), elle("elle-100", LENGTHS, 100),
    elle_processes("elle-processes-20k", 20000), elle_processes("elle-processes-100k", 100000),
)


@dataclasses.dataclass(frozen=True)
class Ours:
    """A series of our own: of which sweep and level, and what the legend calls it."""
    sweep: str
    level: str
    label: str = "isoproof"


@dataclasses.dataclass(frozen=True)
class Panel:
    title: str
    ours: tuple
    paper: str = ""
    figure: str = ""  # of the published series
    theirs: tuple = ()  # (series of published.tsv, what the legend calls it); of the first, ratios are told
    scale: int = 1  # the published histories have so many times the transactions of ours
    across: str = ""  # the series are one for each number of processes: take their points of this x


@dataclasses.dataclass(frozen=True)
class Figure:
    name: str
    title: str
    unit: str  # "s" or "MB"
    panels: tuple
    limit: float = 0  # when the paper gave up
    caption: str = ""


def same(*names):
    return tuple((name, name) for name in names)


def sweeps_of(prefix, level, paper, figures, theirs):
    """The six axes that C4 and PolySI share."""
    axes = ("sessions", "txns", "operations", "reads", "keys", "distribution")
    titles = ("sessions", "transactions per session", "operations per transaction", "share of reads", "keys",
              "distribution of keys")
    return tuple(Panel(f"({letter}) {title}", (Ours(f"{prefix}-{axis}", level),), paper, f"{figures}{letter}", theirs)
                 for letter, axis, title in zip("abcdef", axes, titles))


def three(sweep):
    return (Ours(sweep, "causal", "isoproof, causal"), Ours(sweep, "read-atomic", "isoproof, read atomic"),
            Ours(sweep, "read-committed", "isoproof, read committed"))


WEAK_TOOLS = same("C4", "TCC-Mono", "PolySI", "dbcop", "CausalC+")
PLUME_TOOLS = same("Plume", "TCC-Mono", "PolySI", "Viper", "dbcop", "CausalC+")
PLUME_LEVELS = same("Plume TCC", "Plume RA", "Plume RC")
ELLE_LISTS = PLUME_LEVELS + same("Elle TCC")
SLOW_SNAPSHOT = same("CobraSI without GPU", "dbcop")
SIMULATED = "Processor time of the whole process, all threads together; histories from the simulator, seed 1."

FIGURES = (
    Figure("c4-time", "C4, figure 8: time to check causal consistency", "s",
           sweeps_of("weak", "causal", "C4", "8", WEAK_TOOLS), 600, SIMULATED),
    Figure("c4-memory", "C4, figure 9: memory to check causal consistency", "MB",
           sweeps_of("weak", "causal", "C4", "9", WEAK_TOOLS), 0,
           "What a tool used until it was given up after ten minutes is drawn as well, as in the paper."),
    Figure("c4-lists", "C4, figure 10: lists", "s", (
        Panel("(a) sessions", (Ours("lists-sessions", "causal"),), "C4", "10a", same("C4", "Elle-SI")),
        Panel("(b) transactions per session", (Ours("lists-txns", "causal"),), "C4", "10b", same("C4", "Elle-SI"))),
           600, "50 operations per transaction, half of them appends."),
    Figure("c4-benchmarks", "C4, figure 11a (and Plume, figure 12a): six histories", "s", (
        Panel("causal consistency", (Ours("weak-benchmarks", "causal"),), "C4", "11a",
              same("C4", "C4 without tree clocks", "C4 without vectors")),), 600),
    Figure("c4-large", "C4, figure 12: a million transactions", "s", (
        Panel("(a) share of reads, 20 operations", (Ours("large-reads", "causal"),), "C4", "12a", same("C4")),
        Panel("(b) operations of a long transaction*", (Ours("large-long", "causal"),), "C4", "12b", same("C4"), 10)),
           0, "* isoproof's histories of (b) have a tenth of the transactions."),
    Figure("plume-time", "Plume, figure 8: time to check causal consistency", "s", (
        Panel("(a) sessions", (Ours("weak-sessions", "causal"),), "Plume", "8a", PLUME_TOOLS),
        Panel("(b) transactions per session", (Ours("weak-txns", "causal"),), "Plume", "8b", PLUME_TOOLS),
        Panel("distribution of keys", (Ours("weak-distribution", "causal"),), "Plume", "8c", PLUME_TOOLS),
        Panel("benchmarks", (Ours("weak-benchmarks", "causal"),), "Plume", "8e", PLUME_TOOLS)), 600),
    Figure("plume-memory", "Plume, figure 9: memory to check causal consistency", "MB", (
        Panel("(a) sessions", (Ours("weak-sessions", "causal"),), "Plume", "9a", same("Plume")),
        Panel("(b) transactions per session", (Ours("weak-txns", "causal"),), "Plume", "9b", same("Plume")),
        Panel("(c) operations per transaction", (Ours("weak-operations", "causal"),), "Plume", "9c", same("Plume")))),
    Figure("plume-lists", "Plume, figure 10: lists at three levels", "s", (
        Panel("(a) sessions", three("lists-sessions"), "Plume", "10a", ELLE_LISTS),
        Panel("(b) transactions per session", three("lists-txns"), "Plume", "10b", ELLE_LISTS)), 0,
           "Elle's times at the three levels differ by a few per cent; that of causal consistency (TCC) is drawn."),
    Figure("plume-large", "Plume, figure 13: a million transactions at three levels", "s", (
        Panel("(a) share of reads, 20 operations", three("large-reads"), "Plume", "13a", PLUME_LEVELS),
        Panel("(b) operations of a long transaction*", three("large-long"), "Plume", "13b", PLUME_LEVELS, 10)), 0,
           "* isoproof's histories of (b) have a tenth of the transactions."),
    Figure("polysi-time", "PolySI, figure 5: time to check snapshot isolation", "s",
           sweeps_of("snapshot", "snapshot-isolation", "PolySI", "5", SLOW_SNAPSHOT), 180,
           "PolySI's curves are not published as numbers; the limit after which its authors gave up is."),
    Figure("polysi-memory", "PolySI, figure 6: memory to check snapshot isolation", "MB",
           sweeps_of("snapshot", "snapshot-isolation", "PolySI", "6", ())),
    Figure("polysi-benchmarks", "PolySI, figure 7a: six histories", "s", (
        Panel("two levels", (Ours("snapshot-benchmarks", "snapshot-isolation", "isoproof, snapshot isolation"),
                             Ours("snapshot-benchmarks", "serializable", "isoproof, serializable"))),), 180),
    Figure("polysi-large", "PolySI, figure 10: long transactions", "s", (
        Panel("(a) share of reads", (Ours("snapshot-large-reads", "snapshot-isolation"),)),
        Panel("(b) operations of a long transaction", (Ours("snapshot-large-long", "snapshot-isolation"),))), 0,
           "100,000 transactions, a tenth of the paper's; docs/evaluation.md has the whole size."),
    Figure("elle-length", "Elle, figure 4, left: time by the length of a history", "s", (
        Panel("transactions", (Ours("elle-1", "elle", "isoproof, 1 process"),
                               Ours("elle-20", "elle", "isoproof, 20 processes"),
                               Ours("elle-100", "elle", "isoproof, 100 processes")), "Elle", "4",
              same("Elle, 1 processes", "Elle, 20 processes", "Elle, 100 processes", "Knossos, 1 processes",
                   "Knossos, 10 processes", "Knossos, 20 processes")),), 100),
    Figure("elle-processes", "Elle, figure 4, right: time by concurrency", "s", (
        Panel("concurrent processes, 20,000 transactions", (Ours("elle-processes-20k", "elle"),), "Elle", "4",
              same("Elle", "Knossos"), across="20000"),
        Panel("concurrent processes, 100,000 transactions", (Ours("elle-processes-100k", "elle"),), "Elle", "4",
              same("Elle", "Knossos"), across="100000")), 100),
)

# What a level of the simulator is sure to satisfy, of those that are measured here.
SATISFIED = {"snapshot-isolation": {"read-committed", "read-atomic", "causal", "snapshot-isolation"},
             "serializable": {"read-committed", "read-atomic", "causal", "snapshot-isolation", "serializable", "elle"}}


def tiny(sweep):
    """The same sweep in a second: two points, each a fraction of its size."""
    def small(shape):
        return shape.having(sessions=min(shape.sessions, 5), txns=min(shape.txns, 20), keys=min(shape.keys, 500),
                            long_operations=min(shape.long_operations, 30))
    ends = sweep.shapes if len(sweep.shapes) < 3 else (sweep.shapes[0], sweep.shapes[-1])
    return dataclasses.replace(sweep, shapes=tuple((x, small(s)) for x, s in ends), repeat=1)
