"""results/record.py is killed in its second stage, continues, and leaves figures; what had ended is not run again."""
import csv
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import _tiny

# rlgo, which the first time that it trains says so and waits for ever.
RLGO = """#!/usr/bin/env bash
if [ "$1" = train ] && mkdir "{folder}/waits" 2>/dev/null; then exec sleep 3600; fi
exec "{rlgo}" "$@"
"""
TINY = ["--env.max-steps", "12", "--gnn.rounds", "1", "--gnn.width", "8", "--train.steps-per-epoch", "32"]


class Record(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)
        rlgo = self.folder / "rlgo"
        rlgo.write_text(RLGO.format(folder=self.folder, rlgo=_tiny.RLGO))
        rlgo.chmod(0o755)
        self.command = [sys.executable, _tiny.SOURCE / "results/record.py", "--folder", self.folder / "state", "--rlgo", rlgo, "--stages", "searches,rewards,figures",
                        "--seeds", 1, "--graphs", "toy_conv", "--search-graphs", "toy_conv", "--profiles", "cpu", "--methods", "greedy,taso", "--rules", "base",
                        "--seconds", 2, "--epochs", 4]  # fmt: skip

    def record(self, *more):
        command = [str(c) for c in [*self.command, *more]]
        if "--list" not in command:
            command += ["--", *TINY]
        return subprocess.run(command, capture_output=True, text=True, env={**os.environ, "RLGO_PYTHON": sys.executable})

    def states(self):
        return {line.split()[0]: line.split()[1] for line in self.record("--list").stdout.splitlines()[1:]}

    def test_killed_between_stages(self):
        command = [str(c) for c in [*self.command, "--", *TINY]]
        first = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not (self.folder / "waits").is_dir():  # the first stage has ended, the second has begun
            self.assertIsNone(first.poll())
            time.sleep(0.1)
        first.send_signal(signal.SIGKILL)
        first.wait()
        self.assertEqual(self.states(), {"searches": "done", "rewards": "missing"})
        table = self.folder / "state/searches/cpu-toy_conv-taso-s0.csv"
        written = table.stat().st_mtime_ns

        done = self.record()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(table.stat().st_mtime_ns, written)
        self.assertEqual(self.states(), {"searches": "done", "rewards": "done"})
        with open(self.folder / "state/record.csv", newline="") as file:
            runs = [row["run"] for row in csv.DictReader(file)]
        self.assertEqual(sorted(runs), ["rewards-R1-s1", "rewards-R2-s1", "rewards-R3-s1", "rewards-R5-s1", "search-cpu-toy_conv-greedy-s0", "search-cpu-toy_conv-taso-s0"])
        out = self.folder / "state/out"
        self.assertTrue((out / "searches.png").read_bytes().startswith(b"\x89PNG"))
        with open(out / "searches.csv", newline="") as file:
            self.assertEqual({row["method"] for row in csv.DictReader(file)}, {"greedy", "taso"})
        self.assertIn("R5", (out / "figures/rewards-compared.csv").read_text())

    def test_a_signal_stops_it(self):
        process = subprocess.Popen([str(c) for c in [*self.command, "--stages", "rewards"]], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        while not (self.folder / "waits").is_dir():
            self.assertIsNone(process.poll())
            time.sleep(0.1)
        process.terminate()
        _, printed = process.communicate()
        self.assertEqual((process.returncode, printed), (75, "stopped: the same call continues\n"))

    def test_what_cannot_run_is_named(self):
        self.command += ["--stages", "tensorrt"]
        self.assertIn("needs an NVIDIA GPU", self.record("--list").stdout)
        self.command[-1] = "no-such-stage"
        done = self.record("--list")
        self.assertEqual((done.returncode, "no stage no-such-stage" in done.stderr), (2, True))

    def test_no_run_begins_that_does_not_fit(self):
        done = self.record("--stages", "searches", "--budget", "0.001")
        self.assertEqual((done.returncode, self.states()["searches"]), (0, "missing"))


if __name__ == "__main__":
    unittest.main()
