"""Judging histories: verdicts, anomalies as objects, drawings, errors."""
import pickle
import unittest
from pathlib import Path

import isoproof

HISTORIES = Path(__file__).resolve().parents[2] / "examples" / "histories"


class Check(unittest.TestCase):
    def test_verdicts(self):
        result = isoproof.check(HISTORIES / "write-skew.txt")
        self.assertEqual(str(result["serializable"]), "violated")
        self.assertEqual(f"{result['SI']}", "satisfied")
        self.assertEqual(result["snapshot isolation"], isoproof.Verdict.SATISFIED)
        self.assertIn("causal", result)
        self.assertEqual(result.strongest, ("snapshot-isolation",))
        self.assertEqual(result.weakest_violated, ("serializable",))
        self.assertEqual(result.verdict, "none")
        self.assertEqual(dict(result)["causal"], "satisfied")
        with self.assertRaises(KeyError):
            result["no such level"]

    def test_levels_asked_for(self):
        path = HISTORIES / "write-skew.txt"
        self.assertEqual(isoproof.check(path, "serializable").verdict, "violated")
        self.assertEqual(isoproof.check(path, ["si", "causal"]).verdict, "satisfied")
        self.assertEqual(isoproof.check(path, "causal")["serializable"], "unknown")
        with self.assertRaises(isoproof.IsoproofError) as caught:
            isoproof.check(path, "no such level")
        self.assertEqual(caught.exception.code, "usage")

    def test_anomalies(self):
        skew, = isoproof.check(HISTORIES / "write-skew.txt").anomalies
        self.assertEqual((skew.code, skew.level, skew.count, skew.exact), ("write-skew", "serializable", 1, True))
        self.assertEqual({(edge.source, edge.kind, edge.target, edge.key) for edge in skew.edges} & {
            ("s1t0", "RW", "s2t0", "2")}, {("s1t0", "RW", "s2t0", "2")})
        details = {detail.name: detail for detail in skew.details}
        self.assertEqual(details["s1t0"].status, "committed")
        self.assertTrue(any(op.involved and op.kind == "w" and op.key == "1" for op in details["s1t0"].operations))
        self.assertIn("cycle", skew.explanation)

    def test_cases(self):
        anomalies = {anomaly.code: anomaly for anomaly in isoproof.check(HISTORIES / "lost-update.txt").anomalies}
        lost = anomalies["lost-update"]
        self.assertEqual(len(lost.cases), 2)
        self.assertEqual(lost.cases[0].orders[0].before, lost.cases[1].orders[0].after)

    def test_rendering(self):
        result = isoproof.check(HISTORIES / "lost-update.txt")
        self.assertIn("lost update", str(result))
        self.assertTrue(result.svg().startswith("<svg"))
        self.assertIn("<svg", result._repr_html_())
        self.assertIn("</html>", result.html())
        again = pickle.loads(pickle.dumps(result))
        self.assertEqual(again.anomalies, result.anomalies)
        self.assertIn("violates", repr(result))

    def test_nothing_found(self):
        result = isoproof.check(HISTORIES / "serializable.txt", "serializable")
        self.assertEqual((result.verdict, result.anomalies), ("satisfied", ()))
        self.assertIn("<table>", result._repr_html_())

    def test_errors(self):
        with self.assertRaises(isoproof.IsoproofError) as caught:
            isoproof.check(HISTORIES / "no such file")
        self.assertEqual(caught.exception.code, "io")
        self.assertIn("no such file", str(caught.exception))
        with self.assertRaises(isoproof.IsoproofError) as caught:
            isoproof.check(HISTORIES / "write-skew.txt", format="jsonl")
        self.assertEqual(caught.exception.code, "bad-input")

    def test_levels(self):
        levels = dict(isoproof.levels())
        self.assertIn("serializable", levels)
        self.assertTrue(all(levels.values()))

    def test_version(self):
        self.assertEqual(isoproof.version(), isoproof.__version__)


if __name__ == "__main__":
    unittest.main()
