#!/usr/bin/env python3
"""Measurer for tract on the processor, which runs on one thread."""
import onnx_inputs
import protocol

TYPES = {"float32": "f32", "float64": "f64", "float16": "f16", "bool": "bool"} | {f"{sign}int{n}": f"{sign or 'i'}{n}" for n in (8, 16, 32, 64) for sign in ("", "u")}


class Model:
    def __init__(self, tract, path, generator, shapes, values):
        self.tract = tract
        inputs, outputs = onnx_inputs.declared(path, shapes)
        self.names = list(outputs)
        try:
            model = tract.onnx().load(path)
            self.order = [model.input_name(i) for i in range(model.input_count())]
            facts = {name: ",".join([*map(str, shape), TYPES[dtype.name]]) for name, shape, dtype in inputs}
            for i, name in enumerate(self.order):
                model.set_input_fact(i, facts[name])
            self.state = model.into_model().into_runnable().spawn_state()
        except tract.TractError as error:
            raise ValueError(f"tract does not read the model: {reason(error)}") from None
        feeds, self.assumed = protocol.feeds_that_run(inputs, values, generator, self.run_with)
        self.set_inputs(feeds)

    def set_inputs(self, feeds):
        self.tensors = [self.tract.Tensor.from_numpy(feeds[name]) for name in self.order]

    def run_with(self, feeds):
        try:
            self.set_inputs(feeds)
            self.run()
        except self.tract.TractError as error:
            raise ValueError(f"tract does not run the model: {reason(error)}") from None

    def run(self):
        self.answers = self.state.run(self.tensors)

    def outputs(self):
        self.run()
        return [(name, tensor.to_numpy()) for name, tensor in zip(self.names, self.answers, strict=True)]


def reason(error):
    """tract's message and its causes, without the stack, in one line."""
    lines = [line.strip() for line in str(error).split("Stack backtrace")[0].splitlines()]
    return ": ".join(line for line in lines if line and line != "Caused by:")


class Tract:
    def hello(self, threads):
        self.tract, _ = onnx_inputs.import_or_raise("tract", "tract")
        if threads != 1:
            raise ValueError(f"tract's Python package runs on one thread, not {threads}: take --threads 1")
        return {"runtime": "tract", "version": self.tract.version(), "device": protocol.device_name(), "threads": 1, "outputs": True}

    def load(self, path, generator, probe, shapes, values):
        del probe  # tensors keep ONNX's layout
        return Model(self.tract, path, generator, shapes, values)


if __name__ == "__main__":
    protocol.serve(Tract())
