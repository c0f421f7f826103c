"""Files do not grow without a reason: constants of a few bytes that make megabytes stay operators, in any spelling."""
import numpy as np
import onnx
from _rlgo import SOURCE, assert_same_model, main, rlgo

HELPER, NODE, KIB = onnx.helper, onnx.helper.make_node, 1024
N = 512  # N x N floats are 1 MiB


def array(name, values, dtype="int64"):
    return onnx.numpy_helper.from_array(np.asarray(values, dtype=dtype), name)


def save(path, nodes, weights):
    """y = x + m, where `nodes` make m [N, N]"""
    square = [HELPER.make_tensor_value_info(name, 1, [N, N]) for name in "xy"]
    nodes = [NODE("Relu", ["x"], ["r"]), NODE("Relu", ["r"], ["s"]), *nodes, NODE("Add", ["s", "m"], ["y"])]
    weights = [*weights, array("n", N), array("zero", 0), array("one", 1), array("nn", [N, N]), array("half", 0.5, "float32"), array("low", -1e4, "float32")]
    read = {name for node in nodes for name in node.input}
    graph = HELPER.make_graph(nodes, "g", square[:1], square[1:], [w for w in weights if w.name in read])
    onnx.save(HELPER.make_model(graph, opset_imports=[HELPER.make_opsetid("", 17)], ir_version=8), path)


def replayed(folder, nodes, weights=()):
    """The file without rewrites: what import and export make of the constants alone."""
    save(folder / "m.onnx", nodes, weights)
    (folder / "none.trace").write_text("rlgo-trace 1\n# m.onnx\n")
    rlgo("replay", "--graph", "m.onnx", "--cost", "analytic", "--rules", SOURCE / "configs/rules/base.rules", "--trace", "none.trace", "--out", "out.onnx", cwd=folder)
    assert_same_model(folder / "m.onnx", folder / "out.onnx")
    before, after = ((folder / name).stat().st_size for name in ("m.onnx", "out.onnx"))
    assert after <= before + 64 * KIB, (before, after, [n.op_type for n in onnx.load(folder / "out.onnx").graph.node])
    return before, after


def masks(folder):
    """Trilu; Range, Less and Where; OneHot; EyeLike: causal masks"""
    fill = NODE("ConstantOfShape", ["nn"], ["c"], value=HELPER.make_tensor("v", 1, [1], [-1e4]))
    rows = [NODE("Range", ["zero", "n", "one"], ["i"]), NODE("Unsqueeze", ["i", "first"], ["a"]), NODE("Unsqueeze", ["i", "second"], ["b"])]
    axes = [array("first", [0]), array("second", [1])]
    replayed(folder, [fill, NODE("Trilu", ["c", "one"], ["m"], upper=1)])
    replayed(folder, [*rows, NODE("Less", ["b", "a"], ["t"]), NODE("Where", ["t", "low", "half"], ["m"])], axes)
    replayed(folder, [*rows, NODE("LessOrEqual", ["b", "a"], ["t"]), NODE("Cast", ["t"], ["f"], to=1), NODE("Mul", ["f", "low"], ["g"]), NODE("Exp", ["g"], ["m"])], axes)
    replayed(folder, [rows[0], NODE("OneHot", ["i", "n", "two"], ["m"])], [array("two", [0, 1], "float32")])
    replayed(folder, [NODE("ConstantOfShape", ["nn"], ["c"]), NODE("EyeLike", ["c"], ["m"])])


def broadcasts(folder):
    """Expand, Tile, Pad, Gather, Concat and arithmetic that broadcasts"""
    row, column = array("row", np.arange(N), "float32"), array("column", np.arange(N)[:, None], "float32")
    replayed(folder, [NODE("Expand", ["row", "nn"], ["e"]), NODE("Sqrt", ["e"], ["f"]), NODE("Mul", ["f", "half"], ["m"])], [row])
    replayed(folder, [NODE("Add", ["row", "column"], ["q"]), NODE("Sqrt", ["q"], ["m"])], [row, column])
    replayed(folder, [NODE("Tile", ["square", "times"], ["t"]), NODE("Exp", ["t"], ["m"])], [array("square", np.ones((2, 2)), "float32"), array("times", [N // 2, N // 2])])
    replayed(folder, [NODE("Pad", ["square", "pads"], ["m"])], [array("square", np.ones((2, 2)), "float32"), array("pads", [0, 0, N - 2, N - 2])])
    replayed(folder, [NODE("Gather", ["table", "places"], ["m"])], [array("table", np.random.default_rng(0).standard_normal((2, N)), "float32"), array("places", np.arange(N) % 2, "int32")])
    replayed(folder, [NODE("Unsqueeze", ["row", "first"], ["u"]), NODE("Concat", ["u"] * N, ["m"], axis=0)], [row, array("first", [0])])


def shared(folder):
    """a weight that several operators read is not copied for each; where a constant is replaced by its value, that is written"""
    square = array("w", np.random.default_rng(0).standard_normal((N, N)), "float32")
    both = [NODE("Transpose", ["w"], ["t"]), NODE("Mul", ["w", "half"], ["u"]), NODE("Exp", ["w"], ["v"]), NODE("MatMul", ["s", "t"], ["a"]),
            NODE("Mul", ["a", "u"], ["b"]), NODE("Sub", ["b", "v"], ["m"])]
    before, after = replayed(folder, both, [square])
    replayed(folder, [NODE("Mul", ["w", "half"], ["u"]), NODE("Exp", ["u"], ["m"])], [square])
    assert [n.op_type for n in onnx.load(folder / "out.onnx").graph.node].count("Exp") == 0, "of 1 MiB is 1 MiB made"
    replayed(folder, [NODE("Expand", ["quarter", "nn"], ["e"]), NODE("Sqrt", ["e"], ["f"]), NODE("ReduceSum", ["f"], ["m"])], [array("quarter", 0.25, "float32")])
    assert [n.op_type for n in onnx.load(folder / "out.onnx").graph.node].count("Sqrt") == 0, "the end of the chain is small"


def shown(folder):
    """rlgo optimise reports both sizes: text, JSON, HTML; what it rewrites grows as little"""
    row = array("row", np.arange(N), "float32")
    save(folder / "m.onnx", [NODE("ConstantOfShape", ["nn"], ["c"], value=HELPER.make_tensor("v", 1, [1], [0.5])), NODE("Expand", ["row", "nn"], ["e"]), NODE("Mul", ["c", "e"], ["m"])], [row])
    done = rlgo("optimise", "m.onnx", "-o", "out.onnx", "--force", "--verbose", "--json", "r.json", "--report", "r.html", "--target", "libtorch", "--cost", "analytic", "--cost.folder", "",
                "--check.repeats", 5, "--seconds", 2, "--method", "greedy", cwd=folder, status=None)
    assert done.returncode in (0, 3), done.stdout + done.stderr
    import json
    size = json.loads((folder / "r.json").read_text())["size"]
    assert size == {"before_bytes": (folder / "m.onnx").stat().st_size, "after_bytes": (folder / "out.onnx").stat().st_size}, size
    assert size["after_bytes"] <= size["before_bytes"] + 64 * KIB, size
    assert "\nsize " in done.stdout and "the model's files" in done.stdout, done.stdout
    assert "size of the model&#39;s files" in (folder / "r.html").read_text() or "size of the model's files" in (folder / "r.html").read_text()
    assert_same_model(folder / "m.onnx", folder / "out.onnx")


if __name__ == "__main__":
    main(masks, broadcasts, shared, shown)
