"""Quantised models before and after each rewrite: the same outputs bit for bit in ONNX Runtime, without its graph optimisation and with it.

Without VNNI, ONNX Runtime's integer kernels saturate sums of u8 by s8. A model that may have these, before a rewrite or after it, is compared there
as QDQ without graph optimisation alone, and counted as not compared in its other forms.
"""
import logging
import pathlib
import subprocess
import tempfile

from _compare import session, test_program
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
import onnxruntime as ort
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_dynamic, quantize_static

logging.disable(logging.WARNING)
ALL, OFF = ort.GraphOptimizationLevel.ORT_ENABLE_ALL, ort.GraphOptimizationLevel.ORT_DISABLE_ALL
RNG = np.random.default_rng(3)
HAS_VNNI = any(word in pathlib.Path("/proc/cpuinfo").read_text() for word in ("avx512_vnni", "avx_vnni"))
NODE = helper.make_node
# Rewrites after which ONNX Runtime fuses other operators, whose integer kernels round otherwise.
ROUND = ("clip-behind-quantise", "quantised-moves")
SIGNS = ("s8-", "u8-")  # what rewrites begin with that change the type of weights or activations
INTEGER = {"QLinearConv", "QLinearMatMul", "ConvInteger", "MatMulInteger"}


def may_saturate(path, name):
    return not HAS_VNNI and name.startswith(SIGNS) and any(node.op_type in INTEGER for node in onnx.load(path).graph.node)


def save(path, nodes, constants, shape, out_shape, out=TensorProto.FLOAT, opset=17):
    tensors = [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
                              [helper.make_tensor_value_info("y", out, out_shape)], tensors)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8), path)


class Numbers(CalibrationDataReader):
    def __init__(self, shape):
        self.feeds = iter([{"x": RNG.standard_normal(shape).astype(np.float32)} for _ in range(2)])

    def get_next(self):
        return next(self.feeds, None)


def quantised(folder):
    """Models that onnxruntime.quantization makes of a convolution and of a product of matrices."""
    w = RNG.standard_normal((8, 4, 3, 3)).astype(np.float32)
    save(folder / "conv.onnx", [NODE("Conv", ["x", "w", "b"], ["c"], pads=[1] * 4), NODE("Relu", ["c"], ["r"]), NODE("MaxPool", ["r"], ["y"], kernel_shape=[2, 2])],
         {"w": w, "b": w[:, 0, 0, 0]}, [1, 4, 6, 6], [1, 8, 5, 5])
    m = RNG.standard_normal((16, 16)).astype(np.float32)
    save(folder / "matmul.onnx", [NODE("MatMul", ["x", "m"], ["p"]), NODE("Reshape", ["p", "shape"], ["y"])], {"m": m, "shape": [16, 4]}, [4, 16], [16, 4])
    for name, shape in (("conv", [1, 4, 6, 6]), ("matmul", [4, 16])):
        path = folder / f"{name}.onnx"
        for weights in (QuantType.QUInt8, QuantType.QInt8):
            yield quantize_dynamic(path, folder / f"{name}-dynamic-{weights}.onnx", weight_type=weights)
            for form in (QuantFormat.QDQ, QuantFormat.QOperator):
                for per_channel in (False, True) if weights == QuantType.QInt8 else (False,):
                    yield quantize_static(path, folder / f"{name}-{form}-{weights}-{per_channel}.onnx", Numbers(shape), quant_format=form, per_channel=per_channel,
                                          activation_type=weights, weight_type=weights)
        path.unlink()


def hand_made(folder):
    """Saturated ends, zero points, one scale for each channel; pairs, moves and bounds."""
    numbers = {"s": np.float32(0.37), "z": np.uint8(0), "c": np.uint8(131), "n": np.int8(-128), "i": np.int8(7), "low": np.float32(-300), "zero": np.float32(0),
               "sv": np.float32([0.1, 0.37, 3]), "cv": np.uint8([0, 131, 255]), "iv": np.int8([-128, 0, 127]), "pads": [0, 1, 0, 1], "index": [2, 0]}
    pair = [NODE("QuantizeLinear", ["x", "s", "c"], ["q"]), NODE("DequantizeLinear", ["q", "s", "c"], ["d"])]
    again = [NODE("QuantizeLinear", ["m", "s", "c"], ["p"]), NODE("DequantizeLinear", ["p", "s", "c"], ["y"])]
    for k, zero in enumerate(("cv", "iv")):
        save(folder / f"channels-{k}.onnx", [NODE("QuantizeLinear", ["x", "sv", zero], ["q"]), NODE("DequantizeLinear", ["q", "sv", zero], ["d"]),
                                             NODE("QuantizeLinear", ["d", "sv", zero], ["p"]), NODE("DequantizeLinear", ["p", "sv", zero], ["y"])],
             numbers, [7, 3], [7, 3])
    for k, (op, inputs, attributes, shape) in enumerate((
            ("Transpose", [], {}, [3, 7]), ("Pad", ["pads"], {}, [7, 5]), ("Pad", ["pads"], {"mode": "edge"}, [7, 5]), ("Gather", ["index"], {}, [2, 3]),
            ("Relu", [], {}, [7, 3]), ("Clip", ["low"], {}, [7, 3]), ("Concat", ["d"], {"axis": 0}, [14, 3]))):
        save(folder / f"move-{k}.onnx", [*pair, NODE(op, ["d", *inputs], ["m"], **attributes), *again], numbers, [7, 3], shape)
    for k, zero in enumerate(("z", "c", "n", "i")):
        rest = [NODE("QuantizeLinear", ["m", "s", zero], ["q"]), NODE("DequantizeLinear", ["q", "s", zero], ["y"])]
        save(folder / f"relu-{k}.onnx", [NODE("Relu", ["x"], ["m"]), *rest], numbers, [7, 3], [7, 3])
        save(folder / f"clip-{k}.onnx", [NODE("Clip", ["x", "low"], ["m"]), *rest], numbers, [7, 3], [7, 3])
    save(folder / "no-zero.onnx", [NODE("QuantizeLinear", ["x", "s", "c"], ["q"]), NODE("MatMulInteger", ["q", "w", "c"], ["y"])],
         {**numbers, "w": np.arange(-128, 127, 17, dtype=np.int8)[:15].reshape(3, 5)}, [7, 3], [7, 5], TensorProto.INT32)


def feeds(path):
    """Numbers of usual size, large ones that saturate, and the ends of steps."""
    shape = [d.dim_value for d in onnx.load(path).graph.input[0].type.tensor_type.shape.dim]
    for scale in (1, 100):
        yield {"x": (scale * RNG.standard_normal(shape)).astype(np.float32)}
    yield {"x": (np.float32(0.37) * (np.arange(np.prod(shape)).reshape(shape) - 150) / 2).astype(np.float32)}


def requantise(path, names):
    done = subprocess.run([test_program(), "--requantise", path, "after.onnx", *names], cwd=path.parent, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, (path.name, names, done.stdout, done.stderr)
    return [line.split()[0] for line in done.stdout.splitlines()]


def compare_outputs(before, after, path, what):
    for inputs in feeds(path):
        a, b = before.run(None, inputs)[0], after.run(None, inputs)[0]
        assert a.dtype == b.dtype and a.tobytes() == b.tobytes(), (*what, np.abs(a.astype(float) - b).max())


def compare(path, name):
    """Compared at both levels; False where ONNX Runtime lacks a kernel for what was made, None where its kernels may saturate."""
    requantise(path, [name])
    if may_saturate(path, name):
        return None
    levels = [OFF]
    if name not in ROUND and (HAS_VNNI or not name.startswith(SIGNS)):
        levels.append(ALL)
    for level in levels:
        before = session(path, level)
        try:
            after = session(path.parent / "after.onnx", level)
        except Exception as error:
            assert "NOT_IMPLEMENTED" in str(error), (path.name, name, error)
            return False
        compare_outputs(before, after, path, (path.name, name, level))
    return True


def main():
    seen = {}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for _ in quantised(folder):
            pass
        hand_made(folder)
        for path in sorted(folder.glob("*.onnx")):
            for rewrite in requantise(path, []):
                seen.setdefault(rewrite, []).append(compare(path, rewrite))
            (folder / "after.onnx").unlink(missing_ok=True)
    for rewrite, done in sorted(seen.items()):
        print(f"{rewrite}: {done.count(True)} models the same, {done.count(False)} without a kernel, {done.count(None)} not compared without VNNI")
    assert len(seen) == 12 and all(True in done or None in done for done in seen.values()), seen
    assert not HAS_VNNI or all(None not in done for done in seen.values()), seen


main()
