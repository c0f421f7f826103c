#!/usr/bin/env python3
"""Measurer for OpenVINO on the processor, tuned for latency."""
import protocol

PROBE_RUNS = 4


class Model:
    def __init__(self, openvino, core, path, generator, config, shapes, values):
        self.compiled = core.compile_model(path, "CPU", config)
        self.request = self.compiled.create_infer_request()
        self.openvino = openvino
        inputs = []
        for port in self.compiled.inputs:
            declared = [d.get_length() if d.is_static else None for d in port.get_partial_shape()]
            shape = protocol.shape_of(port.get_any_name(), declared, shapes)
            inputs.append((port.get_any_name(), shape, port.get_element_type().to_dtype()))
        feeds, self.assumed = protocol.feeds_that_run(inputs, values, generator, self.run_with)
        self.set_inputs(feeds)

    def set_inputs(self, feeds):
        for port in self.compiled.inputs:
            self.request.set_tensor(port, self.openvino.Tensor(feeds[port.get_any_name()]))

    def run_with(self, feeds):
        self.set_inputs(feeds)
        self.run()

    def run(self):
        self.request.infer()

    def outputs(self):
        self.run()
        return [(port.get_any_name(), self.request.get_tensor(port).data.copy()) for port in self.compiled.outputs]

    def layout_fraction(self):
        """Reorders: blocked layouts of convolutions."""
        times, reorders = {}, set()
        for _ in range(PROBE_RUNS):
            self.run()
            for node in self.request.get_profiling_info():
                times.setdefault(node.node_name, []).append(node.real_time.total_seconds())
                if node.node_type == "Reorder":
                    reorders.add(node.node_name)
        return protocol.fraction(times, reorders.__contains__)


class OpenVino:
    def hello(self, threads):
        try:
            import openvino
        except ImportError as error:
            raise ImportError(f"{error}; {protocol.how_to_install('openvino')}") from None
        self.openvino = openvino
        self.core = openvino.Core()
        self.threads = threads
        return {"runtime": "openvino", "version": openvino.__version__.split("-")[0],
                "device": self.core.get_property("CPU", "FULL_DEVICE_NAME"), "threads": threads,
                "outputs": True, "pool_context": False}

    def load(self, path, generator, probe, shapes, values):
        config = {"PERFORMANCE_HINT": "LATENCY", "INFERENCE_NUM_THREADS": self.threads, "NUM_STREAMS": 1,
                  "INFERENCE_PRECISION_HINT": "f32",  # as others compute; a processor with bf16 units would round
                  "PERF_COUNT": "YES" if probe else "NO"}
        return Model(self.openvino, self.core, path, generator, config, shapes, values)


if __name__ == "__main__":
    protocol.serve(OpenVino())
