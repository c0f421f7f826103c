#!/usr/bin/env python3
"""Latency of quantised models after `rlgo optimise`: models that onnxruntime.quantization makes of three convolutions and of three products of matrices.

    quantised.py [--rlgo BINARY] [--out FILE] [--seconds S]

Writes a line a model to FILE (results/quantised.csv), of which results/pages.py makes the table of results/quantised.md.
"""
import argparse
import csv
import json
import logging
import pathlib
import subprocess
import tempfile

import numpy as np
import onnx
from onnx import helper, numpy_helper
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_dynamic, quantize_static
from rlgo_results.where import revision

ROOT = pathlib.Path(__file__).resolve().parents[1]
SHAPES = {"conv": [1, 32, 28, 28], "matmul": [64, 256]}
TYPES = {"u8": QuantType.QUInt8, "s8": QuantType.QInt8}
RNG = np.random.default_rng(0)


class Numbers(CalibrationDataReader):
    def __init__(self, shape):
        self.feeds = iter([{"x": RNG.standard_normal(shape).astype(np.float32)} for _ in range(4)])

    def get_next(self):
        return next(self.feeds, None)


def float_model(path, name):
    """Three layers with a bias and a Relu."""
    nodes, weights, value = [], [], "x"
    for k in range(3):
        shape = [32, 32, 3, 3] if name == "conv" else [256, 256]
        w = (RNG.standard_normal(shape) / np.sqrt(288 if name == "conv" else 256)).astype(np.float32)
        weights += [numpy_helper.from_array(w, f"w{k}"), numpy_helper.from_array(w.reshape(-1)[: shape[0]] * 2, f"b{k}")]
        if name == "conv":
            nodes.append(helper.make_node("Conv", [value, f"w{k}", f"b{k}"], [f"s{k}"], pads=[1] * 4))
        else:
            nodes += [helper.make_node("MatMul", [value, f"w{k}"], [f"p{k}"]), helper.make_node("Add", [f"p{k}", f"b{k}"], [f"s{k}"])]
        nodes.append(helper.make_node("Relu", [f"s{k}"], [value := f"r{k}"]))
    ends = [helper.make_tensor_value_info(end, 1, SHAPES[name]) for end in ("x", value)]
    onnx.save(helper.make_model(helper.make_graph(nodes, name, ends[:1], ends[1:], weights), opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def models(folder):
    """(layer, form, types of activations and weights, file)"""
    for name, shape in SHAPES.items():
        source = folder / f"{name}.onnx"
        float_model(source, name)
        for form in (QuantFormat.QDQ, QuantFormat.QOperator):
            for types in (("u8", "u8"), ("u8", "s8"), ("s8", "s8")):
                path = folder / f"{name}-{form}-{'-'.join(types)}.onnx"
                quantize_static(source, path, Numbers(shape), quant_format=form, activation_type=TYPES[types[0]], weight_type=TYPES[types[1]])
                yield name, str(form), " x ".join(types), path
        for weights in TYPES:
            path = folder / f"{name}-dynamic-{weights}.onnx"
            quantize_dynamic(source, path, weight_type=TYPES[weights])
            yield name, "dynamic", f"u8 x {weights}", path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rlgo", default=str(ROOT / "build" / "release" / "rlgo"))
    parser.add_argument("--out", default=str(ROOT / "results" / "quantised.csv"))
    parser.add_argument("--seconds", type=float, default=8)
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for layer, form, types, path in models(folder):
            subprocess.run([options.rlgo, "optimise", path, "-o", folder / "faster.onnx", "--json", folder / "told.json", "--target", "onnxruntime",
                            "--seconds", str(options.seconds)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            told = json.loads((folder / "told.json").read_text())
            improved = told["verdict"]["improved"]
            latency = told["latency"] if improved else {"ratio": 1, "ratio_low": 1, "ratio_high": 1}
            taken = " ".join(t["name"] for t in told["quantised"] if t["taken"]) if improved else ""
            rows.append([layer, form, types, taken, *(f"{latency[k]:.3f}" for k in ("ratio", "ratio_low", "ratio_high")), f"{told['latency']['before_us']:.1f}" if told["latency"] else "",
                         told["target"]["runtime"], told["target"]["device"], revision(options.rlgo)])
            print(*rows[-1], flush=True)
    with open(options.out, "w", newline="") as file:
        csv.writer(file).writerows([["layers", "form", "types", "rewrites", "ratio", "low", "high", "before_us", "runtime", "device", "rlgo"], *rows])


if __name__ == "__main__":
    main()
