#!/usr/bin/env python3
"""Measurer for ncnn on the processor: 32-bit floats. Its converter pnnx turns ONNX files into its own."""
import importlib.util
import os
import re
import subprocess
import tempfile

import onnx_inputs
import protocol

UNREAD = "not a registered|not exists|failed|unsupported|not supported"


class Model:
    def __init__(self, runtime, path, generator, shapes, values, plain):
        self.ncnn = runtime.ncnn
        inputs, self.declared = onnx_inputs.declared(path, shapes)
        self.order = [name for name, _, _ in inputs]
        self.net = self.ncnn.Net()
        option = self.net.opt
        option.num_threads = runtime.threads
        option.use_fp16_packed = option.use_fp16_storage = option.use_fp16_arithmetic = option.use_bf16_storage = False
        option.use_winograd_convolution = not plain
        with tempfile.TemporaryDirectory() as folder:
            self.read(convert(runtime.converter, path, inputs, folder))
        feeds, self.assumed = protocol.feeds_that_run(inputs, values, generator, self.run_with)
        self.set_inputs(feeds)

    def read(self, stem):
        with open(stem + "_ncnn.py", encoding="utf-8") as file:
            script = file.read()
        # Which axis of an input or output is the batch, which ncnn's tensors do not have.
        self.batch_axes = {name: int(axis) for name, axis in re.findall(r"\b((?:in|out)\d+)\.numpy\(batch_index=(\d+)\)", script)}
        self.batch_axes |= {name: int(axis) for name, axis in re.findall(r"\b(in\d+)\.numpy\(\), batch_index=(\d+)\)", script)}
        with onnx_inputs.printed() as text:
            failed = self.net.load_param(stem + ".ncnn.param") or self.net.load_model(stem + ".ncnn.bin")
        if failed:
            raise ValueError(f"ncnn does not read the model: {onnx_inputs.reason(text[0], UNREAD)}")

    def set_inputs(self, feeds):
        self.mats = []
        for place, name in enumerate(self.order):
            data = feeds[name].astype("float32" if feeds[name].dtype.kind == "f" else "int32")
            axis = self.batch_axes.get(f"in{place}")
            self.mats.append((f"in{place}", (self.ncnn.Mat(data) if axis is None else self.ncnn.Mat(data, batch_index=axis)).clone()))

    def run_with(self, feeds):
        try:
            self.set_inputs(feeds)
        except RuntimeError as error:  # more than four axes
            raise ValueError(f"ncnn does not take the inputs: {error}") from None
        with onnx_inputs.printed() as text:
            self.run()
        if any(failed for failed, _ in self.answers):
            raise ValueError(f"ncnn does not run the model: {onnx_inputs.reason(text[0], UNREAD)}")
        # pnnx may drop an operator (a Flatten before a product) and report nothing.
        for name, value in self.values():
            extents = self.declared[name]
            if extents is not None and not (len(extents) == value.ndim and all(e in (None, n) for e, n in zip(extents, value.shape))):
                raise ValueError(f"pnnx converts the model wrongly: output '{name}' has shape {list(value.shape)}, the model declares {extents}")

    def run(self):
        extractor = self.net.create_extractor()
        for name, mat in self.mats:
            extractor.input(name, mat)
        self.answers = [extractor.extract(f"out{place}") for place in range(len(self.declared))]

    def outputs(self):
        self.run()
        return self.values()

    def values(self):
        import numpy

        axes = [self.batch_axes.get(f"out{place}") for place in range(len(self.declared))]
        return [(name, numpy.array(mat.numpy() if axis is None else mat.numpy(batch_index=axis)))
                for name, axis, (_, mat) in zip(self.declared, axes, self.answers, strict=True)]


def convert(program, path, inputs, folder):
    """Writes ncnn's files; their common stem."""
    stem = os.path.join(folder, "model")
    onnx_inputs.with_shapes(path, inputs, stem + ".onnx")
    done = subprocess.run([program, stem + ".onnx", "fp16=0"], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if done.returncode or not os.path.exists(stem + ".ncnn.param"):
        text = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout.decode(errors="replace"))
        raise ValueError(f"pnnx does not convert the model: {onnx_inputs.reason(text, UNREAD)}")
    return stem


class Ncnn:
    def hello(self, threads):
        self.ncnn, _ = onnx_inputs.import_or_raise("ncnn", "ncnn")
        package = importlib.util.find_spec("pnnx")  # not imported: it would import torch, which its program does not need
        if package is None:
            raise ImportError(f"No module named 'pnnx'; {protocol.how_to_install('--no-deps pnnx')}")
        self.converter = os.path.join(os.path.dirname(package.origin), "pnnx")
        self.threads = threads
        return {"runtime": "ncnn", "version": self.ncnn.__version__, "device": protocol.device_name(), "threads": threads, "outputs": True}

    def plain(self):
        return True

    def load(self, path, generator, probe, shapes, values, plain=False):
        del probe  # what layouts take is not asked for: protocol.py
        return Model(self, path, generator, shapes, values, plain)


if __name__ == "__main__":
    protocol.serve(Ncnn())
