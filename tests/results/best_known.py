"""results/best_known.py: a trace is taken where it costs less, checked again, and refused where it is not what the table says."""
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(os.environ.get("RLGO_SOURCE", Path(__file__).resolve().parents[2]))
RLGO = Path(os.environ.get("RLGO_BINARY", SOURCE / "build/release/rlgo"))


class BestKnown(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)
        self.table = self.folder / "known.tsv"
        self.trace = self.folder / "known/toy_conv-cpu-base.trace"

    def call(self, command, *arguments):
        done = subprocess.run([sys.executable, SOURCE / "results/best_known.py", command, "--rlgo", RLGO, "--table", self.table, *arguments],
                              capture_output=True, text=True, check=False, cwd=SOURCE)  # fmt: skip
        return done.returncode, done.stdout + done.stderr

    def update(self, folder, methods):
        return self.call("update", "--folder", self.folder / folder, "--profiles", "cpu", "--graphs", "toy_conv", "--rules", "base", "--methods", methods, "--seconds", "2")

    def row(self):
        names, cells = (line.split("\t") for line in self.table.read_text().splitlines())
        return dict(zip(names, cells))

    def test_kept_checked_refused(self):
        self.assertEqual(self.update("first", "greedy")[0], 0)
        known = self.row()
        self.assertLess(float(known["after_us"]), float(known["before_us"]))
        self.assertEqual(self.call("check"), (0, "1 of 1 rows hold\n"))
        self.assertIn("stays", self.update("second", "greedy")[1])  # not less than what is there
        self.assertEqual(self.row(), known)

        good, text = self.table.read_text(), self.trace.read_text()
        self.table.write_text(good.replace(known["after_us"], "1.000000"))
        status, printed = self.call("check")
        self.assertEqual((status, "the table says 1.000000" in printed), (1, True), printed)
        self.assertIn("no longer holds", self.update("second", "greedy")[1])  # a claim without a trace does not block a true one
        self.assertEqual(self.row(), known)

        self.trace.write_text(text[: text.rstrip("\n").rfind("\n") + 1])  # without its last rewrite
        status, printed = self.call("check")
        self.assertEqual((status, "0 of 1 rows hold" in printed), (1, True), printed)
        self.trace.unlink()
        self.assertEqual(self.call("check")[0], 1)

    def test_a_better_one_replaces(self):
        self.update("first", "greedy")
        known, steps = self.row(), self.trace.read_text().rstrip("\n").split("\n")
        after_us = float(steps[-2].split("\t")[3])  # one rewrite less, and a row that says so
        change = 100 * (after_us / float(known["before_us"]) - 1)
        worse = {**known, "after_us": f"{after_us:.6f}", "change_percent": f"{change:.4f}", "rewrites": int(known["rewrites"]) - 1}
        self.trace.write_text("\n".join(steps[:-1]) + "\n")
        self.table.write_text("\t".join(worse) + "\n" + "\t".join(map(str, worse.values())) + "\n")
        self.assertEqual(self.call("check"), (0, "1 of 1 rows hold\n"))
        self.assertIn(f"was {change:.4f} %", self.update("first", "greedy")[1])
        self.assertEqual(self.row(), known)
        self.assertEqual(self.trace.read_text().rstrip("\n").split("\n"), steps)


if __name__ == "__main__":
    unittest.main()
