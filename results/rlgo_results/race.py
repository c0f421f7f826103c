"""Models raced against one another in one process: rounds in random order, paired ratios. Needs onnxruntime; openvino where it is."""
import importlib.util
import os
import random
import statistics
import subprocess
import time
from pathlib import Path

import numpy as np
import pandas as pd

from .where import commit, machine

COLUMNS = ["graph", "system", "runtime", "threads", "median_us", "ratio", "ratio_low", "ratio_high", "noise", "rounds", "model", "commit", "machine"]


_shared = 0  # threads of the pool that sessions of several threads share


def share_pool(threads):
    """To be called before the first session of a process in which sessions of so many threads race: from then on all sessions run on one pool of
    so many. With a pool for each session the threads of the others, which spin for a while after a run, would take the cores from it."""
    import onnxruntime as ort

    global _shared
    if threads > 1 and _shared != threads:
        ort.set_default_logger_severity(3)
        ort.set_global_thread_pool_sizes(threads, 1)
        _shared = threads


def session_options(threads):
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.log_severity_level = 4
    if _shared:
        options.use_per_session_threads = False
        return options
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    return options


class Timed:
    """Something that runs; time_us() is the time of one run, processor time where there is one thread."""

    def __init__(self, run, threads, clock=None):
        self.run = run
        # One thread: the time that this process ran, so that others on the machine do not count.
        self.clock = clock or (time.process_time_ns if threads == 1 else time.perf_counter_ns)
        self.warm_up()

    def warm_up(self):
        self.batch = 1
        self.once_us = min(self.time_us() for _ in range(3))
        self.batch = max(1, min(1000, int(2000 / max(self.once_us, 1))))

    def run_once(self):
        self.run()

    def time_us(self):
        begin = self.clock()
        for _ in range(self.batch):
            self.run()
        return (self.clock() - begin) / 1000 / self.batch


class TimedTensorFlow(Timed):
    """A model in TensorFlow, in a process of its own (tensorflow_runner.py). Raises RuntimeError where it cannot run."""

    def __init__(self, python, model, feeds, grappler, folder, threads=1):
        feeds_file = Path(folder) / "feeds.npz"
        np.savez(feeds_file, **feeds)
        command = [python, Path(__file__).parent / "tensorflow_runner.py", model, feeds_file, "--grappler", "yes" if grappler else "no", "--threads", threads]
        self.errors = open(Path(folder) / "tensorflow.log", "w+", encoding="utf-8")  # noqa: SIM115
        self.process = subprocess.Popen([str(c) for c in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, text=True)
        self.outputs_file = Path(folder) / f"tensorflow-{grappler}.npy"
        self.answer("ready")
        self.warm_up()

    def answer(self, wanted=None):
        line = self.process.stdout.readline().strip()
        if not line or (wanted and line != wanted):
            self.process.wait()
            self.errors.seek(0)
            reported = self.errors.read().strip().splitlines()
            causes = [text for text in reported if "Error" in text] or reported or [line or "no answer"]
            raise RuntimeError(causes[-1])
        return line

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def time_us(self):
        self.ask(f"time {self.batch}")
        return float(self.answer())

    def run_once(self):
        self.ask("time 1")
        self.answer()

    def outputs(self):
        self.ask(f"outputs {self.outputs_file}")
        self.answer("done")
        return np.load(self.outputs_file)

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.errors.close()


def in_onnxruntime(path, feeds, threads, rewriting=True):
    import onnxruntime as ort

    options = session_options(threads)
    if not rewriting:
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    values = {name: ort.OrtValue.ortvalue_from_numpy(value) for name, value in feeds.items()}
    names = [value.name for value in session.get_outputs()]
    binding = session.io_binding()
    for name, value in values.items():
        binding.bind_ortvalue_input(name, value)
    for name in names:
        binding.bind_output(name)
    try:
        for _ in range(2):  # the second run is the first one that finds bound outputs
            session.run_with_iobinding(binding)
    except RuntimeError as error:
        # Bound outputs are used again (2 us a run instead of 30), not so where the model declares another rank than it computes
        # (as in launch/measurers/onnxruntime_measurer.py, which stands alone).
        if "Invalid rank for output" not in str(error):
            raise
        return Timed(lambda: session.run_with_ort_values(names, values), threads)
    return Timed(lambda: session.run_with_iobinding(binding), threads)


def in_tensorrt(path, feeds):
    """TensorRT through ONNX Runtime's provider, in single precision, inputs and outputs in main memory. Raises RuntimeError where it cannot run."""
    import onnxruntime as ort

    provider = "TensorrtExecutionProvider"
    if provider not in ort.get_available_providers():
        raise RuntimeError(f"needs a GPU: this ONNX Runtime has no {provider}, which onnxruntime-gpu with TensorRT's libraries has")
    os.environ["NVIDIA_TF32_OVERRIDE"] = "0"
    session = ort.InferenceSession(str(path), session_options(1), providers=[provider])
    if session.get_providers()[0] != provider:  # ONNX Runtime continues with the processor
        raise RuntimeError(f"needs a GPU: {provider} did not load")
    run = lambda: session.run(None, feeds)  # noqa: E731
    return Timed(run, threads=1, clock=time.perf_counter_ns), run


def in_openvino(path, feeds, threads):
    import openvino

    model = openvino.Core().compile_model(str(path), "CPU", {"INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1, "INFERENCE_PRECISION_HINT": "f32"})
    request = model.create_infer_request()
    for name, value in feeds.items():
        request.set_tensor(name, openvino.Tensor(value))
    return Timed(request.infer, threads)


def made_up_feeds(path, seed=0):
    """Inputs for a model; dimensions that it leaves open are 1."""
    import onnxruntime as ort

    generator = np.random.default_rng(seed)
    feeds = {}
    for value in ort.InferenceSession(str(path), session_options(1), providers=["CPUExecutionProvider"]).get_inputs():
        shape = [d if isinstance(d, int) and d > 0 else 1 for d in value.shape]
        kind = {"tensor(float)": np.float32, "tensor(double)": np.float64}.get(value.type)
        feeds[value.name] = generator.standard_normal(shape).astype(kind) if kind else np.zeros(shape, {"tensor(int32)": np.int32, "tensor(bool)": bool}.get(value.type, np.int64))
    return feeds


def race(timed, rounds, budget_s, seed=0, least=7, rest_s=0.0):
    """{name: samples in us} of {name: Timed}; a round runs all, in random order, each after a rest. At least `least` rounds, however long they take."""
    round_s = sum(t.once_us * t.batch for t in timed.values()) / 1e6
    count = max(least, min(rounds, int(budget_s / max(round_s, 1e-6))))
    samples, order, shuffle = {name: [] for name in timed}, list(timed), random.Random(seed)
    for _ in range(count):
        shuffle.shuffle(order)
        for name in order:
            if rest_s > 0:
                time.sleep(rest_s)
                timed[name].run_once()  # wakes its threads
            samples[name].append(timed[name].time_us())
    return samples


def rows_of(samples, reference):
    """One row a system: median, median and quartiles of paired ratios against the reference; noise: the reference's other session
    'again' against it."""
    ratio = {name: np.array(values) / np.array(samples[reference]) for name, values in samples.items()}
    noise = abs(statistics.median(ratio["again"]) - 1)
    for name, values in samples.items():
        if name != "again":
            low, high = np.quantile(ratio["again"] if name == reference else ratio[name], [0.25, 0.75])
            yield {"system": name, "median_us": statistics.median(values), "ratio": statistics.median(ratio[name]), "ratio_low": low, "ratio_high": high,
                   "noise": noise, "rounds": len(values)}  # fmt: skip


def chosen(results):
    """{graph: {system: path}}: of each system the run whose model is the cheapest by its trace."""
    best = {}
    for result in results:
        if result.model.is_file():
            cost = result.trace["cost_us"].iloc[-1] if result.trace is not None and len(result.trace) else float("inf")
            known = best.setdefault(result.graph, {}).get(result.system)
            if known is None or cost < known[0]:
                best[result.graph][result.system] = (cost, result.model)
    return {graph: {system: path for system, (_, path) in systems.items()} for graph, systems in best.items()}


def race_graph(graph, models, threads, rounds, budget_s):
    """Rows of one graph. The unmodified model runs without and with ONNX Runtime's own rewriting, and under OpenVINO."""
    unmodified = models["unmodified"]
    feeds = made_up_feeds(unmodified)
    timed = {"no rewriting": in_onnxruntime(unmodified, feeds, threads, rewriting=False), "ONNX Runtime": in_onnxruntime(unmodified, feeds, threads)}
    timed["again"] = in_onnxruntime(unmodified, feeds, threads)
    runtime = {"no rewriting": "onnxruntime, no rewriting"}
    if importlib.util.find_spec("openvino"):
        timed["OpenVINO"], runtime["OpenVINO"] = in_openvino(unmodified, feeds, threads), "openvino"
    for system, path in models.items():
        if system != "unmodified":
            timed[system] = in_onnxruntime(path, feeds, threads)
    for row in rows_of(race(timed, rounds, budget_s), "ONNX Runtime"):
        model = models.get(row["system"], unmodified)
        yield {"graph": graph, "threads": threads, "runtime": runtime.get(row["system"], "onnxruntime"), "model": model.parent.name} | row


def race_all(results, out, threads=1, rounds=31, budget_s=8.0, log=print):
    """Writes the table `out`, graph by graph; what is in it already is left as it is."""
    share_pool(threads)
    out = Path(out)
    done = set(pd.read_csv(out)["graph"]) if out.is_file() else set()
    for graph, models in chosen(results).items():
        if graph in done:
            continue
        if "unmodified" not in models:
            log(f"{graph}: left out: no folder {graph}-unmodified with its best.onnx (rlgo replay --trace EMPTY --out; results/record.py)")
            continue
        rows = [row | {"commit": commit(), "machine": machine()} for row in race_graph(graph, models, threads, rounds, budget_s)]
        pd.DataFrame(rows)[COLUMNS].to_csv(out, mode="a", header=not out.is_file(), index=False, float_format="%.6g")
        log(f"{graph}: " + ", ".join(f"{row['system']} {row['median_us'] / 1e3:.2f} ms" for row in rows))
