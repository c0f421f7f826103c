"""The numbers behind the figures, by literal values."""
import argparse
import math
import tempfile
import unittest
from pathlib import Path

import _tiny
import nightly
import pandas as pd
import windows
from rlgo_results import cli, equal_seconds, means, plot, record, rulecount, runs, runtimes, searches, tables, temperature, training

VERDICT = """graph           toy (9 nodes -> 8)
end to end      11.630 ms -> 11.293 ms: -2.90 % (-3.40 to -2.31 %), 1.03x; LibTorch, cpu, 1 thread
result          faster; 60 rounds after 4 loads, interval with an error of 1 % at each end
"""


class Docs(unittest.TestCase):
    def test_every_command_is_documented(self):
        parser = argparse.ArgumentParser()
        commands = parser.add_subparsers()
        cli.declare(commands)
        text = (_tiny.SOURCE / "docs/analysis.md").read_text()
        self.assertEqual([name for name in commands.choices if f"`{name}" not in text], [])
        self.assertEqual({command[0] for _, command in record.COMMANDS} - set(commands.choices), set())


class Windows(unittest.TestCase):
    def test_pairs_are_of_the_same_seed(self):
        made = lambda *costs: ([{"best_cost_us": cost, "episode_reward_mean": 1.0} for cost in costs], 200.0)
        line = windows.pairs_line("toy", "all", [made(190, 160), made(200, 180)], [made(190, 180), made(200, 184)])
        self.assertEqual(line, "| toy | all | -6.00 [-56.82, +44.82] | -3.00 [-28.41, +22.41] | +0.00 [+0.00, +0.00] |")


class Marks(unittest.TestCase):
    def test_the_best_of_a_row_is_bold(self):
        self.assertEqual(tables.best_bold(["-1.5 [-2, -1]", "-2.0", "-"]), ["-1.5 [-2, -1]", "**-2.0**", "-"])
        self.assertEqual(tables.best_bold(["+0.5", "=", "1.2"], higher=True, same=1.0), ["+0.5", "=", "**1.2**"])
        self.assertEqual(tables.best_bold(["1.00", "1.0"]), ["1.00", "1.0"])
        self.assertEqual(tables.best_bold_of_columns([["a", "1", "5"], ["b", "2", "4"]], 1), [["a", "**1**", "5"], ["b", "2", "**4**"]])

    def test_the_order_of_models_changes_no_interval(self):
        self.assertEqual(means.interval([0.5, 1.0, 1.0, 0.9]), means.interval([1.0, 0.9, 0.5, 1.0]))


class EqualSeconds(unittest.TestCase):
    def test_table(self):
        row = lambda method, seed, after: {"profile": "gpu", "graph": "toy", "method": method, "seed": seed, "seconds": "60", "before_us": "200", "after_us": after,
                                           "known_us": "150", "starts_us": "170" if method == "agent" else "", "commit": "abcdefgh", "machine": "M"}  # fmt: skip
        rows = [row("agent", "1", "140"), row("agent", "2", "160"), row("agent", "3", "150.1"), row("taso", "1", "180")]
        self.assertAlmostEqual(equal_seconds.ratios(rows, "gpu", "taso")[0], (140 * 160 * 150.1) ** (1 / 3) / 180)
        self.assertEqual(equal_seconds.ratios(rows, "cpu", "taso"), [])
        self.assertEqual(equal_seconds.room(rows, "gpu", "taso"), [140 / 180])
        lines = equal_seconds.table(rows)
        self.assertEqual(lines[2], "| gpu | toy | -25.00 | **-30.00, -20.00, -24.95** | -15.00 | -10.00 |")
        self.assertIn("gpu 1 of 1 graphs (below it: toy).", equal_seconds.summary(rows)[-1])
        self.assertIn("of M; rlgo abcdefg.", "\n".join(lines))

    def test_machines_are_distinguished(self):
        rows = [{"profile": p, "method": m, "machine": machine} for p, m, machine in (("cpu", "agent", "M"), ("cpu", "taso", "M"), ("gpu", "taso", "N"))]
        self.assertEqual(equal_seconds.made_on(rows), "M (cpu: agent taso); N (gpu: taso)")


class Settled(unittest.TestCase):
    def test_it_is_where_a_running_mean_stays_near_the_end(self):
        rising = pd.Series([float(min(epoch, 50)) for epoch in range(1, 201)], index=range(1, 201))
        at = training.settled_at(rising)
        self.assertTrue(50 <= at <= 56, at)  # the mean over ten epochs is near 50 when all but the first few are
        self.assertEqual(training.settled_at(pd.Series([2.0] * 20, index=range(1, 21))), 1)
        for_ever = pd.Series([float(epoch) for epoch in range(200)], index=range(1, 201))
        self.assertGreater(training.settled_at(for_ever), 175)


class Plot(unittest.TestCase):
    def test_change(self):
        self.assertEqual(plot.change_percent(200.0, 150.0), -25.0)

    def test_min_max(self):
        self.assertEqual(list(plot.min_max(pd.Series([1.0, 3.0, 2.0]), 1.0, 3.0)), [0.0, 1.0, 0.5])
        self.assertEqual(list(plot.min_max(pd.Series([4.0, 4.0]), 4.0, 4.0)), [0.0, 0.0])

    def test_over_seeds_of_different_length(self):
        frame = plot.over_seeds([pd.Series([1.0, 2.0], index=[1, 2]), pd.Series([3.0, math.nan, 9.0], index=[1, 2, 3])])
        self.assertEqual(frame["mean"].tolist(), [2.0, 2.0, 9.0])
        self.assertEqual((frame["low"].tolist(), frame["high"].tolist()), ([1.0, 2.0, 9.0], [3.0, 2.0, 9.0]))
        self.assertEqual(frame["seeds"].tolist(), [2, 1, 1])
        self.assertAlmostEqual(frame["deviation"].iloc[0], math.sqrt(2))

    def test_markdown(self):
        table = pd.DataFrame({"a|b": ["x|y"], "n": [1234.5678], "small": [0.012346], "none": [math.nan], "whole": [7.0]})
        self.assertEqual(plot.markdown(table).splitlines()[2], "| x\\|y | 1235 | 0.01235 |  | 7 |")


class Texts(unittest.TestCase):
    def test_end_to_end(self):
        found = runs.end_to_end(VERDICT)
        self.assertEqual((found["before_us"], found["after_us"]), (11630.0, 11293.0))
        self.assertEqual((found["runtime"], found["threads"]), ("LibTorch, cpu", 1))
        for name, value in ("ratio", 0.971), ("ratio_low", 0.966), ("ratio_high", 0.9769):
            self.assertAlmostEqual(found[name], value)

    def test_unchanged_counts_as_one(self):
        found = runs.end_to_end("end to end      unchanged: 1.000 of the original's latency\n")
        self.assertEqual((found["ratio"], found["threads"]), (1.0, 0))
        self.assertTrue(math.isnan(found["before_us"]))

    def test_unchanged_stands_beside_what_was_measured(self):
        class Outcome:
            def __init__(self, system, text):
                self.graph, self.system, self.end_to_end = "toy", system, runs.end_to_end(text)

        table = runtimes.verdicts([Outcome("taso", VERDICT), Outcome("model-free", "end to end      unchanged: 1.000\n")])
        self.assertEqual(table["system"].tolist(), ["unmodified", "taso", "model-free"])
        self.assertEqual(table["ratio"].round(4).tolist(), [1.0, 0.971, 1.0])
        self.assertEqual(table["after_us"].tolist(), [11630.0, 11293.0, 11630.0])

    def test_a_later_measurement_by_itself_counts(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertIsNone(runs.measured_in(folder))
            (Path(folder) / "summary.txt").write_text("end to end      unchanged: 1.000\n")
            self.assertEqual(runs.measured_in(folder)["ratio"], 1.0)
            (Path(folder) / "latency.txt").write_text(VERDICT)
            self.assertAlmostEqual(runs.measured_in(folder)["ratio"], 0.971)

    def test_end_to_end_is_missing(self):
        self.assertIsNone(runs.end_to_end("end to end      not measured under x: it failed\n"))

    def test_differing_options(self):
        class Options:
            def __init__(self, **config):
                self.config = config

        self.assertEqual(runs.differing_options([Options(seed="1", lr="2", x="0"), Options(seed="2", lr="3", x="0")]), ["lr"])


class Files(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.folder = Path(self.scratch.name)

    def tearDown(self):
        self.scratch.cleanup()

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def test_temperature(self):
        head = "run,graph,agent,seed,temperature,mode,episodes,return_mean,return_deviation,length_mean,final_cost_mean_us,best_cost_us,lost\n"
        line = "a,bert,model-based,{},{},{},10,{},0,5,{},900,0\n"
        rows = [line.format(1, 0.5, "sampled", 2.0, 980), line.format(1, 0.5, "greedy", 3.0, 970), line.format(1, 0.5, "dream", 8.0, "nan"),
                line.format(2, 0.5, "sampled", 4.0, 960), line.format(2, 0.5, "greedy", 5.0, 950), line.format(2, 0.5, "dream", 10.0, "nan")]  # fmt: skip
        self.write("temperature.csv", head + "".join(rows) + "a,bert,model-based,2,0.5,cut")  # the last line is being written
        table = temperature.sweep(self.folder)[0].table.iloc[0]
        self.assertEqual((table["runs"], table["world-model score, %"], table["real score, %"], table["real greedy, %"]), (2, -9.0, -3.0, -4.0))
        self.assertAlmostEqual(table["real sd"], math.sqrt(2))
        self.assertAlmostEqual(table["real 95 % half-width"], 12.706)  # t of one degree of freedom, sd / sqrt(2) = 1
        self.assertAlmostEqual(table["world-model 95 % half-width"], 12.706)
        self.assertEqual(table["after, ms"], 0.97)

    def test_temperature_of_another_table(self):
        with self.assertRaisesRegex(ValueError, "not a table of rlgo evaluate"):
            temperature.sweep(self.write("x.csv", "a,b\n1,2\n"))

    def test_search_trace(self):
        curve = self.write("s-curve.csv", "graph,method,seed,seconds,candidates,best_us\ng,taso,0,0,0,1000\ng,taso,0,0.1,10,905\ng,taso,0,0.5,400,900\n")
        self.write("s.csv", "graph,method,seed,before_us,candidates,seconds\ng,taso,0,1000,5000,2\n")
        row = searches.trace(curve)[0].table.iloc[0]
        self.assertEqual((row["before, ms"], row["best, ms"], row["change, %"]), (1.0, 0.9, -10.0))
        self.assertEqual((row["candidates to the best"], row["candidates to 95 % of the gain"], row["candidates in all"]), (400, 10, 5000))

    def test_races_and_verdicts(self):
        self.write("toy-taso/best.trace", "rlgo-trace 1\ngraph toy\n# step\trule\tlocation\tcost_us\n0\tr1\t0\t9.5\n1\tr1\t3\t9.0\n2\tr2\t0\t8.0\n")
        self.write("toy-taso/summary.txt", VERDICT)
        race = self.write("race.csv", "graph,system,threads,median_us,ratio,ratio_low,ratio_high,noise\n"
                          "toy,ONNX Runtime,1,1000,1,0.99,1.01,0.005\ntoy,taso,1,900,0.9,0.88,0.91,0.005\ntoy,model-free,1,800,0.8,0.79,0.81,0.005\n")  # fmt: skip
        results = runtimes.find_results([self.folder])
        self.assertEqual([(r.graph, r.system) for r in results], [("toy", "taso")])
        self.write("toy-model-free-s1/config.cfg", "graph = toy\nagent = model-free\nseed = 1\n")
        self.write("toy-model-free-s1/summary.txt", VERDICT)
        both = runtimes.find_results([self.folder])
        self.assertEqual([r.system for r in runtimes.by_themselves(both)], [r.system for r in both])
        self.write("toy-taso/latency.txt", VERDICT)
        self.assertEqual([r.system for r in runtimes.by_themselves(both)], ["taso"])
        table = runtimes.runtimes(results, [race], "5.1")[0].table
        self.assertEqual(table["system"].tolist(), ["unmodified", "taso", "ONNX Runtime", "taso"])
        self.assertEqual([round(x, 6) for x in table["change, %"]], [0.0, -2.9, 0.0, -10.0])
        table = runtimes.runtimes(results, [race], "5.2")[0].table
        self.assertAlmostEqual(table.loc[table["system"] == "model-free", "against taso, %"].iloc[0], 100 * (0.8 / 0.9 - 1))
        counts = rulecount.counts_of_traces(results)[("toy", "taso")]
        self.assertEqual(counts.to_dict(), {"r1": 2.0, "r2": 1.0})

    def test_heatmap_keeps_the_rest(self):
        columns = {("a", "s"): pd.Series({"r1": 3.0, "r2": 4.0}), ("b", "s"): pd.Series({"r1": 6.0, "r2": 8.0, "r3": 0.0}), ("c", "t"): pd.Series({"r4": 1.0})}
        result, _ = rulecount.heatmap(columns, "in a test", top=2)
        self.assertEqual(result.table["rule"].tolist(), ["r2", "r1", "r4"])
        self.assertIn("a and b (s) 1.00", result.notes[-1])

    def metrics_run(self, name, epochs):
        self.write(f"{name}/config.cfg", "# Options. rlgo 0.1.0 (abcdef123456).\ngraph = toy\nagent = model-free\nseed = 1\n[ppo]\nlr = 0.1\n")
        self.write(f"{name}/log.txt", "x info: cost of the unmodified graph: 0.100 ms (3 matches)\n")
        self.write(f"{name}/metrics.csv", "epoch,seconds,steps,best_cost_us\n" + "".join(f"{e},{e},{10 * e},{cost}\n" for e, cost in enumerate(epochs, 1)))
        return runs.Run(self.folder / name)

    def test_best_so_far(self):
        frame = training.best_so_far([self.metrics_run("a", [90, 80]), self.metrics_run("b", [95, 95, 50])], "steps", points=3)
        self.assertEqual(frame.index.tolist(), [0, 10, 20])  # up to where the shorter run ends
        self.assertEqual(frame["mean"].tolist(), [0.0, -7.5, -12.5])
        self.assertEqual((frame["low"].tolist(), frame["high"].tolist()), ([0, -10, -20], [0, -5, -5]))

    def test_run_folder(self):
        run = self.metrics_run("a", [90])
        self.assertEqual((run.graph, run.agent, run.seed, run.config["ppo.lr"], run.revision), ("toy", "model-free", 1, "0.1", "abcdef123456"))
        self.assertEqual((run.initial_cost_us, run.state, run.end_to_end), (100.0, "continuing, or killed", None))

    def test_metrics_cut_off(self):
        run = self.metrics_run("a", [90, 80])
        with open(run.path / "metrics.csv", "a") as file:
            file.write("3,3.0,3")
        self.assertEqual(run.metrics["epoch"].tolist(), [1, 2])
        self.assertIn("its last line is incomplete", run.problems[0])

    def test_no_run(self):
        with self.assertRaisesRegex(FileNotFoundError, "no run folder"):
            runs.find_runs([self.folder])
        status, _, err = _tiny.analyse("summary", self.folder / "none")
        self.assertEqual((status, err.count("\n")), (1, 1))
        self.assertIn("no such file or folder", err)


class Nightly(unittest.TestCase):
    def test_rows_of_tests_that_did_not_run_are_kept(self):
        with tempfile.TemporaryDirectory() as folder:
            junit, page = Path(folder) / "junit.xml", Path(folder) / "page.md"
            for name, status in (("a.one", "run"), ("b.two", "fail"), ("a.one", "fail")):
                junit.write_text(f'<testsuite><testcase name="{name}" status="{status}" time="2.4"><system-out>said | so\npassed in 2 s</system-out></testcase></testsuite>')
                nightly.update(junit, page, _tiny.RLGO)
            rows = page.read_text().splitlines()[len(nightly.HEAD):]
        self.assertEqual([[cell.strip() for cell in row.split("|")[1:4]] for row in rows], [["a.one", "FAILED", "2"], ["b.two", "FAILED", "2"]])
        self.assertTrue(rows[0].endswith("| said / so |"))


if __name__ == "__main__":
    unittest.main()
