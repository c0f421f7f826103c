"""rlgo compare: which of two models is faster, and whether they compute the same; its exit status is for build scripts."""
import json

import onnx
from _rlgo import main, rlgo
from _schemas import read
from onnx import TensorProto, helper
from optimise import fake, two_convs

BRIEF = ["--target", "libtorch", "--seconds", 1, "--rounds", 12]


def chain(path, length, shape=("n", 64), factor=1.0, output="y", dtype=TensorProto.FLOAT):
    """`length` times tanh, then a factor: the longer, the slower."""
    nodes = [helper.make_node("Tanh", [f"t{k}" if k else "x"], [f"t{k + 1}"]) for k in range(length)]
    nodes.append(helper.make_node("Mul", [f"t{length}" if length else "x", "f"], [output]))
    graph = helper.make_graph(nodes, "chain", [helper.make_tensor_value_info("x", dtype, shape)], [helper.make_tensor_value_info(output, dtype, shape)],
                              [helper.make_tensor("f", dtype, [], [factor])])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def same(folder):
    """a file against itself: same outputs, not slower, status 0; the document says the same"""
    chain(folder / "a.onnx", 3)
    done = rlgo("compare", "a.onnx", "a.onnx", *BRIEF, "--json", "c.json", cwd=folder)
    found = read(folder / "c.json", "compare")
    assert "same outputs" in done.stdout, done.stdout
    assert found["same_outputs"] and not found["too_slow"] and found["exit_status"] == 0, found
    assert found["latency"]["rounds"] >= 12 and found["checks"][0]["relative_error"] == 0, found


def slower(folder):
    """a chain that is 40 times as long: status 3, and 0 where --limit allows it; the other way round it is faster"""
    chain(folder / "short.onnx", 5, (256, 256))
    chain(folder / "long.onnx", 200, (256, 256))
    other = rlgo("compare", "short.onnx", "long.onnx", *BRIEF, cwd=folder, status=1)
    assert "OTHER OUTPUTS" in other.stdout and "SLOWER" in other.stdout, other.stdout
    times = ["--target", fake(), "--seconds", 1]  # answers times by operators, and no outputs
    done = rlgo("compare", "short.onnx", "long.onnx", *times, cwd=folder, status=3)
    assert done.stdout.startswith("SLOWER") and "outputs not compared" in done.stdout, done.stdout
    rlgo("compare", "short.onnx", "long.onnx", *times, "--limit", 1000, cwd=folder)
    done = rlgo("compare", "long.onnx", "short.onnx", *times, cwd=folder)
    assert "x as fast" in done.stdout.splitlines()[0], done.stdout


def other_outputs(folder):
    """a factor of 1.01 against a tolerance of 0.0001: status 1; with --tolerance 0.1 status 0"""
    chain(folder / "a.onnx", 1)
    chain(folder / "b.onnx", 1, factor=1.01)
    done = rlgo("compare", "a.onnx", "b.onnx", *BRIEF, "--json", "c.json", cwd=folder, status=1)
    assert "OTHER OUTPUTS" in done.stdout and json.loads((folder / "c.json").read_text())["same_outputs"] is False, done.stdout
    rlgo("compare", "a.onnx", "b.onnx", *BRIEF, "--tolerance", 0.1, "--limit", 1000, cwd=folder)


def sizes(folder):
    """an open dimension has the size that the other model fixes, either way; --size and --dim hold for both"""
    chain(folder / "open.onnx", 1)
    chain(folder / "fixed.onnx", 1, (7, 64))
    for pair, given, expected in ((("open", "fixed"), [], {"n": 7}), (("fixed", "open"), [], {}), (("open", "open"), ["--size", "n=5"], {"n": 5}), (("open", "open"), ["--dim", "n=1"], {})):
        rlgo("compare", *(f"{name}.onnx" for name in pair), *BRIEF, *given, "--limit", 1000, "--json", "c.json", cwd=folder)
        assert read(folder / "c.json", "compare")["sizes"] == expected, (pair, given)


def refused(folder):
    """other inputs or outputs, a file that is missing, one model, a limit below 1: one line that names it"""
    chain(folder / "a.onnx", 1)
    chain(folder / "renamed.onnx", 1, output="z")
    chain(folder / "double.onnx", 1, dtype=TensorProto.DOUBLE)
    chain(folder / "wide.onnx", 1, ("n", 65))
    two_convs(folder / "toy.onnx")
    for words, status, message in ((["a.onnx", "renamed.onnx"], 1, "renamed.onnx: has output 'z'"), (["a.onnx", "double.onnx"], 1, "double.onnx: has input 'x' (f64"),
                                   (["a.onnx", "wide.onnx"], 1, "wide.onnx: has input 'x'"), (["a.onnx", "toy.onnx"], 1, "toy.onnx: has input"),
                                   (["a.onnx", "none.onnx"], 1, "none.onnx: no such file"), (["a.onnx"], 2, "compare takes two models"),
                                   (["a.onnx", "a.onnx", "--limit", 0.5], 2, "limit")):
        done = rlgo("compare", *words, *BRIEF, cwd=folder, status=status)
        assert message in done.stderr and len(done.stderr.strip().splitlines()) == 1, (words, done.stderr)


if __name__ == "__main__":
    main(same, slower, other_outputs, sizes, refused)
