"""rlgo optimise of a quantised model: rewrites that the target shows to be faster and equal are taken, others are not, with the reason."""
import json

import numpy as np
import onnx
from _rlgo import main, rlgo
from optimise import HELPER, QUICK, fake


def pairs(path, count=12):
    """Pairs of QuantizeLinear and DequantizeLinear of one quantisation: all but the first do nothing."""
    nodes, value = [], "x"
    for k in range(count):
        nodes += [HELPER.make_node("QuantizeLinear", [value, "s", "z"], [f"q{k}"]), HELPER.make_node("DequantizeLinear", [f"q{k}", "s", "z"], [f"d{k}"])]
        value = f"d{k}"
    nodes[-1].output[0] = "y"
    values = [HELPER.make_tensor_value_info(name, 1, [2, 8]) for name in "xy"]
    tensors = [onnx.numpy_helper.from_array(np.float32(0.1), "s"), onnx.numpy_helper.from_array(np.uint8(3), "z")]
    graph = HELPER.make_graph(nodes, "pairs", values[:1], values[1:], tensors)
    onnx.save(HELPER.make_model(graph, opset_imports=[HELPER.make_opsetid("", 17)], ir_version=8), path)


def optimised(folder, *wrongs, status):
    pairs(folder / "m.onnx")
    done = rlgo("optimise", "m.onnx", "-o", "f.onnx", "--json", "f.json", "--target", fake("outputs", *wrongs), *QUICK, cwd=folder, status=status)
    return done.stdout, {trial["name"]: trial for trial in json.loads((folder / "f.json").read_text())["quantised"]}


def dead_pairs(folder):
    """eleven of twelve pairs go"""
    text, tried = optimised(folder, status=0)
    assert tried["dead-quantised"]["taken"] and tried["dead-quantised"]["operators"] == 11 and tried["dead-quantised"]["steps"] == 0, tried
    assert "the same outputs bit for bit" in text, text
    assert [node.op_type for node in onnx.load(folder / "f.onnx").graph.node] == ["QuantizeLinear", "DequantizeLinear"]


def other_outputs(folder):
    """a target that answers something else keeps its model"""
    text, tried = optimised(folder, "differs=quantised-", status=3)
    assert not any(trial["taken"] for trial in tried.values()) and not (folder / "f.onnx").exists(), tried
    assert "differ" in tried["dead-quantised"]["why"], text


def no_kernel(folder):
    """so does one without a kernel for what would be made, and the reason is printed"""
    text, tried = optimised(folder, "fail=quantised-", status=3)
    assert "cannot run it: unsupported operator" in tried["dead-quantised"]["why"] and "cannot run it" in text, text


def wrong_allow(folder):
    """one line, status 2"""
    pairs(folder / "m.onnx")
    done = rlgo("optimise", "m.onnx", "--allow", "anything", cwd=folder, status=2)
    assert "expected rounding" in done.stderr, done.stderr


main(dead_pairs, other_outputs, no_kernel, wrong_allow)
