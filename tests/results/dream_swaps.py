"""results/rlgo_results/swaps.py: dreams with true parts and the four questions, by literal values."""
import contextlib
import io
import json
import tempfile
import unittest
from pathlib import Path

import _tiny  # noqa: F401, the path of results
import record
import stages
from rlgo_results import recorded, swaps

# What dreams of 40 steps return with these parts true; reality gives 2.
RETURNS = {"none": 6.0, "state": 5.5, "masks": 5.0, "masks+state": 5.0, "reward": 2.5, "reward+state": 2.5, "reward+masks": 2.0, "reward+masks+state": 2.0}


def document(prefix, returns, error=0.5, illegal=0.2, at_random=-3.0):
    horizons = lambda value, spread: [{"steps": steps, "return_percent": value, "gap_deviation_percent": spread} for steps in (10, 40)]  # noqa: E731
    found = [{"true": true, "illegal_fraction": illegal if "masks" not in true else 0.0, "counts_wrong_fraction": 0.25, "latent_distance": 1.5,
              "horizons": horizons(value, 0.0 if true == swaps.REALITY else error)} for true, value in returns.items()]  # fmt: skip
    return {"rlgo": {"revision": "abcdef123456"}, "swaps": {"prefix": prefix, "starts": 20, "before_percent": -1.0, "swaps": found, "random": horizons(at_random, error)}}


class Swaps(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)

    def rows(self, **runs):
        for run, documents in runs.items():
            for reported in documents:
                path = self.folder / run.replace("_", "-") / f"swaps-{reported['swaps']['prefix']}.json"
                path.parent.mkdir(exist_ok=True)
                path.write_text(json.dumps(reported))
        record.swap_table(self.folder.glob("*/swaps-*.json"), self.folder / "swaps.csv")
        return recorded.rows_in(self.folder / "swaps.csv")

    def test_the_part_that_closes_the_gap_is_named(self):
        rows = self.rows(published_toy_s1=[document(0, RETURNS), document(20, RETURNS)])
        self.assertEqual(len(rows), 2 * 9 * 2)
        self.assertIn("| toy, RLFlow's, 40 | 2.00 | +4.00 +- 0.50 | **+0.50 +- 0.50** | +3.00 +- 0.50 | +3.50 +- 0.50 |", swaps.gaps(rows))
        lines = swaps.explanations(rows)
        self.assertEqual([line.split(" | ")[2] for line in lines[2:5]], ["yes", "no", "no"])
        self.assertIn("true reward: 1 of 1 dreams; toy, RLFlow's: closes 88 % |", lines[2])
        self.assertIn("| toy, RLFlow's | 20 | 20.0 | 25.0 | 1.50 |", swaps.apart(rows))
        # The prefix made the graph more expensive by 1 %, the agent cheaper by 2, random play more expensive by 3.
        self.assertIn("| toy, RLFlow's | 20 | +1.00 | **-1.00** | +4.00 | -5.00 |", swaps.unseen(rows))

    def test_a_gap_within_chance_blames_nothing(self):
        rows = self.rows(own_toy_s1=[document(0, RETURNS, error=3.0)])
        self.assertNotIn("**", "".join(swaps.gaps(rows)[2:4]))
        self.assertEqual([line.split(" | ")[2] for line in swaps.explanations(rows)[2:5]], ["no gap"] * 3)
        self.assertIn("0 of 1", swaps.explanations(rows)[-1])

    def test_the_questions_are_answered_by_what_is_recorded(self):
        reported = [{"run": f"{form}-toy-s1", "clip": "none", "steps": "1", "reward_correlation": value} for form, value in (("before", "0.5"), ("after", "1.0"))]
        rows = self.rows(published_toy_s1=[document(0, RETURNS), document(20, RETURNS)], own_toy_s1=[document(0, RETURNS, illegal=0.0), document(20, RETURNS, at_random=1.5)])
        answers = [line.split(" | ")[2] for line in swaps.questions(rows, reported)[2:] if line.startswith("| ")]
        self.assertEqual(answers, ["**no**", "**in part**", "**no**", "**yes**"])
        self.assertIn("before the repairs 0.50 to 0.50; rlgo's own agent 1.00 to 1.00", swaps.questions(rows, reported)[4])

    def test_means_are_over_seeds(self):
        rows = self.rows(own_toy_s1=[document(0, RETURNS)], own_toy_s2=[document(0, {k: v + 2 for k, v in RETURNS.items()})])
        self.assertEqual(swaps.Found(rows).value(("own", "toy"), 0, swaps.REALITY, "40"), 3.0)
        self.assertIn("2 seeds of each agent; rlgo abcdef1", swaps.gaps(rows)[-1])

    def test_nothing_recorded_is_missing(self):
        record.swap_table([], self.folder / "swaps.csv")
        self.assertFalse((self.folder / "swaps.csv").exists())
        self.assertRaises(recorded.Missing, swaps.gaps, [])

    def test_the_stages_name_what_the_table_reads(self):
        with contextlib.redirect_stdout(io.StringIO()):
            self.assertEqual(set(stages.DREAMERS), set(swaps.FORMS))


if __name__ == "__main__":
    unittest.main()
