"""--target: costs and final times of a runtime behind a measurer, also where that crashes, and on several ranks."""
import signal
import sys
import time

import onnx
import onnx.parser
from _rlgo import SOURCE, STOP_S, main, rlgo, start, wait_until

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
    assert "fake 1.0 cannot time the whole graph: " in died.stderr, died.stderr


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


def wrong_targets_are_told(folder):
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
    main(prices_and_times_are_the_targets, crash_is_not_the_end_of_the_run, actors_ask_rank_0, whole_graphs_are_timed_in_the_target, a_run_folder_runs_no_command, wrong_targets_are_told, a_signal_ends_the_wait_for_a_target)
