"""rlgo optimise: what it tells of normalisations, and of how far a check goes."""
import numpy as np
import onnx
from _rlgo import main, rlgo

NODE, INFO, ARRAY = onnx.helper.make_node, onnx.helper.make_tensor_value_info, onnx.numpy_helper.from_array
QUICK = ["--prices", "", "--rounds", "5", "--seconds", "20", "--method", "greedy", "--target", "libtorch"]


def save(path, nodes, weights, output=("y", 1, [1, 8, 16, 16])):
    graph = onnx.helper.make_graph(nodes, "toy", [INFO("x", 1, [1, 8, 16, 16])], [INFO(*output)], weights)
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
    assert "at export: " in done.stdout and "operators on weights alone worked out into" in done.stdout, done.stdout
    page = (folder / "page.html").read_text()
    for words in ("what the import did without, 2 in all", "bypassed Identity &#39;twin&#39;", "merged initialiser", "worked out at export"):
        assert words.replace("&#39;", "'") in page.replace("&#39;", "'").replace("&apos;", "'"), words


def unknown_operators(folder):
    """where all outputs stand behind an operator that LibTorch does not know, the check says what it is worth"""
    nodes, weights = convolutions("d")
    save(folder / "toy.onnx", [*nodes, NODE("LRN", ["d"], ["y"], size=3)], weights)
    done = rlgo("optimise", "toy.onnx", "-o", "out.onnx", "--force", *QUICK, cwd=folder, status=None)
    assert done.returncode in (0, 3), done.stderr
    assert "in front of operators that LibTorch does not know (LRN 1): made-up functions stand for these" in done.stdout, done.stdout


def nothing_is_compared(folder):
    """an output of integers that LibTorch does not know: no check, and nothing is written without --force"""
    nodes, weights = convolutions("d")
    save(folder / "toy.onnx", [*nodes, NODE("ArgMax", ["d"], ["y"], axis=1)], weights, ("y", 7, [1, 1, 16, 16]))
    done = rlgo("optimise", "toy.onnx", "-o", "out.onnx", *QUICK, cwd=folder, status=1)
    assert "(ArgMax 1): nothing is compared" in done.stderr and "nothing is written" in done.stderr, done.stderr
    assert not (folder / "out.onnx").exists()
    forced = rlgo("optimise", "toy.onnx", "-o", "out.onnx", "--force", *QUICK, cwd=folder, status=None)
    assert "not checked by LibTorch interpreter" in forced.stdout and (folder / "out.onnx").exists(), forced.stdout


def rounding(folder):
    """what differs a little beyond the tolerance is given up for what does not, told; what differs much is an error"""
    nodes, weights = convolutions("y")
    save(folder / "toy.onnx", nodes, weights)
    done = rlgo("optimise", "toy.onnx", "-o", "out.onnx", "--check.tolerance", "1e-8", *QUICK, cwd=folder, status=None)
    assert done.returncode in (0, 3) and "its rounding errors add up" in done.stderr, done.stderr
    assert "given up: relative error" in done.stdout and "equivalence     largest relative error 0 by" in done.stdout, done.stdout
    (folder / "out.onnx").unlink(missing_ok=True)
    done = rlgo("optimise", "toy.onnx", "-o", "out.onnx", "--check.tolerance", "1e-12", *QUICK, cwd=folder, status=1)
    assert "does not compute the same" in done.stderr and not (folder / "out.onnx").exists(), done.stderr


def no_time(folder):
    """a second is over when the runtime has started: the search by formula is done all the same"""
    nodes, weights = convolutions("y")
    save(folder / "toy.onnx", nodes, weights)
    target = ["--target", "onnxruntime", "--cost", "analytic", "--prices", "", "--rounds", "5", "--seconds", "1", "--method", "sweep"]
    done = rlgo("optimise", "toy.onnx", *target, cwd=folder, status=None)
    assert done.returncode in (0, 3) and "sum-of-convs" in done.stdout, done.stdout + done.stderr


if __name__ == "__main__":
    main(normalisations, unknown_operators, nothing_is_compared, rounding, no_time)
