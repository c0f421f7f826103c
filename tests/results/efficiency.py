"""results/sample_efficiency.py: curves, intervals and the verdict, by literal values."""
import contextlib
import io
import json
import math
import shutil
import tempfile
import unittest
from pathlib import Path

import _tiny  # noqa: F401, the path of results
import sample_efficiency
from rlgo_results import efficiency, promises, recorded, student


class SampleEfficiency(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)

    def run_of(self, name, rows):
        folder = self.folder / name
        folder.mkdir()
        (folder / "result.json").write_text(json.dumps({"cost": {"before_us": 200.0}}))
        (folder / "metrics.csv").write_text("steps,best_cost_us\n" + "".join(f"{steps},{cost}\n" for steps, cost in rows))

    def show(self, out):
        with contextlib.redirect_stdout(io.StringIO()):
            self.assertEqual(sample_efficiency.main(["show", str(self.folder), "--csv", str(out), "--budget", "500"]), 0)

    def test_best_at(self):
        self.run_of("toy-random-s1", [(100, 190.0), (300, 180.0)])
        points = efficiency.curve(self.folder / "toy-random-s1")
        self.assertEqual([round(efficiency.best_at(points, steps), 9) for steps in (99, 100, 299, 300)], [0.0, -5.0, -5.0, -10.0])

    def test_interval(self):
        self.assertAlmostEqual(student.half_width([1.0, 2.0, 3.0]), 4.303 / math.sqrt(3))
        self.assertTrue(math.isnan(student.half_width([1.0])))

    def test_verdict(self):
        for seed, cost in ((1, 181.0), (2, 179.0)):
            self.run_of(f"toy-model-based-s{seed}", [(500, cost), (2000, 100.0)])  # what comes behind the budget does not count
            self.run_of(f"toy-model-free-s{seed}", [(500, 190.0), (2000, 180.0)])
        text = "\n".join(efficiency.table(efficiency.rows_of(self.folder, 500)))
        self.assertIn("| toy | 2 | not recorded | not recorded | 0.00 +- 0.00 | **-10.00 +- 6.35** |", text)
        self.assertIn("| toy | -5.00 +- 0.00 | -10.00 +- 0.00 | +0.00 +- 6.35 | yes |", text)
        self.assertIn("on 1 of 1 graphs; at equal steps random play is better on none.", text)
        (self.folder / "toy-model-based-s2/metrics.csv").write_text("steps,best_cost_us\n500,182.0\n")
        self.run_of("toy-random-s1", [(500, 180.0)])
        text = "\n".join(efficiency.table(efficiency.rows_of(self.folder, 500)))
        self.assertIn("on 0 of 1 graphs; at equal steps random play is better on toy.", text)

    def test_seeds(self):
        self.assertEqual([list(sample_efficiency.seeds_in(text)) for text in ("3", "4-5", "4-4")], [[1, 2, 3], [4, 5], [4]])
        for text in ("", "0", "5-4", "a-b"):
            self.assertRaises(ValueError, sample_efficiency.seeds_in, text)

    def test_more_seeds(self):
        out = self.folder / "table.csv"
        for cost in (190.0, 180.0):  # a run that is recorded again replaces its rows
            self.run_of("toy-random-s1", [(500, cost)])
            self.show(out)
            shutil.rmtree(self.folder / "toy-random-s1")
        self.run_of("toy-random-s2", [(500, 150.0)])
        self.show(out)
        rows = [(row["seed"], row["steps"], row["best_percent"]) for row in recorded.rows_in(out)]
        self.assertEqual(rows[2::3], [("1", "500", "-10.0000"), ("2", "500", "-25.0000")])

    def test_promises(self):
        row = lambda run, clip, dreamed: {"run": run, "graph": "toy", "clip": clip, "steps": "10", "reward_correlation": "0.96", "counts_exact_1": "0.99", "counts_exact": "0.94",
                                          "real_return_percent": "2", "dream_return_percent": dreamed}  # fmt: skip
        rows = [row("before-toy", "none", "5"), row("after-toy-s1", "none", "2.3"), row("after-toy-s2", "none", "1.5"), row("after-toy-s1", "both", "2.1"), row("without_locations-toy-s1", "none", "4"),
                row(f"{promises.EARLIER}guard-toy-s1", "none", "6")]  # fmt: skip
        lines = promises.table(rows)
        self.assertIn("| toy | after | 0.960 (0.960, 0.960) | 0.990 (0.990, 0.990) | 0.940 (0.940, 0.940) |", lines)
        self.assertIn("| toy | after | 2.00 (2.00, 2.00) | 1.90 (2.30, 1.50) | 2.10 | 1 of 2 |", lines)
        self.assertIn("| toy | after | not recorded | not recorded |", lines)
        self.assertIn("1 of 1 graphs; counts exact in 95 % after ten steps: 0; dreams near enough with every seed: 0.", lines[-1])
        self.assertTrue(promises.honest({"real_return_percent": "0.1", "dream_return_percent": "0.3"}))  # a fifth of 1 % of the cost
        self.assertEqual(promises.repairs(rows)[2], "| toy | locations | 0.960 | 0.990 | 0.940 |")
        self.assertEqual(promises.repairs(rows)[-3], "| toy | locations | 2.00 | 4.00 | not recorded | not recorded, not recorded |")
        self.assertEqual(promises.repairs(rows, promises.EARLIER)[-3], "| toy | guard | 2.00 | 6.00 | not recorded | not recorded, not recorded |")

    def test_transfer(self):
        row = lambda graph: {"run": "toy-model-based-s1", "graph": graph, "reward_correlation": "0.5", "counts_exact_1": "0.25", "counts_exact_10": "0.125", "real_return_10": "1", "dream_return_10": "-1"}
        self.assertEqual(promises.transfer([row("toy"), row("other")])[2:4], [f"| toy | {name} | 0.500 | 0.250 | 0.125 | 1.00, -1.00 |" for name in ("itself", "other")])

    def test_promises_keep_other_runs(self):
        out, reported = self.folder / "promises.csv", self.folder / "after-toy-s1.json"
        horizon = {"steps": 10, "drift": 0.5, "drift_reward_percent": 0.1, "counts_exact": 0.9, "states": 3, "real_return_percent": 1.0, "dream_return_percent": 1.1, "gap_deviation_percent": 0.2}
        played = [{"mode": mode, "return_percent": {"mean": mean}} for mode, mean in (("sampled", 3.0), ("dream", 3.5))]
        reported.write_text(json.dumps({"graph": "toy", "played": played, "world_model": {"clips": [{"clip": "none", "reward_correlation": 0.9, "counts_exact": 0.95, "horizons": [horizon]}]}}))
        out.write_text(",".join(sample_efficiency.PROMISES) + "\nbefore-toy" + ",1" * 12 + "\nafter-toy-s1" + ",2" * 12 + "\n")
        self.assertEqual(sample_efficiency.main(["promises", str(out), str(reported)]), 0)
        self.assertEqual(out.read_text().splitlines()[1:], ["before-toy" + ",1" * 12, "after-toy-s1,toy,none,0.9,0.95,10,0.5,0.1,0.9,3,1,1.1,0.2",
                                                          "after-toy-s1,toy,as trained,,,episode,,,,,3,3.5,"])  # fmt: skip


if __name__ == "__main__":
    unittest.main()
