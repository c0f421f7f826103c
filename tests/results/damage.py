"""Stores that are being written, of killed runs, or damaged: what is complete is read, the rest is named."""
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

import _tiny
import numpy as np
from rlgo_results import Damaged, Part, Run, load
from rlgo_results.store import part_paths

KILLED = _tiny.SOURCE / "tests/data/killed-run"  # format version 1; its second part is cut off, its third was being written


class Recorded(unittest.TestCase):
    def test_killed_run(self):
        found = load(KILLED)
        self.assertEqual(len(found.episodes), 6)
        self.assertEqual(found.episodes["episode"].tolist(), [0, 1, 2, 3, 4, 5])
        self.assertEqual([len(found.steps), found.steps["rule"].iloc[0]], [36, "merge-conv-shared-input"])
        self.assertEqual(found.steps["cost_us"].min(), found.episodes["best_cost_us"].min())
        self.assertEqual([p.split(": ")[1] for p in found.problems], ["truncated or altered", "being written, or left by a killed run"])
        self.assertTrue(found.problems[0].startswith(str(KILLED / "rollouts/part-000-000001.h5")))

    def test_its_run_folder(self):
        run = Run(KILLED)
        self.assertEqual((len(run.metrics), run.state, run.seed, run.graph), (1, "continuing, or killed", 5, "toy_conv"))
        self.assertAlmostEqual(run.column("waiting_fraction")[0], 0.4508963726790156)  # the file has its old name
        self.assertEqual(run.initial_cost_us, load(KILLED).episodes["initial_cost_us"][0])
        status, out, err = _tiny.analyse("summary", KILLED)
        self.assertEqual((status, err.count("left out: ")), (0, 3))

    def test_observations(self):
        found = load(KILLED)
        for step in range(7):
            o = found.observation(2, step)
            self.assertEqual(o["counts"].sum(), len(o["loc_node"]))
            self.assertTrue((o["edge_src"] < len(o["node_op"])).all() and (o["edge_dst"] < len(o["node_op"])).all())
        with self.assertRaisesRegex(IndexError, "step 7 of an episode of 6 steps"):
            found.observation(2, 7)

    def test_rules_were_legal(self):
        found = load(KILLED)
        for index, episode in found.episodes.iterrows():
            steps = found.steps[(found.steps["part"] == episode["part"]) & (found.steps["row"] == episode["row"])]
            for s in steps.itertuples():
                self.assertLess(s.location, found.observation(index, s.step)["counts"][s.xfer])


class Copies(unittest.TestCase):
    """Damage to copies of a fresh store, in the format that rlgo writes now."""

    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.fresh = _tiny.train(Path(cls.scratch.name), "fresh", "random", 3, 2, "--store.episodes-per-part", 4)
        assert len(part_paths(cls.fresh)) >= 3

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def setUp(self):
        self.run_folder = Path(self.scratch.name) / self.id()
        shutil.copytree(self.fresh, self.run_folder)
        self.first, self.second = part_paths(self.run_folder)[:2]
        self.whole = len(load(self.fresh).episodes)

    def flip(self, path, dataset):
        """Changes a byte in the middle of the first chunk of a dataset; the size stays."""
        with Part(path) as part:
            chunk = part.file[dataset].id.get_chunk_info(0)
        data = bytearray(path.read_bytes())
        data[chunk.byte_offset + chunk.size // 2] ^= 16
        path.write_bytes(data)

    def test_truncated_at_any_place(self):
        data = self.second.read_bytes()
        for size in (0, 100, 512, 5000, len(data) // 2, len(data) - 1):
            self.second.write_bytes(data[:size])
            found = load(self.run_folder)
            self.assertEqual(len(found.episodes), self.whole - 4)
            self.assertEqual(len(found.problems), 1)
            self.assertIn(str(self.second), found.problems[0])

    def test_damaged_steps_cost_one_part(self):
        self.flip(self.second, "steps/cost_us")
        found = load(self.run_folder)
        self.assertEqual(len(found.episodes), self.whole - 4)
        self.assertIn("steps/cost_us", found.problems[0])

    def test_damaged_observations_cost_observations_alone(self):
        with Part(self.first) as part:
            name = next(name for name in ("observations/code", "nodes/features", "observations/counts") if name in part.file and part.file[name].chunks)
        self.flip(self.first, name)
        found = load(self.run_folder)
        self.assertEqual((len(found.episodes), found.problems), (self.whole, []))
        with self.assertRaisesRegex(Damaged, "observation 1 of episode 0"):
            found.observation(0, 1)

    def test_other_files(self):
        (self.run_folder / "rollouts/notes.h5").write_bytes(b"foreign")
        self.second.write_bytes(b"not HDF5" * 100)
        found = load(self.run_folder)
        self.assertEqual(len(found.episodes), self.whole - 4)
        self.assertIn("its checksum is missing", found.problems[0])

    def test_paths_that_overlap(self):
        self.assertEqual(len(load([self.run_folder, self.run_folder / "rollouts", self.first]).episodes), self.whole)

    def test_nothing_left(self):
        for part in part_paths(self.run_folder):
            part.write_bytes(b"")
        with self.assertRaisesRegex(FileNotFoundError, "no rollout parts"):
            load(self.run_folder)

    def test_unknown_version(self):
        import h5py

        with h5py.File(self.second, "r+") as file:
            file.attrs["version"] = np.int64(999)
        data = self.second.read_bytes()
        head = data[:512].replace(b"\0", b"").decode().splitlines()
        head[2] = f"bytes {len(data)}"
        self.second.write_bytes(("\n".join(head) + "\n").encode().ljust(512, b"\0") + data[512:])
        self.assertIn("version 999", load(self.run_folder).problems[0])

    def test_merged_parts_are_read_once(self):
        _tiny.rlgo("inspect", "--compact", self.run_folder)
        shutil.copy(part_paths(self.fresh)[0], self.first)  # as an interrupted compaction leaves it
        found = load(self.run_folder)
        self.assertEqual((len(found.episodes), found.episodes["part"].nunique(), found.problems), (self.whole, 1, []))


class Live(unittest.TestCase):
    def test_read_while_written_and_after_a_kill(self):
        with tempfile.TemporaryDirectory() as folder:
            command = [_tiny.RLGO, "--graph", "toy_conv", "--agent", "random", "--epochs", "100000", "--runs", folder, "--name", "live", *_tiny.SMALL,
                       "--store.episodes-per-part", "2"]  # fmt: skip
            process = subprocess.Popen([str(c) for c in command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=_tiny.SOURCE)
            try:
                seen, end = 0, time.monotonic() + 300
                while seen < 100:
                    self.assertIsNone(process.poll())
                    self.assertLess(time.monotonic(), end, "no 100 episodes within five minutes")
                    try:
                        found = load(Path(folder) / "live")
                    except FileNotFoundError:  # not begun yet
                        time.sleep(0.05)
                        continue
                    self.assertGreaterEqual(len(found.episodes), seen)
                    self.assertTrue(all("being written" in problem for problem in found.problems), found.problems)
                    seen = len(found.episodes)
                run = Run(Path(folder) / "live")
                self.assertGreater(len(run.metrics), 0)
                self.assertEqual(run.state, "continuing, or killed")
            finally:
                process.send_signal(signal.SIGKILL)
                process.wait()
            found = load(Path(folder) / "live")
            self.assertGreaterEqual(len(found.episodes), seen)
            self.assertTrue(all("being written, or left" in problem for problem in found.problems), found.problems)
            steps = found.steps.groupby(["part", "row"], observed=True)["reward"].sum()
            self.assertTrue(np.allclose(steps.to_numpy(), found.episodes["return"], atol=1e-4))


if __name__ == "__main__":
    unittest.main()
