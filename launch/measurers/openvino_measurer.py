#!/usr/bin/env python3
"""Measurer for OpenVINO on the processor, tuned for latency."""
import protocol

PROBE_RUNS = 4


class Model:
    def __init__(self, openvino, core, path, generator, config, probe, shapes):
        # 32-bit floats, as the other runtimes compute: a processor with bf16 units would otherwise round.
        self.compiled = core.compile_model(path, "CPU", config)
        self.request = self.compiled.create_infer_request()
        for port in self.compiled.inputs:
            declared = [d.get_length() if d.is_static else None for d in port.get_partial_shape()]
            shape = protocol.shape_of(port.get_any_name(), declared, shapes)
            data = protocol.made_up(shape, port.get_element_type().to_dtype(), generator)
            self.request.set_tensor(port, openvino.Tensor(data))
        self.layout_us = self.probe_layout() if probe else 0.0

    def run(self):
        self.request.infer()

    def probe_layout(self):
        """Time of one run that reorders at inputs and outputs take (blocked layouts of convolutions)."""
        times = {}
        for _ in range(PROBE_RUNS):
            self.run()
            for node in self.request.get_profiling_info():
                if node.node_type == "Reorder":
                    times.setdefault(node.node_name, []).append(node.real_time.total_seconds() * 1e6)
        return float(sum(sorted(t)[len(t) // 2] for t in times.values()))


class OpenVino:
    def hello(self, threads):
        try:
            import openvino
        except ImportError as error:
            raise ImportError(f"{error}; install the PyPI package openvino in this Python environment") from None
        self.openvino = openvino
        self.core = openvino.Core()
        self.threads = threads
        return {"runtime": "openvino", "version": openvino.__version__.split("-")[0],
                "device": self.core.get_property("CPU", "FULL_DEVICE_NAME"), "threads": threads, "pool_context": False}

    def load(self, path, generator, probe, shapes):
        config = {"PERFORMANCE_HINT": "LATENCY", "INFERENCE_NUM_THREADS": self.threads, "NUM_STREAMS": 1,
                  "INFERENCE_PRECISION_HINT": "f32", "PERF_COUNT": "YES" if probe else "NO"}
        return Model(self.openvino, self.core, path, generator, config, probe, shapes)


if __name__ == "__main__":
    protocol.serve(OpenVino())
