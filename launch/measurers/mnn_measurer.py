#!/usr/bin/env python3
"""Measurer for MNN on the processor: 32-bit floats. Its converter turns ONNX files into its own."""
import os
import tempfile

import onnx_inputs
import protocol

WINOGRAD = 3  # the number of the hint WINOGRAD_MEMORY_LEVEL (MNN/Interpreter.hpp); 0: no Winograd convolutions, the most exact
UNREAD = "Not Support|Failed|[Ee]rror"


class Model:
    def __init__(self, runtime, path, generator, shapes, values, plain):
        self.expr = runtime.expr
        inputs, outputs = onnx_inputs.declared(path, shapes)
        self.names = list(outputs)
        self.order = [name for name, _, _ in inputs]
        manager = runtime.nn.create_runtime_manager(({"backend": "CPU", "numThread": runtime.threads, "precision": "high"},))
        if plain:
            manager.set_hint(WINOGRAD, 0)
        with tempfile.TemporaryDirectory() as folder:
            converted = os.path.join(folder, "model.mnn")
            with onnx_inputs.printed() as text:
                # The converter itself: its program MNN.tools.mnnconvert would send statistics and install packages.
                runtime.convert(["mnnconvert", "-f", "ONNX", "--modelFile", path, "--MNNModel", converted, "--bizCode", "rlgo"])
            if not os.path.exists(converted):
                raise ValueError(f"MNN does not read the model: {onnx_inputs.reason(text[0], UNREAD)}")
            self.module = runtime.nn.load_module_from_file(converted, self.order, self.names, runtime_manager=manager)
        feeds, self.assumed = protocol.feeds_that_run(inputs, values, generator, self.run_with)
        self.set_inputs(feeds)

    def set_inputs(self, feeds):
        # MNN has no other integers than these.
        kinds = {"f": ("float32", self.expr.float), "u": ("int32", self.expr.int), "i": ("int32", self.expr.int), "b": ("int32", self.expr.int)}
        self.variables = []
        for name in self.order:
            data = feeds[name]
            dtype, own = ("uint8", self.expr.uint8) if data.dtype == "uint8" else ("int8", self.expr.int8) if data.dtype == "int8" else kinds[data.dtype.kind]
            self.variables.append(self.expr.const(data.astype(dtype), list(data.shape), self.expr.NCHW, own))

    def run_with(self, feeds):
        self.set_inputs(feeds)
        with onnx_inputs.printed() as text:
            self.run()
        if len(self.answers) != len(self.names):
            raise ValueError(f"MNN does not run the model: {onnx_inputs.reason(text[0], UNREAD)}")

    def run(self):
        self.answers = self.module.forward(self.variables)

    def outputs(self):
        self.run()
        return [(name, self.expr.convert(value, self.expr.NCHW).read().copy()) for name, value in zip(self.names, self.answers, strict=True)]


class Mnn:
    def hello(self, threads):
        mnn, _ = onnx_inputs.import_or_raise("MNN", "MNN")
        import _tools
        import MNN.expr
        import MNN.nn

        self.convert, self.expr, self.nn, self.threads = _tools.mnnconvert, MNN.expr, MNN.nn, threads
        return {"runtime": "mnn", "version": mnn.version(), "device": protocol.device_name(), "threads": threads, "outputs": True}

    def plain(self):
        return True

    def load(self, path, generator, probe, shapes, values, plain=False):
        del probe  # what layouts take is not asked for: protocol.py
        return Model(self, path, generator, shapes, values, plain)


if __name__ == "__main__":
    protocol.serve(Mnn())
