"""rlgo optimise: what it reports of normalisations, and of how far a check goes."""
import json

import numpy as np
import onnx
from _rlgo import main, rlgo

NODE, INFO, ARRAY = onnx.helper.make_node, onnx.helper.make_tensor_value_info, onnx.numpy_helper.from_array
QUICK = ["--cost.folder", "", "--check.repeats", "5", "--seconds", "20", "--method", "greedy", "--target", "libtorch", "--verbose"]


def save(path, nodes, weights, output=None, shape=(1, 8, 16, 16)):
    graph = onnx.helper.make_graph(nodes, "toy", [INFO("x", 1, shape)], [INFO(*output or ("y", 1, shape))], weights)
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8), path)


def convolutions(last):
    """conv(x) + conv(x), with equal biases, and an Identity behind: something to rewrite, and to normalise."""
    rng = np.random.default_rng(0)
    weights = [ARRAY((rng.standard_normal((8, 8, 3, 3)) * 0.1).astype("float32"), name) for name in ("w1", "w2")]
    weights += [ARRAY(np.full(8, 0.5, "float32"), name) for name in ("b1", "b2")]
    nodes = [NODE("Conv", ["x", "w1", "b1"], ["a"], pads=[1] * 4), NODE("Conv", ["x", "w2", "b2"], ["b"], pads=[1] * 4),
             NODE("Add", ["a", "b"], ["c"], name="sum"), NODE("Identity", ["c"], [last], name="twin")]
    return nodes, weights


def normalisations(folder):
    """counts are printed, and the page names what the import did without, one by one"""
    nodes, weights = convolutions("d")
    save(folder / "toy.onnx", [*nodes, NODE("Relu", ["d"], ["y"])], weights)
    done = rlgo("optimise", "toy.onnx", "--report", "page.html", *QUICK, cwd=folder, status=None)
    assert done.returncode in (0, 3), done.stderr
    assert "normalised: 1 merged with equal ones (initialiser 1), 1 bypassed (Identity 1)" in done.stdout, done.stdout
    assert "at export: " in done.stdout and "operators on weights alone computed into" in done.stdout, done.stdout
    page = (folder / "page.html").read_text()
    for words in ("what the import did without, 2 in all", "bypassed Identity &#39;twin&#39;", "merged initialiser", "computed at export"):
        assert words.replace("&#39;", "'") in page.replace("&#39;", "'").replace("&apos;", "'"), words


def unknown_operators(folder):
    """where all outputs stand behind an operator that rlgo does not compute, the check says what it is worth"""
    nodes, weights = convolutions("d")
    save(folder / "toy.onnx", [*nodes, NODE("Hardmax", ["d"], ["y"])], weights)
    done = rlgo("optimise", "toy.onnx", "-o", "out.onnx", "--force", *QUICK, cwd=folder, status=None)
    assert done.returncode in (0, 3), done.stderr
    assert "in front of operators that rlgo does not compute (Hardmax 1): synthetic functions stand for these" in done.stdout, done.stdout


def nothing_is_compared(folder):
    """an output of integers that rlgo does not compute: the replaced values themselves are compared, and that is said"""
    nodes, weights = convolutions("d")
    save(folder / "toy.onnx", [*nodes, NODE("QuantizeLinear", ["d", "s"], ["y"])], [*weights, ARRAY(np.float32(0.1), "s")], ("y", 2, [1, 8, 16, 16]))
    done = rlgo("optimise", "toy.onnx", "-o", "out.onnx", *QUICK, cwd=folder, status=None)
    assert done.returncode in (0, 3), done.stderr
    assert "nothing is compared at the outputs; all values that rewrites replaced were compared" in done.stdout, done.stdout


def wrong_rule(folder, nodes, words):
    """relu(relu x) -> -x, claimed to be proved: status 1, no model, and what shows it is left"""
    (folder / "wrong.rules").write_text("rule wrong\n  ?y = (relu (relu ?x))\n  => ?y = (neg ?x)\n")
    save(folder / "toy.onnx", nodes, [ARRAY(np.array(1e12, "float32"), "big"), ARRAY(np.array(np.nan, "float32"), "nan")])
    done = rlgo("optimise", "toy.onnx", "-o", "out.onnx", "--force", "--rules", "wrong.rules", *QUICK, cwd=folder, status=1)
    assert "1 of 1 rewrites is wrong: wrong" in done.stderr and words in done.stderr, done.stderr
    assert not (folder / "out.onnx").exists()
    assert sorted(p.name for p in (folder / "rlgo-wrong-rewrite").iterdir()) == ["after.onnx", "before.onnx", "trace.txt"]
    part = onnx.load(folder / "rlgo-wrong-rewrite/before.onnx")
    assert [n.op_type for n in part.graph.node] == ["Relu", "Relu"], part


def behind_nan(folder):
    """all outputs NaN: what was replaced is compared, and is wrong"""
    wrong_rule(folder, [NODE("Relu", ["x"], ["a"]), NODE("Relu", ["a"], ["b"]), NODE("Mul", ["b", "nan"], ["y"])], "value of relu")


def behind_saturation(folder):
    """a softmax of 1e12 x is 0 and 1 whatever stands before it"""
    wrong_rule(folder, [NODE("Relu", ["x"], ["a"]), NODE("Relu", ["a"], ["b"]), NODE("Mul", ["b", "big"], ["c"]),
                        NODE("Softmax", ["c"], ["y"], axis=1)], "does not compute the same")


def no_time(folder):
    """a second is over when the runtime has started: the search by formula is done all the same"""
    nodes, weights = convolutions("y")
    save(folder / "toy.onnx", nodes, weights)
    target = ["--target", "onnxruntime", "--cost", "analytic", "--cost.folder", "", "--check.repeats", "5", "--seconds", "1", "--method", "sweep", "--verbose"]
    done = rlgo("optimise", "toy.onnx", *target, cwd=folder, status=None)
    assert done.returncode in (0, 3) and "sum-of-convs" in done.stdout, done.stdout + done.stderr


def learned_prices(folder):
    """a PReLU is expensive under ONNX Runtime: what is learned knows that, a formula does not; neither times anything for it"""
    weights = [ARRAY(np.random.default_rng(0).standard_normal((64, 64, 3, 3)).astype("float32"), "w"), ARRAY(np.full((64, 1, 1), 0.1, "float32"), "a")]
    nodes = [NODE("Conv", ["x", "w"], ["c"], pads=[1, 1, 1, 1]), NODE("PRelu", ["c", "a"], ["y"])]
    save(folder / "toy.onnx", nodes, weights, shape=[1, 64, 56, 56])
    command = ["optimise", "toy.onnx", "--target", "onnxruntime", "--seconds", "2", "--method", "sweep", "--cost.folder", "", "--verbose", "--json", "t.json"]
    for more, words, gains in (([], "learned prices", True), (["--cost.learned", "no"], "a formula", False)):
        done = rlgo(*command, *more, cwd=folder, status=None)
        assert done.returncode in (0, 3) and f"; what is not timed: {words}" in done.stdout, done.stdout + done.stderr
        reported = json.loads((folder / "t.json").read_text())
        first = [s for s in reported["searches"] if s["from"] == ("the model (by learned prices)" if gains else "the model (by formula)")]
        assert reported["cost"]["begins_learned"] == gains and reported["cost"]["estimates"] == words and bool(reported["cost"]["learned_on"]) == gains and (first[0]["after_us"] < 0.99 * first[0]["before_us"]) == gains, reported["searches"]


def small_promises(folder):
    """what learned prices promise within their error is refined only where whole models ran faster: else the search by formula stands"""
    kernel = np.random.default_rng(1).standard_normal((16, 3, 3, 3)).astype("float32")
    weights = [ARRAY(kernel, "w"), ARRAY(np.full((16, 1, 1), 0.5, "float32"), "s"), ARRAY(np.array(2, "float32"), "two")]
    nodes = [NODE("Conv", ["x", "w"], ["c"]), NODE("Mul", ["c", "s"], ["d"]), NODE("Relu", ["d"], ["r"]), NODE("Mul", ["r", "two"], ["y"])]
    save(folder / "toy.onnx", nodes, weights, ("y", 1, [1, 16, 94, 94]), [1, 3, 96, 96])
    rlgo("optimise", "toy.onnx", "--target", "onnxruntime", "--seconds", "2", "--cost.folder", "", "--json", "t.json", cwd=folder, status=None)
    reported = json.loads((folder / "t.json").read_text())
    formula, *learned = [s for s in reported["searches"] if "(by " in s["from"]]
    assert formula["from"] == "the model (by formula)" and formula["after_us"] < formula["before_us"], formula
    promised = min(s["after_us"] for s in learned) / learned[0]["before_us"]
    refined = [c for c in reported["candidates"] if "learned prices, then" in c["name"]]
    assert promised > 0.95 and (not refined or all(c["ratio"] for c in reported["candidates"] if c["name"].endswith("learned prices"))), (promised, reported["candidates"])


if __name__ == "__main__":
    main(learned_prices, small_promises, normalisations, unknown_operators, nothing_is_compared, behind_nan, behind_saturation, no_time)
