"""Constant folding, common subexpressions and dead code: always done, and told by inspect, optimise and its report."""
import numpy as np
import onnx
from _rlgo import SOURCE, assert_same_model, main, rlgo

HELPER = onnx.helper


def save_model(path):
    """Two equal exponentials by equal weights, shape arithmetic, an Identity, a dead chain, scale and weight that fold."""
    node, rng = HELPER.make_node, np.random.default_rng(0)
    arrays = {"u": rng.standard_normal((12, 12)), "v": None, "s": rng.standard_normal((12, 12)), "unread": np.ones(3)}
    arrays["v"] = arrays["u"]
    weights = [onnx.numpy_helper.from_array(a.astype("float32"), n) for n, a in arrays.items()] + [onnx.numpy_helper.from_array(np.array([-1]), "m")]
    nodes = [node("MatMul", ["x", "u"], ["a"], name="first"), node("MatMul", ["x", "v"], ["b"], name="second"), node("Add", ["a", "b"], ["c"], name="sum"),
             node("Identity", ["c"], ["d"], name="same"), node("Shape", ["d"], ["t"], name="shape"), node("Concat", ["t", "m"], ["r"], axis=0, name="longer"),
             node("Reshape", ["d", "r"], ["e"], name="reshape"), node("Squeeze", ["e"], ["f"], name="squeeze"), node("Mul", ["u", "s"], ["w"], name="on weights"),
             node("MatMul", ["f", "w"], ["y"], name="last"), node("Exp", ["d"], ["g"], name="dead"), node("Relu", ["g"], ["h"], name="dead too")]
    graph = HELPER.make_graph(nodes, "toy", [HELPER.make_tensor_value_info("x", 1, [12, 12])], [HELPER.make_tensor_value_info("y", 1, [12, 12])], weights)
    onnx.save(HELPER.make_model(graph, opset_imports=[HELPER.make_opsetid("", 17)], ir_version=8), path)
    return path


def inspected(folder):
    """counts by kind and operator, and with --changes each by name"""
    save_model(folder / "m.onnx")
    text = rlgo("inspect", "m.onnx", cwd=folder).stdout
    assert ("normalised: 2 computed (Concat 1, Shape 1), 2 merged with equal ones (MatMul 1, initialiser 1), 1 bypassed (Identity 1), "
            "3 removed, as no output needs them (Exp 1, Relu 1, initialiser 1)") in text, text
    assert "merged MatMul" not in text
    text = rlgo("inspect", "--changes", "m.onnx", cwd=folder).stdout
    for line in ("merged initialiser 'v': the same as 'u'", "merged MatMul 'second': the same as 'first'", "bypassed Identity 'same': does nothing", "computed Shape 'shape': i64[2]",
                 "removed Exp 'dead': no output needs it", "removed Relu 'dead too': no output needs it", "removed initialiser 'unread': no output needs it"):
        assert f"  {line}\n" in text, (line, text)


def exported(folder):
    """replaying no rewrites at all still folds, merges and removes; the model computes the same"""
    save_model(folder / "m.onnx")
    (folder / "none.trace").write_text("rlgo-trace 1\n# m.onnx\n")
    rlgo("replay", "--graph", "m.onnx", "--cost", "analytic", "--rules", SOURCE / "configs/rules/base.rules", "--trace", "none.trace", "--out", "out.onnx", cwd=folder)
    operators = sorted(n.op_type for n in onnx.load(folder / "out.onnx").graph.node)
    assert [op for op in operators if op in ("MatMul", "Add", "Mul", "Exp", "Relu", "Identity", "Shape")] == ["Add", "MatMul", "MatMul"], operators
    assert_same_model(folder / "m.onnx", folder / "out.onnx")


def reported_by_a_run(folder):
    """the summary of a run counts what was computed at export; optimise shows what the import did, in its report too"""
    save_model(folder / "m.onnx")
    rlgo("--graph", "m.onnx", "--agent", "random", "--cost", "analytic", "--epochs", 1, "--train.steps-per-epoch", 10, "--check.repeats", 3, "--check.seeds", 1, "--train.polish", "false",
         "--rules", SOURCE / "configs/rules/base.rules", "--name", "r", cwd=folder)
    summary = (folder / "runs/r/summary.txt").read_text()
    assert "operators on weights alone computed into" in summary, summary
    done = rlgo("optimise", "m.onnx", "-o", "out.onnx", "--force", "--verbose", "--target", "libtorch", "--cost", "analytic", "--cost.folder", "", "--check.repeats", 5, "--seconds", 3, "--method", "greedy", "--report", "report.html",
                cwd=folder, status=None)
    assert done.returncode in (0, 3) and "2 merged with equal ones (MatMul 1, initialiser 1)" in done.stdout, done.stdout + done.stderr
    assert "2 merged with equal ones (MatMul 1, initialiser 1)" in (folder / "report.html").read_text()
    assert_same_model(folder / "m.onnx", folder / "out.onnx")


def evaluated(folder):
    """operators on constants that rlgo does not know are computed by ONNX Runtime: a position table resized, a mask, angles"""
    node, rng = HELPER.make_node, np.random.default_rng(0)
    arrays = {"table": rng.standard_normal((1, 4, 7, 7)).astype("f4"), "sizes": np.array([1, 4, 10, 10]), "square": np.array([10, 10]), "w": rng.standard_normal(10).astype("f4")}
    nodes = [node("Resize", ["table", "", "", "sizes"], ["r"], mode="cubic", antialias=1), node("ConstantOfShape", ["square"], ["o"], value=onnx.numpy_helper.from_array(np.float32([-8]))),
             node("Trilu", ["o"], ["t"]), node("Atan", ["w"], ["a"]), node("Add", ["x", "r"], ["b"]), node("Add", ["b", "t"], ["c"]), node("Mul", ["c", "a"], ["y"])]
    shown = [HELPER.make_tensor_value_info(name, 1, [1, 4, 10, 10]) for name in "xy"]
    graph = HELPER.make_graph(nodes, "toy", shown[:1], shown[1:], [onnx.numpy_helper.from_array(a, n) for n, a in arrays.items()])
    onnx.save(HELPER.make_model(graph, opset_imports=[HELPER.make_opsetid("", 18)], ir_version=8), folder / "c.onnx")
    text = rlgo("inspect", "c.onnx", cwd=folder).stdout
    assert "5 operators can be rewritten, 0 are kept as they are" in text and "2 computed (Atan 1, Resize 1)" in text, text
    rlgo("optimise", "c.onnx", "-o", "out.onnx", "--force", "--target", "onnxruntime", "--cost", "analytic", "--cost.folder", "", "--check.repeats", 3, "--seconds", 2, cwd=folder, status=None)
    assert_same_model(folder / "c.onnx", folder / "out.onnx")


if __name__ == "__main__":
    main(inspected, exported, reported_by_a_run, evaluated)
