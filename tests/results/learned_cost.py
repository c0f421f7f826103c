"""results/learned.py: tables by literal values."""
import unittest

import _tiny  # noqa: F401, the path of results
from rlgo_results import learned


def row(model, method, **more):
    return {"model": model, "seed": "0", "method": method, "seconds": "60", "commit": "c", "machine": "m", "ratio": "1", "noise": "0.01", "timed": "0", "best_at": "",
            "sum_error_percent": "", "residual_error_percent": "", "times": ""} | more  # fmt: skip


class Learned(unittest.TestCase):
    def test_equal_seconds(self):
        rows = [row("a", "search", ratio="0.8"), row("a", "learned", ratio="0.4", best_at="2", sum_error_percent="6.04", residual_error_percent="2"),
                row("b", "search", ratio="0.5"), row("b", "learned", ratio="0.504"), row("c", "search")]  # fmt: skip
        lines = learned.in_equal_seconds(rows)
        self.assertIn("| a | 0 | 0.800 | **0.400** | - | 0.010 |", lines)
        self.assertIn("| a | 0 | 0 | 2 | 6.0 -> 2.0 |", lines)
        reported = next(line for line in lines if line.startswith("- learned / search"))
        self.assertIn("faster on 1, slower on 0 of 2", reported)  # b is within the noise, c is not done
        self.assertFalse([line for line in lines if line.startswith("- train / search")])

    def test_a_search_that_trains_in_equal_seconds(self):
        rows = [row("a", "search", ratio="0.8"), row("a", "train", ratio="0.9"), row("b", "search", ratio="0.5"), row("b", "train", ratio="0.5"), row("b", "learned", ratio="0.4")]
        lines = learned.in_equal_seconds(rows)
        self.assertIn("| a | 0 | **0.800** | - | 0.900 | 0.010 |", lines)
        self.assertIn("| a | 0 | - | - | - |", lines)
        self.assertIn("| b | 0 | 0.500 | **0.400** | 0.500 | 0.010 |", lines)
        self.assertIn("| b | 0 | 0 | - | - -> - |", lines)
        reported = next(line for line in lines if line.startswith("- train / search"))
        self.assertIn("faster on 0, slower on 1 of 2", reported)

    def test_graphs_needed(self):
        rows = [row("a", "all", times="1.1 0.9 0.805 0.8 0.95 1.2 0.9 0.9 0.9 0.9"), row("a", "learned", times="0.95 0.806"),
                row("a", "all", seed="1", times="0.5 0.6"), row("a", "learned", seed="1", times="0.7 0.55 0.9 0.9"),
                row("c", "all"), row("c", "learned")]  # fmt: skip
        lines = learned.graphs_needed(rows)
        self.assertIn("| a | 2 | 6, 3 | 1.053 [1.008, 1.100] | 1 | 1 |", lines)
        self.assertIn("| c | - | 0, 0 | - | - | - |", lines)
        self.assertIn("All 2 runs: fastest 1.053 [1.008, 1.100]; 1 reach it, 1 with at most a fifth", lines[-1])

    def test_nothing_recorded(self):
        for table in (learned.in_equal_seconds, learned.graphs_needed):
            self.assertEqual(table([])[-1], "Nothing is recorded.")


if __name__ == "__main__":
    unittest.main()
