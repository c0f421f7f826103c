"""rlgo optimise: faster models are written, others are not; exit status 0, 3, 1; one line for bad input."""
import json
import os
import re
import sys
import time
import zlib

import numpy as np
import onnx
from _rlgo import SOURCE, assert_same_model, environment, interrupt, main, rlgo, start, wait_until

HELPER = onnx.helper
# Little is measured and nothing kept between tests.
BRIEF = ["--cost.folder", "", "--check.repeats", "48", "--seconds", "20", "--method", "greedy"]
QUICK = [*BRIEF, "--verbose"]
LIBTORCH = ["--target", "libtorch", *QUICK]


def fake(*wrongs):
    """--target: a measurer that times nothing; a model takes as long as its file is large"""
    return " ".join(f"'{word}'" for word in (sys.executable, f"{SOURCE}/tests/core/measure/_fake_measurer.py", *wrongs))


def weight(name, *shape):
    rng = np.random.default_rng(zlib.crc32(name.encode()))  # equal weights would be merged
    return onnx.numpy_helper.from_array((rng.standard_normal(shape) * 0.1).astype("float32"), name)


def save(path, nodes, weights, shape, opset=17):
    """One input x and one output y of the same shape."""
    values = [HELPER.make_tensor_value_info(name, 1, shape) for name in "xy"]
    graph = HELPER.make_graph(nodes, "toy", values[:1], values[1:], weights)
    onnx.save(HELPER.make_model(graph, opset_imports=[HELPER.make_opsetid("", opset)], ir_version=8), path)
    return path


def two_convs(path, channels=32):
    """conv(x) + conv(x): one convolution does the same at half the price."""
    node = HELPER.make_node
    nodes = [node("Conv", ["x", "w1"], ["a"], pads=[1] * 4), node("Conv", ["x", "w2"], ["b"], pads=[1] * 4), node("Add", ["a", "b"], ["c"]), node("Relu", ["c"], ["y"])]
    return save(path, nodes, [weight("w1", channels, channels, 3, 3), weight("w2", channels, channels, 3, 3)], [1, channels, 56, 56])


def one_relu(path):
    return save(path, [HELPER.make_node("Relu", ["x"], ["y"])], [], [1, 8, 16, 16])


def obvious_gain(folder):
    """status 0, the same outputs, fewer operators, and the output says what was done"""
    two_convs(folder / "toy.onnx")
    done = rlgo("optimise", "toy.onnx", "-o", "faster.onnx", *LIBTORCH, cwd=folder)
    assert_same_model(folder / "toy.onnx", folder / "faster.onnx")
    assert [n.op_type for n in onnx.load(folder / "faster.onnx").graph.node].count("Conv") == 1
    for word in ("1 x sum-of-convs-shared-input", "conv2d 2 -> 1", "end to end", "improved", "faster.onnx", "largest relative error"):
        assert word in done.stdout, (word, done.stdout)


def under_onnxruntime(folder):
    """the same with times of ONNX Runtime"""
    two_convs(folder / "toy.onnx")
    done = rlgo("optimize", "toy.onnx", "-o", "faster.onnx", "--target", "onnxruntime", *QUICK, cwd=folder, status=None)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "onnxruntime" in done.stdout and (folder / "faster.onnx").exists()


def nothing_to_find(folder):
    """status 3 and no file; --force writes it all the same"""
    one_relu(folder / "relu.onnx")
    done = rlgo("optimise", "relu.onnx", "-o", "out.onnx", *LIBTORCH, cwd=folder, status=3)
    assert "nothing found" in done.stdout and "nothing (--force" in done.stdout, done.stdout
    assert os.listdir(folder) == ["relu.onnx"]
    rlgo("optimise", "relu.onnx", "-o", "out.onnx", "--force", *LIBTORCH, cwd=folder, status=3)
    assert_same_model(folder / "relu.onnx", folder / "out.onnx")


def slower_is_not_written(folder):
    """the rewritten model takes three times as long: status 3 and no file; --force writes it"""
    two_convs(folder / "toy.onnx")
    target = ["--target", fake("slow=candidate-"), "--cost", "analytic", *QUICK]
    done = rlgo("optimise", "toy.onnx", "-o", "out.onnx", *target, cwd=folder, status=3)
    assert "nothing found" in done.stdout and "fake 1.0, 2 inputs: not checked" in done.stdout, done.stdout
    assert "this measurer answers no outputs" in done.stdout and "rlgo in double precision" in done.stdout, done.stdout
    assert os.listdir(folder) == ["toy.onnx"]
    rlgo("optimise", "toy.onnx", "-o", "out.onnx", "--force", *target, cwd=folder, status=3)
    assert_same_model(folder / "toy.onnx", folder / "out.onnx")


def faster_in_some_processes_is_not_written(folder):
    """half of the time in one process of the runtime, three halves in the next: status 3 and no file"""
    two_convs(folder / "toy.onnx")
    target = fake("outputs", "moody=candidate-", f"starts={folder}/starts.txt")
    done = rlgo("optimise", "toy.onnx", "-o", "out.onnx", "--target", target, "--cost", "analytic", *QUICK, cwd=folder, status=3)
    assert "is not shown to be faster" in done.stdout and "fresh processes; the interval is that of a further process" in done.stdout, done.stdout
    assert len((folder / "starts.txt").read_text()) >= 4 and not (folder / "out.onnx").exists()


def outputs_of_the_target_count(folder):
    """LibTorch agrees, but the runtime itself answers something else: candidates are given up, and nothing is written"""
    two_convs(folder / "toy.onnx")
    target = ["--cost", "analytic", *QUICK]
    done = rlgo("optimise", "toy.onnx", "-o", "out.onnx", "--target", fake("outputs", "differs=candidate-"), *target, cwd=folder, status=3)
    assert "is dropped: fake 1.0, 2 inputs" in done.stderr and "no rewritten model passed the checks" in done.stdout, done.stdout
    assert os.listdir(folder) == ["toy.onnx"]
    done = rlgo("optimise", "toy.onnx", "-o", "out.onnx", "--target", fake("outputs"), *target, cwd=folder)
    assert "fake 1.0, 2 inputs: largest relative error 0" in done.stdout, done.stdout


def prices_are_measured_in_batches(folder):
    """many groups in a request: the searches gather what they do not know"""
    rng = np.random.default_rng(0)
    nodes, weights, last = [], [], "x"
    for k in range(12):  # of different sizes
        width = [8, 12, 16, 20][k % 4]
        before = [20, 8, 12, 16][k % 4] if k else 8
        weights.append(onnx.numpy_helper.from_array((rng.standard_normal((width, before, 3, 3)) * 0.1).astype("float32"), f"w{k}"))
        nodes += [HELPER.make_node("Conv", [last, f"w{k}"], [f"c{k}"], pads=[1] * 4), HELPER.make_node("Mul", [f"c{k}", "s"], [f"m{k}"]),
                  HELPER.make_node("Relu", [f"m{k}"], [f"r{k}"])]
        last = f"r{k}"
    weights += [onnx.numpy_helper.from_array(np.array(0.5, "float32"), "s"), weight("last", 8, 20, 1, 1)]
    save(folder / "toy.onnx", [*nodes, HELPER.make_node("Conv", [last, "last"], ["y"])], weights, [1, 8, 16, 16])
    done = rlgo("optimise", "toy.onnx", "--target", fake("outputs", f"log={folder}/log.txt"), *QUICK, cwd=folder, status=None)
    assert done.returncode in (0, 3), done.stderr
    requests = [line.split() for line in (folder / "log.txt").read_text().splitlines()]
    sizes = [int(count) - 1 for what, count in requests if what == "measure"]  # one is the empty model
    measured = int(done.stdout.split(" measured now")[0].split()[-1])
    assert sum(sizes) == measured >= 20 and len(sizes) <= measured // 3, (sizes, measured)


def late_races_are_left_out(folder):
    """comparisons take half of all time each: the model alone, the loads of the final one that fit into the bound, and none between; where the time went is reported"""
    two_convs(folder / "toy.onnx")
    target = fake("outputs", "pause=2", f"log={folder}/log.txt")
    done = rlgo("optimise", "toy.onnx", "--target", target, "--cost", "analytic", "--cost.folder", "", "--seconds", "3", "--verbose", cwd=folder, status=None)
    assert done.returncode in (0, 3), done.stderr
    requests = [line.split()[:2] for line in (folder / "log.txt").read_text().splitlines()]
    compared = [int(count) for what, count in requests if what == "compare"]
    assert compared[0] == 1 and set(compared[1:]) == {2} and 1 <= len(compared[1:]) <= 3, requests
    reported = next(line for line in done.stdout.splitlines() if line.startswith("time "))
    for word in ("more than was asked for", "timing the model", "final measurement"):
        assert word in reported, reported


def values_of_inputs(folder):
    """what the measurer assumed for an input is said, and all later models get it; --input comes first"""
    two_convs(folder / "toy.onnx")
    target = ["--target", fake("outputs", "assumes=x", f"log={folder}/log.txt"), "--cost", "analytic", *QUICK]
    done = rlgo("optimise", "toy.onnx", *target, cwd=folder, status=None)
    assert done.returncode in (0, 3), done.stderr
    assert "x = 16000: assumed" in done.stdout, done.stdout
    lines = [line for line in (folder / "log.txt").read_text().splitlines() if line.startswith(("compare", "outputs"))]
    assert "{" not in lines[0] and all('{"x": [16000.0]}' in line for line in lines[1:]), lines
    (folder / "log.txt").unlink()
    done = rlgo("optimise", "toy.onnx", *target, "--input", "x=8000", cwd=folder, status=None)
    assert "x = 8000" in done.stdout and "assumed" not in done.stdout, done.stdout
    lines = [line for line in (folder / "log.txt").read_text().splitlines() if line.startswith(("compare", "outputs"))]
    assert lines and all('{"x": [8000.0]}' in line for line in lines), lines


def bad_input(folder):
    """one line that names the file or the option, status 1, nothing written"""
    one_relu(folder / "relu.onnx")
    (folder / "text.onnx").write_text("no model")
    cases = {
        ("none.onnx",): (1, "none.onnx: no such file"),
        ("text.onnx",): (1, "text.onnx"),
        (): (2, "no model is given"),
        ("relu.onnx", "relu.onnx"): (2, "one model"),
        ("relu.onnx", "-o", "relu.onnx"): (1, "the model itself"),
        ("relu.onnx", "-o", "none/out.onnx"): (1, "no folder"),
        ("relu.onnx", "--method", "tasso"): (2, "did you mean 'taso'"),
        ("relu.onnx", "--seconds", "0"): (2, "out of bounds"),
        ("relu.onnx", "--input", "sr=1"): (1, "no input 'sr'"),
        ("relu.onnx", "--target", "false"): (1, "false"),
    }
    for arguments, (status, word) in cases.items():
        quick = [] if arguments[-2:-1] and arguments[-2] in ("--target", "--seconds", "--method") else LIBTORCH
        done = rlgo("optimise", *arguments, *quick, cwd=folder, status=status)
        errors = [line for line in done.stderr.splitlines() if "error: " in line]
        assert len(errors) == 1 and word in errors[0], (arguments, done.stderr)
    assert sorted(os.listdir(folder)) == ["relu.onnx", "text.onnx"]


def verdict_first(folder):
    """the verdict first, then a table of before and after; --quiet leaves that alone, and nothing on standard error; --verbose shows all"""
    two_convs(folder / "toy.onnx")
    brief = ["optimise", "toy.onnx", "-o", "f.onnx", "--report", "r.html", "--target", "libtorch", *BRIEF]
    lines = rlgo(*brief, cwd=folder).stdout.splitlines()
    assert "  conv2d                 2           1" in "\n".join(lines) and re.match(r"\d+\.\d\dx faster \(\d+\.\d\d to [\d.?]+\), same outputs \(2 checks; ", lines[0]), lines
    assert any("sum-of-convs-shared-input" in line for line in lines) and any("r.html" in line for line in lines), lines
    quiet = rlgo(*brief, "--quiet", cwd=folder)
    assert len(quiet.stdout.splitlines()) == 1 and "x faster" in quiet.stdout and not quiet.stderr, quiet
    assert len(rlgo(*brief, "--verbose", cwd=folder).stdout.splitlines()) > 10
    assert "exclude" in rlgo(*brief, "--quiet", "--verbose", cwd=folder, status=2).stderr


def interrupted(folder):
    """Ctrl-C ends the search, and the best so far is checked and written where two seconds are enough for it"""
    # Large enough that the search itself is not over before the signal.
    rng = np.random.default_rng(0)
    node = HELPER.make_node
    nodes, weights, last = [], [], "x"
    for k in range(40):
        weights.append(onnx.numpy_helper.from_array((rng.standard_normal((48, 48)) * 0.1).astype("float32"), f"w{k}"))
        nodes.append(node("MatMul", [last, f"w{k}"], [f"m{k}"]))
        nodes.append(node("Add", [f"m{k}", "x"], ["y" if k == 39 else f"a{k}"]))
        last = f"a{k}"
    save(folder / "deep.onnx", nodes, weights, [48, 48])
    process = start("optimise", "deep.onnx", "-o", "out.onnx", "--target", "libtorch", "--cost.folder", "", "--check.repeats", "5", "--seconds", "600", "--method", "beam", "--force", cwd=folder)
    wait_until("the search", lambda: "search (beam)" in (folder / "output.txt").read_text(), process=process)
    status = interrupt(process)
    text = (folder / "output.txt").read_text()
    assert status in (0, 3) and "(interrupted)" in text, text
    if (folder / "out.onnx").exists():  # a busy machine does not check it in that time
        assert_same_model(folder / "deep.onnx", folder / "out.onnx")
    else:
        assert "no time to check" in text, text


def a_signal_ends_each_phase(folder):
    """Ctrl-C while the target times the model or operators, or runs the check: it is not waited for; what cannot be checked is not written"""
    two_convs(folder / "toy.onnx")
    for kind in ("compare", "measure", "outputs"):
        log = folder / kind
        process = start("optimise", "toy.onnx", "-o", f"{kind}.onnx", "--target", fake("outputs", f"stuck={kind}", f"log={log}"), *BRIEF, cwd=folder)
        wait_until(kind, lambda: log.exists() and f"{kind} " in log.read_text(), process=process)
        began = time.monotonic()
        status = interrupt(process)
        assert status == 3 or (status == 0 and kind == "measure"), (folder / "output.txt").read_text()
        assert time.monotonic() - began < 50, f"{kind}: waited for the child's own limit"
        assert "(interrupted)" in (folder / "output.txt").read_text() and (folder / f"{kind}.onnx").exists() == (status == 0)


def prices_are_kept(folder):
    """a second call knows what the first one measured"""
    two_convs(folder / "toy.onnx", channels=8)
    options = ["--target", "libtorch", "--cost.folder", "prices", "--check.repeats", "5", "--method", "greedy", "--seconds", "20"]
    first = rlgo("optimise", "toy.onnx", *options, "--verbose", cwd=folder, status=None)
    again = rlgo("optimise", "toy.onnx", *options, "--verbose", cwd=folder, status=None)
    measured = int(first.stdout.split(" measured now")[0].split()[-1])
    assert measured > 0 and " 0 known" in first.stdout and f" {measured} known" in again.stdout, first.stdout + again.stdout
    (table,) = (folder / "prices").iterdir()
    table.write_text("no table")
    assert "starts again" in rlgo("optimise", "toy.onnx", *options, "--verbose", cwd=folder, status=None).stderr


def removed_method(folder):
    """--method learned is refused with the reason and the last revision that had it"""
    two_convs(folder / "toy.onnx", channels=8)
    refused = rlgo("optimise", "toy.onnx", "--method", "learned", cwd=folder, status=2).stderr
    assert "results/learned.md" in refused and "50f90c9" in refused, refused


def learns_while_it_searches(folder):
    """--method train: the agent's search stands next to the others, and begins where they ended"""
    two_convs(folder / "toy.onnx", channels=8)
    options = ["--target", fake("outputs"), "--cost", "analytic", "--cost.folder", "", "--check.repeats", "5", "--seconds", "12", "--budget", "500", "--method", "train"]
    rlgo("optimise", "toy.onnx", *options, "--json", "told.json", cwd=folder, status=None)
    reported = json.loads((folder / "told.json").read_text())
    (agent,) = [run for run in reported["searches"] if run["method"] == "train"]
    assert agent["graphs"] > 0 and agent["ended_by"] == "stopped" and agent["after_us"] <= min(run["after_us"] for run in reported["searches"]) * (1 + 1e-9), reported["searches"]


if __name__ == "__main__":
    main(learns_while_it_searches, verdict_first, obvious_gain, under_onnxruntime, nothing_to_find, slower_is_not_written, faster_in_some_processes_is_not_written, outputs_of_the_target_count, prices_are_measured_in_batches, late_races_are_left_out, values_of_inputs, bad_input, interrupted, a_signal_ends_each_phase, prices_are_kept, removed_method)
