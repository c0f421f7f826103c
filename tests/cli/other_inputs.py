"""Models whose inputs or constants are no dense tensors of numbers are optimised like others: strings, sequences, optional values, sparse weights."""
import numpy as np
import onnx
from _rlgo import main, rlgo, skip

try:
    import onnxruntime
except ImportError as error:
    skip(error)

HELPER, NODE = onnx.helper, onnx.helper.make_node
TEXT, FLOAT = onnx.TensorProto.STRING, onnx.TensorProto.FLOAT


def save(path, nodes, inputs, outputs, sparse=()):
    """Behind `nodes`, which make f [n, 8]: a MatMul, a bias and activations, of which something can be rewritten."""
    rng = np.random.default_rng(0)
    weights = [onnx.numpy_helper.from_array(rng.standard_normal(shape).astype("float32"), name) for name, shape in (("w", (8, 64)), ("b", (64,)))]
    nodes = [*nodes, NODE("MatMul", ["f", "w"], ["d"]), NODE("Add", ["d", "b"], ["e"]), NODE("Relu", ["e"], ["g"]), NODE("Relu", ["g"], ["h"])]
    graph = HELPER.make_graph(nodes, "g", inputs, [HELPER.make_tensor_value_info("h", FLOAT, ["n", 64]), *outputs], weights, sparse_initializer=sparse)
    onnx.save(HELPER.make_model(graph, opset_imports=[HELPER.make_opsetid("", 17), HELPER.make_opsetid("ai.onnx.ml", 2)], ir_version=8), path)


def optimised(folder, feeds, *options):
    """Written by --force, after checks in the runtime; ONNX Runtime answers the same to `feeds`. On a busy machine the model without
    rewrites may look faster by chance: then again."""
    for _ in range(5):
        done = forced(folder, *options)
        if [n.op_type for n in onnx.load(folder / "out.onnx").graph.node].count("Relu") == 1:
            break
    else:
        raise AssertionError(done.stdout)
    answers = [onnxruntime.InferenceSession(folder / name, providers=["CPUExecutionProvider"]).run(None, feeds) for name in ("m.onnx", "out.onnx")]
    for one, other in zip(*answers, strict=True):
        for a, b in zip(*((v if isinstance(v, list) else [v]) for v in (one, other)), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)
    return done.stdout


def forced(folder, *options):
    done = rlgo("optimise", "m.onnx", "-o", "out.onnx", "--force", "--verbose", "--target", "onnxruntime", "--cost", "analytic", "--cost.folder", "", "--check.repeats", 5, "--seconds", 3, "--method", "greedy",
                "--switches", "no", *options, cwd=folder, status=None)
    assert done.returncode in (0, 3) and (folder / "out.onnx").is_file(), done.stdout + done.stderr
    return done


def texts(folder):
    """a word that is looked up, a text that nothing reads"""
    encode = NODE("LabelEncoder", ["word"], ["k"], domain="ai.onnx.ml", keys_strings=["cat", "dog"], values_floats=[1.0, 2.0], default_float=0.0)
    inputs = [HELPER.make_tensor_value_info("x", FLOAT, ["n", 7]), HELPER.make_tensor_value_info("word", TEXT, ["n", 1]), HELPER.make_tensor_value_info("unread", TEXT, ["n"])]
    save(folder / "m.onnx", [encode, NODE("Concat", ["x", "k"], ["f"], axis=1)], inputs, [])
    feeds = {"x": np.ones((2, 7), "float32"), "word": np.array([["cat"], ["dog"]], object), "unread": np.array(["", "a"], object)}
    reported = optimised(folder, feeds)
    assert "word = cat,dog" in reported, reported
    assert "word = dog" in optimised(folder, feeds, "--input", "word=dog")


def sequences(folder):
    """sequences in and out"""
    floats = HELPER.make_sequence_type_proto(HELPER.make_tensor_type_proto(FLOAT, ["n", 8]))
    zero = NODE("Constant", [], ["zero"], value_int=0)
    nodes = [zero, NODE("Neg", ["x"], ["f"]), NODE("SequenceErase", ["list", "zero"], ["rest"])]
    save(folder / "m.onnx", nodes, [HELPER.make_tensor_value_info("x", FLOAT, ["n", 8]), HELPER.make_value_info("list", floats)], [HELPER.make_value_info("rest", floats)])
    optimised(folder, {"x": np.ones((2, 8), "float32"), "list": [np.ones((2, 8), "float32"), np.zeros((1, 8), "float32")]})


def sparse(folder):
    """a sparse weight keeps nothing from being rewritten, stays sparse, and may be an output"""
    values = onnx.numpy_helper.from_array(np.array([3.0, -1.0], "float32"), "s")
    places = onnx.numpy_helper.from_array(np.array([1, 4]), "places")
    tensor = HELPER.make_sparse_tensor(values, places, [8])
    save(folder / "m.onnx", [NODE("Add", ["x", "s"], ["f"]), NODE("Identity", ["s"], ["z"])], [HELPER.make_tensor_value_info("x", FLOAT, ["n", 8])], [HELPER.make_tensor_value_info("z", FLOAT, [8])], [tensor])
    optimised(folder, {"x": np.ones((2, 8), "float32")})
    graph = onnx.load(folder / "out.onnx").graph
    assert [t.values.name for t in graph.sparse_initializer] == ["s"], graph.sparse_initializer


if __name__ == "__main__":
    main(texts, sequences, sparse)
