"""results/sample_efficiency.py: curves, intervals and the verdict, by literal values."""
import json
import math
import tempfile
import unittest
from pathlib import Path

import _tiny  # noqa: F401, the path of results
import sample_efficiency as efficiency


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

    def test_best_at(self):
        self.run_of("toy-random-s1", [(100, 190.0), (300, 180.0)])
        points = efficiency.curve(self.folder / "toy-random-s1")
        self.assertEqual([round(efficiency.best_at(points, steps), 9) for steps in (99, 100, 299, 300)], [0.0, -5.0, -5.0, -10.0])

    def test_interval(self):
        mean, half = efficiency.interval([1.0, 2.0, 3.0])
        self.assertAlmostEqual(mean, 2.0)
        self.assertAlmostEqual(half, 4.303 / math.sqrt(3))
        self.assertTrue(math.isnan(efficiency.interval([1.0])[1]))

    def test_verdict(self):
        for seed, cost in ((1, 181.0), (2, 179.0)):
            self.run_of(f"toy-model-based-s{seed}", [(500, cost), (2000, 100.0)])  # what comes behind the budget does not count
            self.run_of(f"toy-model-free-s{seed}", [(500, 190.0), (2000, 180.0)])
        text = efficiency.table(efficiency.read_runs(self.folder), 500)
        self.assertIn("toy yes", text)
        self.assertIn("| toy | model-based | 2 |", text)
        (self.folder / "toy-model-based-s2/metrics.csv").write_text("steps,best_cost_us\n500,182.0\n")
        self.assertIn("toy no", efficiency.table(efficiency.read_runs(self.folder), 500))


if __name__ == "__main__":
    unittest.main()
