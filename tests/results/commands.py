"""Every command on tiny real runs: what it says is compared with what the run's own files say."""
import csv
import re
import struct
import tempfile
import unittest
from pathlib import Path

import _tiny
import numpy as np
import pandas as pd
from rlgo_results import find_runs, load, race, record

TRAINED = [("mf-1", "model-free", 1), ("mf-2", "model-free", 2), ("mb-1", "model-based", 1), ("hy-1", "hybrid", 1), ("random-1", "random", 1)]


def setUpModule():
    global scratch, root
    scratch = tempfile.TemporaryDirectory()
    root = Path(scratch.name) / "runs"
    for name, agent, seed in TRAINED:
        _tiny.train(root, name, agent, seed, 6 if agent == "model-based" else 4)
    _tiny.rlgo("search", "--graph", "toy_conv", "--methods", "greedy,taso", "--cost", "analytic", "--csv", root / "search.csv", "--curve", root / "search-curve.csv")
    (root / "toy_conv-taso").mkdir()
    text = _tiny.rlgo("search", "--graph", "toy_conv", "--method", "taso", "--cost", "analytic", "--out", root / "toy_conv-taso", "--check.repeats", 3)
    (root / "toy_conv-taso/summary.txt").write_text(text)
    (root / "toy_conv-unmodified").mkdir()
    (root / "toy_conv-unmodified/best.trace").write_text("rlgo-trace 1\ngraph toy_conv\n")
    _tiny.rlgo("replay", "--graph", "toy_conv", "--trace", root / "toy_conv-unmodified/best.trace", "--out", root / "toy_conv-unmodified/best.onnx", "--check.repeats", 3)
    for temperature in (0.5, 1.5):
        _tiny.train(root / "temperature", f"t{temperature}", "model-based", 1, 4, "--dream.temperature", temperature)
        _tiny.rlgo("evaluate", "--checkpoint", root / f"temperature/t{temperature}", "--episodes", 4, "--csv", root / "temperature/temperature.csv")


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def tearDownModule():
    scratch.cleanup()


class Commands(unittest.TestCase):
    def analyse(self, *arguments):
        status, out, err = _tiny.analyse(*arguments)
        self.assertEqual(status, 0, err)
        return out

    def pictured(self, *arguments):
        """Runs a command; its picture must be one, its table is returned."""
        picture, table = root / "out.png", root / "out.csv"
        out = self.analyse(*arguments, "--out", picture, "--out", table)
        self.assertTrue(picture.read_bytes().startswith(b"\x89PNG"))
        self.assertGreater(picture.stat().st_size, 5000)
        self.assertNotIn("nan", out)
        return pd.read_csv(table)

    def test_elsewhere(self):
        _tiny.rlgo("evaluate", "--checkpoint", root / "mf-1", "--graph", "toy_mlp", "--episodes", 3, "--csv", root / "mf-1.csv")
        self.analyse("elsewhere", root / "mf-1", "--by", "gnn.block", "--out", root / "elsewhere.csv")
        sampled = [row for row in rows_of(root / "mf-1.csv") if row["mode"] == "sampled"]
        (row,) = rows_of(root / "elsewhere.csv")
        self.assertEqual((row["graph"], row["gnn.block"], row["seeds"]), ("toy_mlp", "local", "1"))
        self.assertAlmostEqual(float(row["sampled, %"]), -float(sampled[0]["return_mean"]), 3)

    def test_summary(self):
        self.analyse("summary", root, "--out", root / "s.csv")
        table = pd.read_csv(root / "s.csv").set_index("run")
        self.assertEqual(set(table.index), {name for name, *_ in TRAINED})
        for name, *_ in TRAINED:
            rows = rows_of(root / name / "metrics.csv")
            self.assertEqual(table.loc[name, "real steps"], int(rows[-1]["steps"]))
            self.assertEqual(table.loc[name, "stored episodes"], int(rows[-1]["episodes"]))
            self.assertAlmostEqual(table.loc[name, "best, ms"], float(rows[-1]["best_cost_us"]) / 1e3, delta=1e-5)
        self.assertEqual(set(table["state"]), {"ended"})

    def test_inspect_agrees(self):
        text = _tiny.rlgo("inspect", root / "mf-1")
        episodes = load(root / "mf-1").episodes
        self.assertRegex(text, rf"\b{len(episodes)} \({int(episodes['terminal'].sum())} terminal")

    def test_rewards(self):
        table = self.pictured("rewards", root)
        self.assertEqual(table[["graph", "agent", "seeds"]].values.tolist(), [["toy_conv", "model-free", 2]])
        both = pd.concat([pd.read_csv(root / name / "metrics.csv") for name in ("mf-1", "mf-2")])["episode_reward_mean"]
        self.assertAlmostEqual(table["min"][0], both.min(), places=4)
        self.assertAlmostEqual(table["max"][0], both.max(), places=4)
        self.analyse("rewards", root, "--out", root / "r-curve.csv")
        curve = pd.read_csv(root / "r-curve.csv")
        self.assertEqual(curve["epoch"].tolist(), [1, 2, 3, 4])
        self.assertTrue(curve["low"].min() == 0 and curve["high"].max() == 1 and (curve["seeds"] == 2).all())

    def test_world_model(self):
        table = self.pictured("world-loss", root)
        self.assertEqual(table["agent"].tolist(), ["hybrid", "model-based"])
        self.assertAlmostEqual(table["loss, first"][1], pd.read_csv(root / "mb-1/metrics.csv")["wm_latent_loss"][0], places=4)
        table = self.pictured("dream-reward", root)
        self.assertEqual(table[["agent", "seeds"]].values.tolist(), [["model-based", 1]])

    def test_cost_agents_compare_options(self):
        self.assertEqual(set(self.pictured("cost", root)["agent"]), {"model-free", "model-based", "hybrid", "random"})
        self.assertEqual(self.analyse("agents", root, "--at-steps", 100).count("\n| toy_conv |"), len(TRAINED))
        out = self.analyse("compare", root, "--by", "dream.temperature", "--agent", "model-based")
        self.assertIn("| toy_conv | model-based | 1 | 1 |", out)
        self.assertIn("| gnn.width | 8 |", self.analyse("options", root))
        status, _, err = _tiny.analyse("compare", root, "--by", "no-such-option")
        self.assertEqual((status, "no option 'no-such-option'" in err), (1, True))

    def test_heatmap(self):
        table = self.pictured("heatmap", root, "--traces").set_index("rule")
        lines = [line.split("\t")[1] for line in (root / "toy_conv-taso/best.trace").read_text().splitlines() if re.match(r"\d", line)]
        for rule in set(lines):
            self.assertEqual(table.loc[rule, "toy_conv, taso"], lines.count(rule))
        table = self.pictured("heatmap", root, "--system", "random").set_index("rule")
        found = load(root / "random-1")
        last = found.episodes.tail(max(1, len(found.episodes) // 10))
        keys = set(zip(last["part"], last["row"]))
        rules = [s.rule for s in found.steps.itertuples() if (s.part, s.row) in keys and s.rule]
        self.assertEqual(set(table.index), set(rules))
        for rule in set(rules):
            self.assertAlmostEqual(table.loc[rule, "toy_conv, random"], rules.count(rule) / len(last), places=4)

    def test_memory(self):
        table = self.pictured("memory", root, "--agent", "random")
        steps = load(root / "random-1").steps
        best = steps.loc[steps["cost_us"].idxmin()]
        self.assertAlmostEqual(table["peak after, MiB"][0], best["peak_bytes"] / 2**20, places=4)

    def test_search_and_temperature(self):
        table = self.pictured("search-trace", root / "search-curve.csv").set_index("method")
        for row in rows_of(root / "search.csv"):
            self.assertAlmostEqual(table.loc[row["method"], "change, %"], float(row["change_percent"]), places=3)
        self.assertEqual(self.pictured("temperature", root / "temperature")["runs"].tolist(), [1, 1])

    def test_runtimes_and_race(self):
        try:
            import onnxruntime  # noqa: F401
        except ImportError as error:
            self.skipTest(str(error))
        self.analyse("race", root, "--table", root / "race.csv", "--rounds", 7, "--seconds", 0.5)
        raced = pd.read_csv(root / "race.csv").set_index("system")
        self.assertLessEqual({"no rewriting", "ONNX Runtime", "taso", "model-free", "model-based"}, set(raced.index))
        self.assertEqual(raced.loc["ONNX Runtime", "ratio"], 1)
        table = self.pictured("runtimes", root, "--race", root / "race.csv", "--figure", "5.2")
        self.assertIn("model-free", set(table["system"]))
        self.assertNotIn("model-based", set(table["system"]))
        self.assertEqual(set(race.COLUMNS), set(raced.reset_index().columns))

    def test_every_figure_has_a_command(self):
        out = self.analyse("all", root, "--out", root / "figures", "--only", "fig-5.3-rewards", "--only", "table-5.1-temperature")
        self.assertNotIn("failed", out)
        text = (root / "figures/README.md").read_text()
        self.assertIn(f"results/analyse rewards {root} --out fig-5.3-rewards.png", text)
        self.assertIn(find_runs([root])[0].revision, text)
        names = [name for name, _ in record.COMMANDS]
        for artefact in ("5.1", "5.2", "5.3", "5.4", "5.5", "5.6", "5.7"):
            self.assertEqual(sum(name.startswith(f"fig-{artefact}-") for name in names), 1, artefact)
        self.assertIn("table-5.1-temperature", names)

    def test_output_of_another_kind(self):
        status, _, err = _tiny.analyse("agents", root, "--out", root / "x.png")
        self.assertEqual((status, "draws no picture" in err), (1, True))

    def test_module_runs(self):
        import subprocess

        done = subprocess.run([_tiny.SOURCE / "results/analyse", "summary", root / "mf-1"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("| mf-1 | toy_conv | model-free | 1 | ended | 4 |", done.stdout)


class Exports(unittest.TestCase):
    def test_csv(self):
        status, _, err = _tiny.analyse("export-csv", root, "--folder", root / "csv")
        self.assertEqual(status, 0, err)
        steps, found = pd.read_csv(root / "csv/steps.csv"), load(root / "mb-1")
        mine = steps[steps["run"] == "mb-1"]
        self.assertEqual(len(mine), len(found.steps))
        self.assertTrue(np.allclose(mine["cost_us"], found.steps["cost_us"], rtol=1e-12))
        self.assertEqual(len(pd.read_csv(root / "csv/metrics.csv")), sum(len(run.metrics) for run in find_runs([root])))
        self.assertEqual(set(pd.read_csv(root / "csv/runs.csv")["agent"]), {"model-free", "model-based", "hybrid", "random"})

    def test_minari(self):
        try:
            import minari
        except ImportError as error:
            self.skipTest(str(error))
        status, out, err = _tiny.analyse("export-minari", root / "mf-1", root / "mf-2", "--folder", root / "minari", "--graphs", "--episodes", 3)
        self.assertEqual(status, 0, err)
        dataset = minari.load_dataset("rlgo/toy_conv-model-free-v0")
        self.assertEqual(dataset.total_episodes, 6)
        found = load(root / "mf-1")
        episode, first = next(dataset.iterate_episodes([0])), found.episodes.iloc[0]
        steps = found.steps[(found.steps["part"] == first["part"]) & (found.steps["row"] == first["row"])]
        self.assertEqual(episode.actions.tolist(), steps[["xfer", "location"]].values.tolist())
        self.assertTrue(np.array_equal(episode.rewards, steps["reward"]))
        self.assertEqual((episode.terminations[-1], episode.truncations[-1]), (first["terminal"], first["truncated"]))
        last = found.observation(0, len(steps))
        self.assertTrue(np.array_equal(episode.observations["counts"][-1], last["counts"]))
        nodes = len(last["node_op"])
        self.assertTrue(np.array_equal(episode.observations["node_feat"][-1][:nodes], last["node_feat"]))
        self.assertTrue((episode.observations["node_op"][-1][nodes:] == -1).all())
        self.assertTrue(dataset.observation_space.contains({key: values[0] for key, values in episode.observations.items()}))
        self.assertTrue(all(dataset.action_space.contains(action) for action in episode.actions))

    def test_tensorboard(self):
        try:
            from tensorboardX.proto.event_pb2 import Event
        except ImportError as error:
            self.skipTest(str(error))
        for _ in range(2):  # again: the first export is replaced
            status, out, err = _tiny.analyse("export-tensorboard", root / "hy-1", "--folder", root / "tb")
            self.assertEqual(status, 0, err)
        (file,) = (root / "tb/hy-1").glob("events.out.tfevents.*")
        data, at, scalars = file.read_bytes(), 0, {}
        while at < len(data):  # TFRecord: length, its checksum, data, its checksum
            (length,) = struct.unpack_from("<Q", data, at)
            event = Event.FromString(data[at + 12 : at + 12 + length])
            for value in event.summary.value:
                scalars[value.tag, event.step] = value.simple_value
            at += 16 + length
        for row in rows_of(root / "hy-1/metrics.csv"):
            epoch = int(row["epoch"])
            self.assertAlmostEqual(scalars["episodes/best_cost_us", epoch], float(row["best_cost_us"]), delta=1e-3)
            self.assertAlmostEqual(scalars["world-model/wm_loss", epoch], float(row["wm_loss"]), places=4)

    def test_missing_package_is_named(self):
        from rlgo_results import export

        with self.assertRaisesRegex(export.Missing, "pip install some-package"):
            export.optional("no_such_module_anywhere", "some-package")


if __name__ == "__main__":
    unittest.main()
