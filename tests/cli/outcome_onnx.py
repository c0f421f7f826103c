"""An ONNX file as input: opset, inputs and outputs are kept, the outputs are the same in ONNX Runtime."""
from pathlib import Path

import numpy as np
import onnx
from _rlgo import RANDOM, assert_same_model, declared, main, rewrites, rlgo

LIGHT = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"


def optimised(folder, model, *options):
    rlgo("--graph", model, *RANDOM, "--epochs", 1, "--train.steps-per-epoch", 30, "--name", "after", *options, cwd=folder)
    run = folder / "runs/after"
    assert rewrites(run / "best.trace"), "nothing was rewritten"
    return run / "best.onnx"


def exported_zoo_graph(folder):
    """a zoo graph's export, read again as a file"""
    rlgo("--graph", "squeezenet1_1", *RANDOM, "--epochs", 0, "--train.polish", "false", "--name", "zoo", cwd=folder)
    model = folder / "runs/zoo/best.onnx"
    print(f"  relative error {assert_same_model(model, optimised(folder, model)):.2g}")


def with_random_weights(model):
    """The light models fill their weights with one number, by which the outputs are rounding noise."""
    rng = np.random.default_rng(0)
    shapes = {i.name: onnx.numpy_helper.to_array(i) for i in model.graph.initializer}
    for node in [n for n in model.graph.node if n.op_type == "ConstantOfShape"]:
        shape = shapes[node.input[0]]
        deviation = (2 / np.prod(shape[1:])) ** 0.5 if len(shape) > 1 else 0.1
        weight = (rng.standard_normal(shape) * deviation).astype(np.float32)
        model.graph.initializer.append(onnx.numpy_helper.from_array(weight, node.output[0]))
        model.graph.input.append(onnx.helper.make_tensor_value_info(node.output[0], 1, weight.shape))
        model.graph.node.remove(node)
    return model


def light_squeezenet(folder):
    """a model of another exporter with an old opset, by a relative path"""
    onnx.save(with_random_weights(onnx.load(LIGHT / "light_squeezenet.onnx")), folder / "my model.onnx")
    after = optimised(folder, "my model.onnx")
    print(f"  relative error {assert_same_model(folder / 'my model.onnx', after):.2g}, opset {onnx.load(after).opset_import[0].version}")


def write_open_model(folder):
    helper = onnx.helper
    weight = onnx.numpy_helper.from_array(np.linspace(-1, 1, 24, dtype="float32").reshape(4, 6), "w")
    nodes = [helper.make_node("MatMul", ["x", "w"], ["m"]), helper.make_node("Relu", ["m"], ["r"]), helper.make_node("Relu", ["r"], ["y"])]
    graph = helper.make_graph(nodes, "open", [helper.make_tensor_value_info("x", 1, ["batch", 4])],
                              [helper.make_tensor_value_info("y", 1, ["batch", 6])], [weight])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), folder / "open.onnx")


def open_dimension(folder):
    """--dim fixes an open dimension, in the written model too: rewrites hold for the sizes that they were chosen for"""
    write_open_model(folder)
    after = optimised(folder, "open.onnx", "--dim", "batch=3")
    before, written = onnx.load(folder / "open.onnx"), onnx.load(after)
    assert declared(written) == ([("x", 1, (3, 4))], [("y", 1, (3, 6))], [("", 13)]), declared(written)
    for value in (*before.graph.input, *before.graph.output):
        value.type.tensor_type.shape.dim[0].dim_value = 3
    onnx.save(before, folder / "fixed.onnx")
    assert_same_model(folder / "fixed.onnx", after)


def stays_open(folder):
    """without --dim the dimension stays open: the written model runs at sizes that rlgo never saw"""
    import onnxruntime

    write_open_model(folder)
    after = optimised(folder, "open.onnx", "--size", "batch=4")
    assert declared(onnx.load(after)) == declared(onnx.load(folder / "open.onnx"))
    for batch in (1, 7):
        x = np.random.default_rng(batch).standard_normal((batch, 4)).astype("float32")
        before, now = (onnxruntime.InferenceSession(str(f)).run(None, {"x": x})[0] for f in (folder / "open.onnx", after))
        assert np.abs(before - now).max() < 1e-5
    for bad, status in (("batch=1", 2), ("bach=4", 1)):
        refused = rlgo("--graph", "open.onnx", *RANDOM, "--epochs", 0, "--size", bad, "--name", "refused", cwd=folder, status=status)
        assert bad.split("=")[0] in refused.stderr, refused.stderr
    assert not (folder / "runs/refused").exists()


if __name__ == "__main__":
    main(exported_zoo_graph, light_squeezenet, open_dimension, stays_open)
