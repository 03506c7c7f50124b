#!/usr/bin/env python3
"""Judges the tables of levels and anomalies: level_oracle.py TABLES.json [ELLE-MODELS.json]

TABLES.json is what tests/unit/level_oracle.c dumps.  Every example history is decided again here by trying all commit orders
and all version orders, which only works because the examples are tiny, and which shares nothing with the library.
With ELLE-MODELS.json the models, their implications and the rules of the anomalies are compared with Elle's.
"""
import itertools
import json
import re
import sys

INITIAL = 0  # transaction 0 of every history: it wrote every initial version


class Txn:
    def __init__(self, session, ops, committed=True, start=None, end=None, isolation=None):
        self.session, self.ops, self.committed, self.start, self.end = session, ops, committed, start, end
        self.isolation = isolation


# ---- reading ----

def parse_plume(text):
    txns, by_id = [Txn(None, [])], {}
    for line in text.splitlines():
        kind, key, value, session, txn = re.fullmatch(r"([rw])\((\d+),(\d+),(\d+),(-1|\d+)\)", line).groups()
        if txn == "-1" or txn not in by_id:
            by_id[txn] = Txn(session, [], txn != "-1")
            txns.append(by_id[txn])
        by_id[txn].ops.append((kind, key, None if value == "0" else int(value)))
    return txns


def parse_edn_value(tokens):
    token = tokens.pop(0)
    if token in ("[", "#{", "{"):
        items = []
        while tokens[0] not in ("]", "}"):
            items.append(parse_edn_value(tokens))
        tokens.pop(0)
        return dict(zip(items[::2], items[1::2])) if token == "{" else items
    return None if token == "nil" else int(token) if token.isdigit() else token


def parse_edn(text):
    txns, open_txns = [Txn(None, [])], {}
    for line in text.splitlines():
        op = parse_edn_value(re.findall(r"#\{|[\[\]{}]|[^\s,\[\]{}]+", line))
        process, time = op[":process"], op.get(":time")
        if op[":type"] == ":invoke":
            open_txns[process] = time
            continue
        ops = [(kind[1:], key, value) for kind, key, value in op[":value"]]
        txns.append(Txn(process, ops, op[":type"] == ":ok", open_txns.pop(process, None), time,
                        op.get(":isolation", ":")[1:] or None))
    return txns


def parse(text):
    return parse_edn(text) if text.startswith("{") else parse_plume(text)


# ---- orders ----

def closure(pairs):
    pairs = set(pairs)
    while True:
        more = {(a, d) for a, b in pairs for c, d in pairs if b == c} - pairs
        if not more:
            return pairs
        pairs |= more


def compose(first, second):
    return {(a, d) for a, b in first for c, d in second if b == c}


def acyclic(pairs):
    return all(a != b for a, b in closure(pairs))


def session_order(txns, committed):
    return {(a, b) for a in committed for b in committed
            if a < b and (a == INITIAL or txns[a].session == txns[b].session)}


def time_order(txns, committed):
    return {(a, b) for a in committed for b in committed
            if txns[a].end is not None and txns[b].start is not None and txns[a].end < txns[b].start}


# ---- registers ----

class Registers:
    """External reads, patterns a to g and j, and the orders of a register history."""

    def __init__(self, txns):
        self.txns = txns
        self.codes = set()
        self.committed = [i for i, t in enumerate(txns) if t.committed]
        self.writers, self.origin = {}, {}
        for i, txn in enumerate(txns):
            for position, (kind, key, value) in enumerate(txn.ops):
                self.writers.setdefault(key, {INITIAL})
                if kind == "w":
                    assert (key, value) not in self.origin, "two writes of one value"
                    self.origin[key, value] = (i, position)
                    if txn.committed:
                        self.writers[key].add(i)
        self.reads = []  # (key, writer, reader, position)
        for i in self.committed:
            for position, (kind, key, value) in enumerate(txns[i].ops):
                if kind == "r":
                    self.read(i, position, key, value)
        per_key = {}
        for key, writer, reader, _ in self.reads:
            per_key.setdefault((key, reader), set()).add(writer)
        if any(len(w) > 1 for w in per_key.values()):
            self.codes.add("TAP-j")
        self.so = session_order(txns, self.committed)
        self.wr = {(w, r) for _, w, r, _ in self.reads}
        self.co = closure(self.so | self.wr)
        if any(a == b for a, b in self.co):
            self.codes.add("TAP-g")

    def read(self, reader, position, key, value):
        own = [(p, v) for p, (k, x, v) in enumerate(self.txns[reader].ops) if k == "w" and x == key]
        before = [v for p, v in own if p < position]
        if value is not None and (key, value) not in self.origin:
            self.codes.add("TAP-a")
            return
        writer, written_at = (INITIAL, 0) if value is None else self.origin[key, value]
        if writer == reader:
            if written_at > position:
                self.codes.add("TAP-c")
            elif before[-1] != value:
                self.codes.add("TAP-e")
            return
        if before:
            self.codes.add("TAP-d")
        elif not self.txns[writer].committed:
            self.codes.add("TAP-b")
        elif writer != INITIAL and [v for k, x, v in self.txns[writer].ops if k == "w" and x == key][-1] != value:
            self.codes.add("TAP-f")
        else:
            self.reads.append((key, writer, reader, position))

    def demands(self, condition):
        """(t2, t1) for every read and other writer that meet the condition."""
        return {(t2, t1) for key, t1, t3, position in self.reads for t2 in self.writers[key] - {t1, t3}
                if condition(t2, t3, key, position)}

    def patterns(self):
        """The most specific codes h to n, where CM is what the axiom of the code's own level forces."""
        direct = {}
        for key, writer, reader, position in self.reads:
            direct.setdefault((writer, reader), []).append((key, position))
        forms = [("h", "i", lambda t2, t3, k, p: any(y != k and q < p for y, q in direct.get((t2, t3), []))),
                 ("k", "l", lambda t2, t3, k, p: (t2, t3) in self.so | self.wr),
                 ("m", "n", lambda t2, t3, k, p: (t2, t3) in self.co)]
        found, named = set(), set()
        for by_co, by_cm, condition in forms:
            forced = closure(self.co | self.demands(condition))
            for read in self.reads:
                for t2 in self.writers[read[0]] - {read[1], read[2]} - {INITIAL}:
                    if (read, t2) in named or not condition(t2, read[2], read[0], read[3]):
                        continue
                    if (read[1], t2) in forced:
                        found.add("TAP-" + (by_co if (read[1], t2) in self.co else by_cm))
                        named.add((read, t2))
        return found

    def commit_orders(self):
        rest = [t for t in self.committed if t != INITIAL]
        for order in itertools.permutations(rest):
            place = {t: n for n, t in enumerate((INITIAL,) + order)}
            if all(place[a] < place[b] for a, b in self.co):
                yield place

    def version_orders(self):
        keys = sorted(self.writers)
        choices = [list(itertools.permutations(sorted(self.writers[k] - {INITIAL}))) for k in keys]
        for choice in itertools.product(*choices):
            ww, rw = set(), set()
            for key, order in zip(keys, choice):
                order = (INITIAL,) + order
                ww |= {(a, b) for n, a in enumerate(order) for b in order[n + 1:]}
                rw |= {(r, b) for k, w, r, _ in self.reads if k == key for b in order[order.index(w) + 1:] if b != r}
            yield ww, rw

    def axiom(self, condition):
        demands = self.demands(condition)
        return any(all(place[a] < place[b] for a, b in demands) for place in self.commit_orders())

    def prefix(self):
        for place in self.commit_orders():
            before = {(a, b) for a in place for b in place if place[a] <= place[b]}
            seen = compose(before, self.so | self.wr)
            if all(place[a] < place[b] for a, b in self.demands(lambda t2, t3, k, p: (t2, t3) in seen)):
                return True
        return False

    def mixed(self):
        """Some commit order in which every reader meets the condition of its own level."""
        direct = {}
        for key, writer, reader, position in self.reads:
            direct.setdefault((writer, reader), []).append((key, position))
        wrote = lambda t: {k for k in self.writers if t in self.writers[k] and t != INITIAL}
        for place in self.commit_orders():
            upto = lambda t2, t3, conflicts: any(
                place[t2] <= place[u] and ((u, t3) in self.so | self.wr or
                                           (conflicts and place[u] < place[t3] and wrote(u) & wrote(t3)))
                for u in place if u != t3)
            conditions = {
                "read-committed": lambda t2, t3, k, p: any(y != k and q < p for y, q in direct.get((t2, t3), [])),
                "read-atomic": lambda t2, t3, k, p: (t2, t3) in self.so | self.wr,
                "causal": lambda t2, t3, k, p: (t2, t3) in self.co,
                "prefix": lambda t2, t3, k, p: upto(t2, t3, False),
                "snapshot-isolation": lambda t2, t3, k, p: upto(t2, t3, True),
                "serializable": lambda t2, t3, k, p: place[t2] < place[t3],
            }
            own = lambda t2, t3, k, p: conditions[self.txns[t3].isolation](t2, t3, k, p)
            if all(place[a] < place[b] for a, b in self.demands(own)):
                return True
        return False

    def some_versions(self, test):
        return any(test(ww, rw) for ww, rw in self.version_orders())

    def levels(self):
        so, wr = self.so, self.wr
        rt = time_order(self.txns, self.committed)
        opt = lambda base, rw: base | compose(base, rw)
        direct = {}
        for key, writer, reader, position in self.reads:
            direct.setdefault((writer, reader), []).append((key, position))
        in_relation = lambda relation: lambda: self.axiom(lambda t2, t3, k, p: (t2, t3) in relation)
        sound = not self.codes - {"TAP-j"}
        whole = not self.codes
        tests = {
            "read-committed": (sound, lambda: self.axiom(
                lambda t2, t3, k, p: any(y != k and q < p for y, q in direct.get((t2, t3), [])))),
            "read-atomic": (whole, in_relation(so | wr)),
            "causal": (whole, in_relation(self.co)),
            "prefix": (whole, self.prefix),
            "update-atomic": (whole, lambda: self.some_versions(
                lambda ww, rw: acyclic(so | wr | ww) and all(a != b for a, b in compose(so | wr | ww, rw)))),
            "parallel-snapshot-isolation": (whole, lambda: self.some_versions(
                lambda ww, rw: all(a != b for a, b in opt(closure(so | wr | ww), rw)))),
            "snapshot-isolation": (whole, lambda: self.some_versions(lambda ww, rw: acyclic(opt(so | wr | ww, rw)))),
            "serializable": (whole, lambda: self.some_versions(lambda ww, rw: acyclic(so | wr | ww | rw))),
            "read-your-writes": (sound, in_relation(so)),
            "monotonic-reads": (sound, in_relation(compose(wr, so))),
            "monotonic-writes": (sound, in_relation(compose(so, wr))),
            "writes-follow-reads": (sound, in_relation(compose(compose(wr, so), wr))),
        }
        if all(self.txns[t].isolation for t in self.committed if t != INITIAL):
            tests["mixed"] = (sound, self.mixed)
        if rt:
            tests["strong-snapshot-isolation"] = (whole, lambda: self.some_versions(
                lambda ww, rw: acyclic(opt(so | rt | wr | ww, rw))))
            tests["strict-serializable"] = (whole, lambda: self.some_versions(
                lambda ww, rw: acyclic(so | rt | wr | ww | rw)))
            if all(len(t.ops) <= 1 for t in self.txns):
                tests["linearizable"] = tests["strict-serializable"]  # linearizability is local to a key
        result = {level: possible and test() for level, (possible, test) in tests.items()}
        result["cut-isolation"] = "TAP-j" not in self.codes
        return result


# ---- lists ----

def list_cycles(txns):
    """The kinds of cycles of a list-append history, plain names for the item forms."""
    committed = [i for i, t in enumerate(txns) if t.committed and i != INITIAL]
    appender = {(key, value): i for i in committed for kind, key, value in txns[i].ops if kind == "append"}
    reads = [(i, key, value or []) for i in committed for kind, key, value in txns[i].ops if kind == "r"]
    versions = {}
    for _, key, value in reads:
        versions[key] = max(versions.get(key, []), value, key=len)
    edges = {(a, b, "process") for a, b in session_order(txns, committed)}
    edges |= {(a, b, "realtime") for a, b in time_order(txns, committed)}
    for key, order in versions.items():
        edges |= {(appender[key, a], appender[key, b], "ww") for a, b in zip(order, order[1:])}
    for reader, key, value in reads:
        if value:
            edges.add((appender[key, value[-1]], reader, "wr"))
        if len(value) < len(versions[key]):
            edges.add((reader, appender[key, versions[key][len(value)]], "rw"))
    edges = {e for e in edges if e[0] != e[1]}
    found = set()

    def walk(path, kinds):
        for a, b, kind in edges:
            if a != path[-1]:
                continue
            if b == path[0]:
                found.add(cycle_name(kinds + [kind]))
            elif b not in path and b > path[0]:
                walk(path + [b], kinds + [kind])

    for i in committed:
        walk([i], [])
    return found


def cycle_name(kinds):
    anti = kinds.count("rw")
    adjacent = any(a == b == "rw" for a, b in zip(kinds, kinds[1:] + kinds[:1]))
    name = ("G1c" if "wr" in kinds else "G0") if anti == 0 else "G-single" if anti == 1 else \
        "G2-item" if adjacent else "G-nonadjacent"
    return name + ("-realtime" if "realtime" in kinds else "-process" if "process" in kinds else "")


# ---- judging the tables ----

class Judge:
    def __init__(self, tables):
        self.tables, self.failures, self.judged = tables, [], 0
        self.base = {l["id"]: l for l in tables["levels"] if l["family"] != "model"}

    def expect(self, condition, *message):
        self.judged += 1
        if not condition:
            self.failures.append(" ".join(str(m) for m in message))

    def implied(self, level):
        return set(self.base[level]["implies"])

    def strongest(self, verdicts):
        good = {l for l, ok in verdicts.items()
                if ok and self.base[l]["family"] == "base" and not self.base[l]["needs_times"]}
        return {l for l in good if not any(l != m and l in self.implied(m) for m in good)}

    def implications(self, name, verdicts):
        for level, ok in verdicts.items():
            for weaker in self.implied(level) if ok else []:
                self.expect(verdicts.get(weaker, True), name, level, "holds but", weaker, "does not")

    def level_examples(self):
        for level in self.base.values():
            verdicts = Registers(parse(level["example"])).levels()
            self.implications(level["id"], verdicts)
            self.expect(verdicts[level["id"]] is False, "example of", level["id"], "does not violate it")
            for weaker in self.implied(level["id"]) - {level["id"]}:
                self.expect(verdicts.get(weaker, True), "example of", level["id"], "violates", weaker)

    def anomaly_examples(self):
        for anomaly in self.tables["anomalies"]:
            if anomaly["example"] is None or anomaly["example"].startswith('{"isoproof"'):
                continue  # examples of rows are judged by tests/oracle/rows.c
            txns = parse(anomaly["example"])
            if not anomaly["example"].startswith("{"):
                self.register_example(anomaly, Registers(txns))
            elif anomaly["code"].startswith(("G0", "G1c", "G-single", "G-nonadjacent", "G2")):
                found = list_cycles(txns)
                wanted = anomaly["code"].replace("-item", "").replace("G2", "G2-item")
                self.expect(wanted in found, anomaly["code"], "is not in its example, but", found)
                self.expect(wanted.endswith("time") or found == {wanted}, anomaly["code"], "has also", found)

    def register_example(self, anomaly, registers):
        verdicts = registers.levels()
        self.implications(anomaly["code"], verdicts)
        self.expect(verdicts[anomaly["level"]] is False, anomaly["code"], "satisfies", anomaly["level"])
        if anomaly["satisfies"] is not None:
            self.expect(self.strongest(verdicts) == set(anomaly["satisfies"]), anomaly["code"], "satisfies",
                        sorted(self.strongest(verdicts)))
        if anomaly["kind"] == "tap":
            # The two values of a TAP-j and the cycle of a TAP-g make patterns of their own; others stand alone.
            codes = registers.codes or registers.patterns()
            self.expect(codes == {anomaly["code"]}, anomaly["code"], "example has", codes)

    def elle(self, truth):
        models = {l["id"]: l for l in self.tables["levels"] if l["family"] == "model"}
        ours = {"garbage-read"}  # Elle has no name for it
        anomalies = {a["code"]: a for a in self.tables["anomalies"] if a["kind"] == "elle" and a["code"] not in ours}
        self.expect(set(models) == set(truth["model-implies"]), "models", set(models) ^ set(truth["model-implies"]))
        for name, model in models.items():
            self.expect(set(model["direct"]) == set(truth["model-implies"][name]), "direct implications of", name)
            self.expect(set(model["implies"]) - {name} == set(truth["model-implies-transitive"][name]),
                        "implications of", name)
            self.expect(model["friendly"] == truth["friendly-names"].get(name, name), "friendly name of", name)
            self.expect(set(model["forbids"]) == set(truth["model-directly-proscribes"].get(name, [])),
                        "what is forbidden by", name)
        for alias, name in truth["aliases"].items():
            self.expect(alias in models[name]["aliases"], alias, "does not name", name)
        rules = truth["anomaly-rules-out"]
        self.expect(set(anomalies) == set(rules), "anomalies", set(anomalies) ^ set(rules))
        for code, anomaly in anomalies.items():
            self.expect(set(anomaly["implies"]) == set(truth["anomaly-implies"].get(code, [])), code, "implies")
            self.expect(set(anomaly["not"]) == set(rules[code]["not"]), code, "rules out", anomaly["not"])
            self.expect(set(anomaly["also_not"]) == set(rules[code]["also-not"]), code, "also", anomaly["also_not"])


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        judge = Judge(json.load(file))
    judge.level_examples()
    judge.anomaly_examples()
    if len(sys.argv) > 2:
        with open(sys.argv[2], encoding="utf-8") as file:
            judge.elle(json.load(file))
    for failure in judge.failures:
        print(failure)
    print(f"{judge.judged} statements judged, {len(judge.failures)} wrong")
    return 1 if judge.failures else 0


if __name__ == "__main__":
    sys.exit(main())
