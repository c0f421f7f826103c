"""--target: costs and final times of a runtime behind a measurer, also where that crashes, and on several ranks."""
import json
import signal
import sys
import time

import onnx
import onnx.parser
from _rlgo import SOURCE, STOP_S, main, metrics, rlgo, start, wait_until

FAKE = f"'{sys.executable}' '{SOURCE}/tests/core/measure/_fake_measurer.py'"
SHORT = ["--graph", "toy_conv", "--agent", "random", "--epochs", 1, "--train.steps-per-epoch", 20,
         "--check.repeats", 3, "--check.seeds", 1]


def prices_and_times_are_the_targets(folder):
    """the table is kept with its origin, and used again"""
    done = rlgo(*SHORT, "--name", "a", "--target", FAKE, "--cost.explore", 20, cwd=folder)
    table = folder / "runs/a/costs.tsv"
    lines = table.read_text().splitlines()
    assert lines[1:4] == ["# model measured:fake-1.0", "# device paper", "# threads 1"], lines[:4]
    assert any(line.startswith("conv2d ") and "c:f32[" in line for line in lines), "no group in the table"
    assert "sum over operators, measured:fake-1.0" in done.stdout and "fake 1.0, paper, 1 thread" in done.stdout, done.stdout
    refused = rlgo(*SHORT, "--target", FAKE, "--cost.table", table, "--cost.threads", 2, cwd=folder, status=None)
    assert refused.returncode != 0 and "2 threads" in refused.stderr, refused.stderr
    again = rlgo(*SHORT, "--name", "b", "--target", FAKE, "--cost.table", table, "--cost.explore", 0, cwd=folder)
    assert "0 groups of operators timed" in again.stderr, again.stderr


def crash_is_not_the_end_of_the_run(folder):
    """groups with a convolution cannot be timed: they are estimated, and that is said"""
    done = rlgo(*SHORT, "--name", "a", "--cost.explore", 20, "--target", FAKE + " crash=Conv blame", cwd=folder)
    assert "estimated (" in done.stderr, done.stderr
    assert "end to end      not measured under fake 1.0, paper, 1 thread: " in done.stdout, done.stdout  # the whole model holds one
    assert (folder / "runs/a/best.onnx").exists()


def actors_ask_rank_0(folder):
    """two ranks, one measurer"""
    rlgo(*SHORT, "--name", "a", "--cost.explore", 0, "--target", FAKE, cwd=folder, ranks=2)
    assert len((folder / "runs/a/costs.tsv").read_text().splitlines()) > 6


def whole_graphs_are_timed_in_the_target(folder):
    """reward R4, by each rank where it plays"""
    for ranks in (1, 2):
        done = rlgo(*SHORT, "--name", f"r{ranks}", "--cost", "analytic", "--env.reward", "R4", "--target", FAKE, cwd=folder, ranks=ranks)
        assert "fake 1.0, paper, 1 thread" in done.stdout, done.stdout
    died = rlgo(*SHORT, "--name", "c", "--cost", "analytic", "--env.reward", "R4", "--target", FAKE + " crash=Conv", cwd=folder, status=1)
    assert "cannot time the unmodified graph 'toy_conv': " in died.stderr, died.stderr


def latency_as_the_reward(folder):
    """each step times the whole graph; what fails is counted, and never taken for a fast one"""
    latency = [*SHORT, "--cost", "analytic", "--env.reward", "latency", "--cost.repeats", 2]
    for ranks in (1, 2):
        done = rlgo(*latency, "--name", f"r{ranks}", "--target", FAKE, cwd=folder, ranks=ranks)
        result = json.loads((folder / f"runs/r{ranks}/result.json").read_text())
        timings = result["agent"]["timings"]
        assert timings["shown"] > 0 and timings["failed"] == 0, timings
        assert "graphs timed: " in done.stdout and "  latencies    agent " in done.stdout, done.stdout
        ratios = result["cost"]["latency_ratios"]  # a fake model takes as long as its file has bytes
        assert min(r for r in (ratios["agent"], ratios["agent_then_search"], ratios["search"]) if r) <= 1.0 + 1e-6, ratios
    refused = rlgo("--resume", "runs/r1", "--target", FAKE, "--epochs", 2, "--cost.threads", 2, cwd=folder, status=1)
    assert "made under fake 1.0, paper, 1 thread, this run is under fake 1.0, paper, 2 threads" in refused.stderr, refused.stderr


def a_target_that_dies_costs_steps_not_the_run(folder):
    """the operator is in rewritten graphs only: their timings are lost, the run ends as usual"""
    latency = [*SHORT, "--cost", "analytic", "--env.reward", "latency", "--cost.repeats", 2]
    done = rlgo(*latency, "--name", "a", "--target", FAKE + " crash=Clip blame", cwd=folder)
    result = json.loads((folder / "runs/a/result.json").read_text())
    assert result["agent"]["timings"]["failed"] > 0, result["agent"]
    assert "timings of whole graphs failed" in done.stderr, done.stderr
    assert all(not step["rule"].endswith("-to-clip") for step in result["rewrites"][-1:]), result["rewrites"]
    first = rlgo(*latency, "--name", "b", "--target", FAKE + " crash=Conv", cwd=folder, status=1)
    assert "cannot time the unmodified graph 'toy_conv': " in first.stderr, first.stderr


def latencies_are_learned(folder):
    """--wm.kind latency: graphs that promise a gain are timed, the fastest is taken, the next run knows them"""
    options = ["--graph", "toy_conv", "--agent", "model-based", "--wm.kind", "latency", "--learned.graphs", 3, "--cost", "analytic",
               "--cost.repeats", 2, "--check.repeats", 3, "--check.seeds", 1, "--learned.data", "timed.tsv"]
    done = rlgo(*options, "--name", "a", "--target", FAKE, cwd=folder)
    result = json.loads((folder / "runs/a/result.json").read_text())
    assert result["agent"]["timings"]["shown"] > 0, result["agent"]
    assert "learned latency: 3 graphs timed" in done.stdout and "  latencies    agent " in done.stdout, done.stdout
    assert {"seconds", "timings", "best_latency"} <= set(metrics(folder / "runs/a")[0])
    again = rlgo(*options, "--name", "b", "--target", FAKE, cwd=folder)
    assert "known from earlier calls" in again.stdout, again.stdout
    refused = rlgo(*options, "--target", FAKE, "--cost.threads", 2, cwd=folder, status=1)
    assert "timed.tsv" in refused.stderr and "2 threads" in refused.stderr, refused.stderr
    other = ["hybrid" if word == "model-based" else word for word in options]
    assert "--wm.kind latency goes with --agent model-based" in rlgo(*other, "--target", FAKE, cwd=folder, status=2).stderr
    assert "--learners 2: with --wm.kind latency" in rlgo(*options, "--learners", 2, "--target", FAKE, cwd=folder, status=None).stderr
    assert "--wm.timers 2: rank 0 learns, and 1 rank is all" in rlgo(*options, "--wm.timers", 2, "--target", FAKE, cwd=folder, status=2).stderr


def ranks_time_and_search(folder):
    """--wm.kind latency on four ranks: two time, the others search; a target that dies there costs timings, not the run"""
    options = ["--graph", "toy_conv", "--agent", "model-based", "--wm.kind", "latency", "--wm.timers", 2, "--learned.graphs", 12, "--cost.repeats", 2,
               "--check.repeats", 3, "--check.seeds", 1, "--seconds", 20]
    for cost in ("analytic", "measured"):
        done = rlgo(*options, "--cost", cost, "--name", cost, "--target", FAKE, cwd=folder, ranks=4)
        result = json.loads((folder / f"runs/{cost}/result.json").read_text())
        timings = result["agent"]["timings"]
        assert timings["shown"] > 0 and timings["failed"] == 0, timings
        assert "2 of 4 ranks time graphs, 2 search" in done.stderr and (folder / f"runs/{cost}/timed.tsv").exists(), done.stderr
    rlgo(*options, "--cost", "analytic", "--name", "dies", "--target", FAKE + " crash=Clip blame", cwd=folder, ranks=4)
    dies = json.loads((folder / "runs/dies/result.json").read_text())
    assert dies["agent"]["timings"]["failed"] > 0 and all(not step["rule"].endswith("-to-clip") for step in dies["rewrites"][-1:]), dies["agent"]


def a_run_folder_runs_no_command(folder):
    """A run folder may be somebody else's: the command in its config.cfg is not run, by resume, replay or evaluate."""
    rlgo(*SHORT, "--name", "a", "--cost", "analytic", cwd=folder)
    config = folder / "runs/a/config.cfg"
    text = config.read_text()
    for option in ("target", "target.python"):
        lines = [f"{option} = touch harm" if line.split("=")[0].strip() == option else line for line in text.splitlines()]
        assert lines != text.splitlines(), option
        config.write_text("\n".join(lines) + "\n")
        for command in (["--resume", "runs/a"], ["replay", "runs/a"], ["evaluate", "--checkpoint", "runs/a"]):
            done = rlgo(*command, cwd=folder, status=1)
            assert "runs/a: its config.cfg asks to run 'touch harm'" in done.stderr and f"--{option} " in done.stderr, done.stderr
        assert not (folder / "harm").exists()


def wrong_targets_are_reported(folder):
    """one line with the remedy"""
    for options, words in (
        (["--target", "onnxrunti"], "did you mean 'onnxruntime'?"),
        (["--target", FAKE + " missing"], "install the PyPI package fake"),
    ):
        error = rlgo(*SHORT, *options, cwd=folder, status=None)
        assert error.returncode != 0 and words in error.stderr, error.stderr


def a_signal_ends_the_wait_for_a_target(folder):
    """a target that never says hello is not waited for after SIGTERM"""
    slow = folder / "slow.py"
    slow.write_text("import pathlib, time\npathlib.Path('began').touch()\ntime.sleep(600)\n")
    onnx.save(onnx.parser.parse_model('<ir_version: 8, opset_import: ["": 17]> g (float[2] x) => (float[2] y) { y = Relu(x) }'), folder / "m.onnx")
    process = start("optimise", "m.onnx", "--target", f"'{sys.executable}' slow.py", cwd=folder)
    wait_until("the target's start", (folder / "began").exists, process=process)
    began = time.monotonic()
    process.send_signal(signal.SIGTERM)
    try:
        assert process.wait(timeout=STOP_S) == 1
    finally:
        process.kill()
    assert time.monotonic() - began < 50, "waited for the target's own limit"
    output = (folder / "output.txt").read_text()
    assert "slow.py': stopped while measuring" in output, output


if __name__ == "__main__":
    main(prices_and_times_are_the_targets, crash_is_not_the_end_of_the_run, actors_ask_rank_0, whole_graphs_are_timed_in_the_target, latency_as_the_reward, a_target_that_dies_costs_steps_not_the_run, latencies_are_learned, ranks_time_and_search, a_run_folder_runs_no_command, wrong_targets_are_reported, a_signal_ends_the_wait_for_a_target)
