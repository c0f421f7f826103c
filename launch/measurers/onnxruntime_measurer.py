#!/usr/bin/env python3
"""Measurer for ONNX Runtime on the processor, at its default optimisation level."""
import json
import os

import other_values
import protocol

DTYPES = {
    "tensor(float)": "float32", "tensor(double)": "float64", "tensor(float16)": "float16", "tensor(bool)": "bool",
    "tensor(int8)": "int8", "tensor(int16)": "int16", "tensor(int32)": "int32", "tensor(int64)": "int64",
    "tensor(uint8)": "uint8", "tensor(uint16)": "uint16", "tensor(uint32)": "uint32", "tensor(uint64)": "uint64",
}
PROBE_RUNS = 4
KERNEL = "_kernel_time"  # of events in profiles


class Model:
    def __init__(self, ort, path, generator, options, shapes, values):
        options.profile_file_prefix = path + ".profile"
        self.open = lambda: ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        self.session = self.open()
        self.binding = self.session.io_binding()
        self.names = [value.name for value in self.session.get_outputs()]
        self.misdeclared = False
        inputs, others = [], {}
        for value in self.session.get_inputs():
            declared = [d if isinstance(d, int) and d >= 0 else None for d in value.shape]
            shape = protocol.shape_of(value.name, declared, shapes)
            if value.type in DTYPES:
                inputs.append((value.name, shape, DTYPES[value.type]))
            else:
                others[value.name] = value.type, shape if value.type.startswith("tensor") else None

        def numbers(type_text, shape):
            if type_text not in DTYPES:
                raise ValueError(f"no synthetic value is made of type {type_text}")
            return protocol.synthetic(shape, DTYPES[type_text], generator)

        def candidates(tensor_shapes):
            try:
                return {name: other_values.candidates(path, name, type_text, shape, tensor_shapes, values.get(name), numbers, generator)
                        for name, (type_text, shape) in others.items()}
            except ValueError as error:
                raise ValueError(f"inputs {', '.join(f'{n}: {t}' for n, (t, _) in others.items())}: {error}") from None

        feeds, self.assumed = protocol.feeds_that_run(inputs, values, generator, lambda feeds: self.session.run(None, feeds), candidates)
        self.bound = not others and all(value.type in DTYPES for value in self.session.get_outputs())
        if not self.bound:  # ONNX Runtime binds tensors of numbers only
            self.feeds = feeds
            return
        self.feeds = {name: ort.OrtValue.ortvalue_from_numpy(data) for name, data in feeds.items()}
        for name, value in self.feeds.items():
            self.binding.bind_ortvalue_input(name, value)
        for name in self.names:
            self.binding.bind_output(name)

    def run(self):
        if not self.bound:
            self.session.run(None, self.feeds)
            return
        if self.misdeclared:
            self.values = self.session.run_with_ort_values(self.names, self.feeds)
            return
        try:
            self.session.run_with_iobinding(self.binding)
        except Exception:  # what ONNX Runtime raises has no common class
            # Bound outputs are used again (2 us a run instead of 30), not so where the model declares another rank than it
            # computes, or where shapes depend on values (Unique, NonZero) that change from run to run.
            self.misdeclared = True
            self.run()

    def begin_anew(self):
        """Random numbers from the first one again: trial runs may have drawn some, more of one model than of another."""
        self.session = self.open()
        self.misdeclared = True  # bound to the other session

    def touch(self):
        if not self.bound:
            return
        for value in [*self.feeds.values(), *([] if self.misdeclared else self.binding.get_outputs())]:
            value.numpy()

    def outputs(self):
        if not self.bound:
            return list(zip(self.names, self.session.run(None, self.feeds), strict=True))
        self.run()
        values = self.values if self.misdeclared else self.binding.get_outputs()
        return [(name, value.numpy()) for name, value in zip(self.names, values, strict=True)]

    def kernels(self):
        """Events of ONNX Runtime's profile, of kernels in some runs, in order of their beginning."""
        for _ in range(PROBE_RUNS):
            self.run()
        path = self.session.end_profiling()
        with open(path, encoding="utf-8") as file:
            events = json.load(file)
        os.unlink(path)
        return sorted((e for e in events if e.get("cat") == "Node" and e["name"].endswith(KERNEL)), key=lambda e: (e["ts"], -e["dur"]))

    def layout_fraction(self):
        """ReorderInput and ReorderOutput: blocked layouts of convolutions."""
        times, counted = {}, set()
        for event in self.kernels():
            name = event["name"]
            times.setdefault(name, []).append(event["dur"])
            if event["args"].get("op_name") in ("ReorderInput", "ReorderOutput") or protocol.CONTEXT in name:
                counted.add(name)
        return protocol.fraction(times, counted.__contains__)

    def operator_times(self):
        """The least time of each node in one run, those inside of bodies left out: the node with the body has their time."""
        times, end = {}, 0
        for event in self.kernels():
            if event["ts"] < end:
                continue
            end = event["ts"] + event["dur"]
            times.setdefault((event["name"].removesuffix(KERNEL), event["args"].get("op_name", "")), []).append(event["dur"])
        return [{"name": name, "op": op, "us": min(found)} for (name, op), found in times.items()]


class OnnxRuntime:
    def hello(self, threads):
        try:
            import onnxruntime
        except ImportError as error:
            raise ImportError(f"{error}; {protocol.how_to_install('onnxruntime')}") from None
        self.ort = onnxruntime
        self.ort.set_default_logger_severity(3)
        self.threads = threads
        # Of several threads: one pool for all models. Threads of a pool spin for a while after a run; with a pool for each
        # model they would take the cores from the next one's (two threads on two cores: 1.6 to 4 times slower, at random).
        self.shared_pool = threads > 1 and hasattr(self.ort, "set_global_thread_pool_sizes")
        if self.shared_pool:
            self.ort.set_global_thread_pool_sizes(threads, 1)
        return {"runtime": "onnxruntime", "version": onnxruntime.__version__, "device": protocol.device_name(),
                "threads": threads, "outputs": True, "switches": True, "profile": True, "pool_context": True}

    def settings(self):
        """Levels of graph optimisation, with the threads of all other times, one, and all cores; the usual ones first."""
        cores = len(os.sched_getaffinity(0))
        return [{"level": level, "threads": threads, "usual": level == "all" and threads == self.threads}
                for threads in sorted({1, self.threads, cores}, key=lambda n: (n != self.threads, n)) for level in ("all", "extended", "basic", "disable")]

    def plain(self):
        return {"level": "disable", "threads": self.threads}

    def load(self, path, generator, probe, shapes, values, setting=None):
        options = self.ort.SessionOptions()
        if setting:
            levels = self.ort.GraphOptimizationLevel
            options.graph_optimization_level = {"all": levels.ORT_ENABLE_ALL, "extended": levels.ORT_ENABLE_EXTENDED,
                                                "basic": levels.ORT_ENABLE_BASIC, "disable": levels.ORT_DISABLE_ALL}[setting["level"]]
            options.intra_op_num_threads = setting["threads"]
            options.inter_op_num_threads = 1
        elif self.shared_pool:
            options.use_per_session_threads = False
        else:
            options.intra_op_num_threads = self.threads
            options.inter_op_num_threads = 1
            if self.threads > 1:
                options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.log_severity_level = 3
        options.enable_profiling = probe
        return Model(self.ort, path, generator, options, shapes, values)


if __name__ == "__main__":
    protocol.serve(OnnxRuntime())
