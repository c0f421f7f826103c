"""The side of a measurer that is the same for every runtime: rlgo's measurer protocol (docs/measurer-protocol.md).

A runtime is an object with
    hello(threads) -> dict of runtime, version, device, threads, outputs, pool_context; raises ImportError where it is not installed
    load(path, generator, probe, shapes, values) -> model; `probe`: layout_fraction() will be asked, once, before any timing;
        `shapes`: of inputs by name, where the model leaves them open; `values`: numbers that inputs by name are to have
and a model has `assumed` (what feeds_that_run() answers, or {}), run() (one inference on inputs that were synthetic at load), outputs() (one inference:
[(name, numpy array)]; a runtime whose models have none leaves `outputs` out of its greeting), and, where the runtime reports it, layout_fraction() (the part of
its time, 0 to 1, that changes of data layout at its own inputs and outputs take). A runtime that greets with `switches` also has
    settings() -> [{level, threads, usual}], its own switches; load() takes one of them as a sixth argument.
    plain() -> the one of them without graph optimisation; may be missing
and models of one that greets with `profile` have operator_times() -> [{name, op, us}], the kernels of one run (loaded with `probe`),
and a model may have touch(), which reads its inputs and outputs: an operator's are in the caches when its turn comes; and begin_anew(), after which it draws the
random numbers that it drew first.
"""
import gc
import json
import math
import os
import random
import sys
import time

import other_values
import random_seeds

PROTOCOL = 1
CONTEXT = "rlgo_context"  # in the names of operators that only give others their layout; not counted


def device_name():
    """What the processor calls itself."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return "unknown processor"


def how_to_install(package):
    """The remedy where a runtime's package is missing."""
    return f"install it: {sys.executable} -m pip install {package}"


def synthetic(shape, dtype, generator):
    """Numbers for one input: normal for floats, 0 and 1 for the rest (they may be indices)."""
    import numpy

    dtype = numpy.dtype(dtype)
    if dtype.kind == "f":
        return generator.standard_normal(shape, dtype=numpy.float32).astype(dtype, copy=False)
    return generator.integers(0, 2, size=shape).astype(dtype)


MOST_RUNS = 10000  # in a sample
# A run inside a whole model finds large weights in memory: others have taken the caches since the last one. Run again and again by
# themselves they seem up to six times as fast (products of a few rows by 1 MiB of weights). So models of operators in files of
# COLD_BYTES and more (their weights) are timed run by run, after a walk over SWEPT_BYTES, twice what a core's own caches hold and more.
COLD_BYTES, SWEPT_BYTES, COLD_RUNS = 64 << 10, 8 << 20, 4
SLOW_US = 1e5  # of one run
# Before the first sample of a slow model. In its first two runs ONNX Runtime plans its memory, and the system hands that out page by
# page: the second run of VGG-19 takes 15 % longer than the third. Fewer would count against the model that is loaded last.
SLOW_RUNS = 2
REFERENCE_US = 400  # at least, of a sample of the reference
MOST_MEANT = 8  # an integer input of so few elements may mean something: a rate, a length, a size


def filled(name, shape, dtype, numbers):
    """`numbers`, one for all elements or one for each, as an array."""
    import numpy

    count = int(numpy.prod(shape, dtype=numpy.int64))
    if len(numbers) not in (1, count):
        raise ValueError(f"input '{name}' has {count} elements, not {len(numbers)}")
    return numpy.resize(numpy.asarray(numbers, dtype="f8"), shape).astype(dtype)


def likely(name, shape, others):
    """Lists of numbers that an integer input may mean, the likeliest first; None: synthetic. `others`: shapes of the other inputs."""
    import numpy

    largest = max(others, key=lambda s: numpy.prod(s, dtype=numpy.int64), default=[])
    extents = [[n] for n in dict.fromkeys([*largest[1:], *largest[:1], *(n for s in others for n in s)]) if n > 1]
    count = int(numpy.prod(shape, dtype=numpy.int64))
    tails = [list(s[len(s) - count:]) for s in (largest, *others) if 1 < count <= len(s)]
    rates = [[16000], [8000]]
    lower = name.lower()
    if lower == "sr" or lower.endswith("_sr") or "rate" in lower:
        return [*rates, None, [1], *extents]
    if "len" in lower:
        return [*extents, None, [1], *rates]
    if "size" in lower or "shape" in lower:
        return [*tails, *extents, None, [1], *rates]
    return [None, [1], *tails, *rates, *extents, [0], [2], [8], [64]]


def feeds_that_run(inputs, values, generator, run, others=lambda shapes: {}):
    """Values for `inputs` [(name, shape, dtype)] with which run(feeds) raises nothing, and what was assumed: {name: numbers or words}.

    Integer inputs of a few elements, for which `values` has none, are tried with what is likely until the model runs; so are inputs that
    hold no numbers: others(shapes of `inputs`) -> {name: other_values.candidates()}. Where it never does, the first error is raised."""
    import numpy

    feeds = {name: synthetic(shape, dtype, generator) for name, shape, dtype in inputs}
    for name, shape, dtype in inputs:
        if name in values:
            feeds[name] = filled(name, shape, dtype, values[name])
    tries = others([shape for _, shape, _ in inputs])
    for name, shape, dtype in inputs:
        if name in values or numpy.dtype(dtype).kind not in "iu" or numpy.prod(shape, dtype=numpy.int64) > MOST_MEANT:
            continue
        tries[name] = []
        for numbers in likely(name, shape, [s for other, s, _ in inputs if other != name]):
            value = feeds[name] if numbers is None else filled(name, shape, dtype, numbers)
            meant = numbers if numbers is not None else value.flat if value.size == 1 else None
            tries[name].append((value, meant and [float(n) for n in meant]))
    first_error = None
    for place in range(max(map(len, tries.values()), default=0)):
        tried = {name: found[min(place, len(found) - 1)] for name, found in tries.items()}
        trial = feeds | {name: value for name, (value, _) in tried.items()}
        try:
            run(trial)
            return trial, {name: meant for name, (_, meant) in tried.items() if meant}
        except Exception as error:  # of any kind: the next one may run
            first_error = first_error or error
    if first_error:
        raise first_error
    return feeds, {}


def shape_of(name, declared, shapes):
    """The shape to run with: `declared` (None for an open extent), filled in from the request's; 1 where nothing is said."""
    wanted = shapes.get(name, [])
    if len(wanted) != len(declared):
        wanted = [1] * len(declared)
    return [w if d is None else d for d, w in zip(declared, wanted)]


def fraction(times, counted):
    """Part of the summed least times of operators that `counted` ones take. `times`: name -> list of measured times."""
    least = {name: min(values) for name, values in times.items()}
    total = sum(least.values())
    return sum(us for name, us in least.items() if counted(name)) / total if total > 0 else 0.0


class Loading:
    """What the first model of a process takes: time to load it (and to find inputs that it runs with), and memory."""

    def __init__(self):
        try:
            with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
                file.write("5")  # the peak begins here
        except OSError:  # not allowed here: the peak of the start stays, which a small model does not reach
            pass
        self.before = self.memory("VmRSS")
        self.begin = time.perf_counter()

    @staticmethod
    def memory(what):
        """Bytes of this process: VmRSS now, VmHWM at most; 0 where the system does not tell."""
        try:
            with open("/proc/self/status", encoding="ascii") as file:
                return next(1024 * int(line.split()[1]) for line in file if line.startswith(what + ":"))
        except OSError:
            return 0

    def reported(self, run):
        seconds = time.perf_counter() - self.begin
        run()
        return {"seconds": seconds, "bytes": max(0, self.memory("VmHWM") - self.before)}


class Server:
    def __init__(self, runtime):
        self.runtime = runtime
        self.threads = 1
        self.swept = None
        self.loaded = False  # any model
        self.references = {}  # path -> (model, runs that make a sample), or None
        # What a runtime prints must not end up between the answers.
        self.out = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)

    def send(self, **message):
        self.out.write(json.dumps(message) + "\n")
        self.out.flush()

    def now_ns(self):
        # One thread: the time that this process ran, so that others on the machine do not count. Else elapsed time.
        return time.process_time_ns() if self.threads == 1 else time.perf_counter_ns()

    def sample_us(self, run, batch):
        begin = self.now_ns()
        for _ in range(batch):
            run()
        return (self.now_ns() - begin) / 1000.0 / batch

    def cold_sample_us(self, model, other, least_us):
        """The mean of runs that find weights in memory, inputs and outputs in the caches, and the runtime's code as `other` left it."""
        import numpy

        if self.swept is None:
            self.swept = numpy.ones(SWEPT_BYTES // 8)
        times = []
        while len(times) < COLD_RUNS and sum(times) < least_us:
            self.swept.sum()
            other.run()
            if hasattr(model, "touch"):
                model.touch()
            times.append(self.sample_us(model.run, 1))
        return sum(times) / len(times)

    def is_slow(self, run, warmup, ran=0):
        """Warms a model up that was run `ran` times; whether a run takes a tenth of a second. SLOW_RUNS are then enough, and one makes a sample."""
        if not any(self.sample_us(run, 1) > SLOW_US for _ in range(warmup)):
            return False
        for _ in range(SLOW_RUNS - 1 - ran):
            run()
        return True

    def batch_of(self, run, least_us):
        """How many runs last `least_us`. The runs that find that out warm the model up: a first run may take many times a later one."""
        batch = 1
        while batch < MOST_RUNS:
            us = self.sample_us(run, batch)
            if us * batch < 20 * least_us:  # the least of two: another process may have had the core
                us = min(us, self.sample_us(run, batch))
            if us * batch >= least_us / 2:
                return max(1, min(MOST_RUNS, math.ceil(least_us / max(us, 0.1))))
            batch *= 4
        return MOST_RUNS

    def load(self, request, probe):
        """Models, warmed up; None where one failed, with the reason in its result. How many runs make a sample; 0: of cold ones."""
        import numpy

        models, results, batches = [], [], []
        for index, path in enumerate(request["models"]):
            self.send(id=request["id"], at=index)
            model, result, batch = None, {}, 1
            try:
                loading = None if self.loaded else Loading()
                self.loaded = True
                model = self.runtime.load(path, numpy.random.default_rng(request["seed"]), probe,
                                          request.get("shapes", {}), request.get("values", {}))
                if loading:
                    result["loading"] = loading.reported(model.run)
                if probe:
                    result["layout_fraction"] = model.layout_fraction() if hasattr(model, "layout_fraction") else 0.0
                elif model.assumed:
                    result["assumed"] = model.assumed
                if not self.is_slow(model.run, request["warmup"], 1 if loading else 0) and request["min_sample_us"] > 0:
                    cold = probe and os.path.getsize(path) >= COLD_BYTES
                    batch = 0 if cold else self.batch_of(model.run, request["min_sample_us"])
            except Exception as error:  # of any kind: it is this model's result
                model, result = None, {"error": f"{type(error).__name__}: {error}"[:2000]}
            models.append(model)
            results.append(result)
            batches.append(batch)
        return models, results, batches

    def reference_of(self, request):
        """What times the model whose time shows the machine's pace; nothing where it does not run. It is loaded once for all requests."""
        import numpy

        path = request["reference"]
        if path not in self.references:
            try:
                model = self.runtime.load(path, numpy.random.default_rng(request["seed"]), False, {}, {})
                self.references[path] = model, self.batch_of(model.run, REFERENCE_US)
            except Exception:  # of any kind: without it
                self.references[path] = None
        if self.references[path] is None:
            return None
        model, batch = self.references[path]
        model.run()  # not counted: the request before has taken the caches
        return lambda: self.sample_us(model.run, batch)

    def time_models(self, request, probe):
        begin = time.monotonic()
        models, results, batches = self.load(request, probe)
        clock = self.reference_of(request) if "reference" in request else None
        good = [i for i, model in enumerate(models) if model is not None]
        for i in good:
            results[i]["samples_us"] = []
            if clock:
                results[i]["reference_us"] = []
        before = clock() if clock else 0
        order = random.Random(request["seed"])
        last = None  # that was timed cold
        collected = gc.isenabled()
        gc.disable()
        for round_number in range(request["repeats"]):
            if round_number >= request.get("least_repeats", 1) and time.monotonic() - begin > request.get("seconds", float("inf")):
                break
            order.shuffle(good)
            for i in good:
                try:
                    if "samples_us" not in results[i]:
                        continue
                    if batches[i] == 0:
                        other = models[-1] or models[i] if last in (None, models[i]) else last
                        last = models[i]
                        results[i]["samples_us"].append(self.cold_sample_us(models[i], other, request["min_sample_us"]))
                    else:
                        if batches[i] > 1:
                            models[i].run()  # not counted: the others have taken the caches
                        results[i]["samples_us"].append(self.sample_us(models[i].run, batches[i]))
                    if clock:
                        earlier, before = before, clock()
                        results[i]["reference_us"].append((earlier + before) / 2)
                except Exception as error:
                    results[i] = {"error": f"{type(error).__name__}: {error}"[:2000]}
            self.send(id=request["id"], round=round_number)
        if collected:
            gc.enable()
        return results

    def outputs_of(self, request, index, path):
        """One run of one model: a file of 64-bit floats for each of its outputs."""
        import numpy

        self.send(id=request["id"], at=index)
        setting = [self.runtime.plain()] if request.get("plain") and hasattr(self.runtime, "plain") else []
        alike = random_seeds.seeded(path, request["folder"])
        model = self.runtime.load(alike, numpy.random.default_rng(request["seed"]), False, request.get("shapes", {}),
                                  request.get("values", {}), *setting)
        if alike != path and hasattr(model, "begin_anew"):
            model.begin_anew()
        reported = []
        arrays = [part for name, value in model.outputs() for part in other_values.arrays_of(name, value)]
        for place, (name, dtype, array) in enumerate(arrays):
            file = os.path.join(request["folder"], f"{index}-{place}.f64")
            array.astype("<f8").tofile(file)
            reported.append({"name": name, "dtype": dtype, "shape": list(array.shape), "file": file})
        return {"outputs": reported}

    def outputs(self, request):
        results = []
        for index, path in enumerate(request["models"]):
            try:
                results.append(self.outputs_of(request, index, path))
            except Exception as error:  # of any kind: it is this model's result
                results.append({"error": f"{type(error).__name__}: {error}"[:2000]})
        return results

    def switches(self, request):
        """Elapsed times of whole models under each of the runtime's settings: one after the other, forwards and then backwards (drift
        meets all alike), until the time is over."""
        import numpy

        begin, seconds = time.monotonic(), request["seconds"]
        settings = self.runtime.settings()
        places = [(s, m) for s in range(len(settings)) for m in range(len(request["models"]))]
        fraction = seconds / (2 * len(places))
        samples, errors = {place: [] for place in places}, {}
        for s, m in places + places[::-1]:
            if s in errors or time.monotonic() - begin > seconds:
                continue
            self.send(id=request["id"], at=m)
            until = time.monotonic() + fraction
            try:
                model = self.runtime.load(request["models"][m], numpy.random.default_rng(request["seed"]), False, request.get("shapes", {}),
                                          request.get("values", {}), settings[s])
                model.run()
                model.run()
                while len(samples[s, m]) < 2 or time.monotonic() < until:
                    start = time.perf_counter_ns()
                    model.run()
                    samples[s, m].append((time.perf_counter_ns() - start) / 1000.0)
            except Exception as error:  # of any kind: it is this setting's result
                errors[s] = f"{type(error).__name__}: {error}"[:2000]
        us = {place: float(numpy.median(found)) if found else None for place, found in samples.items()}
        return [setting | {"us": [us[s, m] for m in range(len(request["models"]))], "error": errors.get(s, "")}
                for s, setting in enumerate(settings)]

    def profile(self, request):
        import numpy

        self.send(id=request["id"], at=0)
        return self.runtime.load(request["model"], numpy.random.default_rng(request["seed"]), True, request.get("shapes", {}),
                                 request.get("values", {})).operator_times()

    def answer(self, request):
        what = request["do"]
        if what == "hello":
            if request["protocol"] != PROTOCOL:
                raise ValueError(f"protocol {request['protocol']} is asked for, {PROTOCOL} is spoken")
            self.threads = request["threads"]
            return {"reference": True} | self.runtime.hello(self.threads)
        if what in ("measure", "compare"):
            return {"results": self.time_models(request, probe=what == "measure")}
        if what == "outputs":
            return {"results": self.outputs(request)}
        if what == "switches":
            return {"settings": self.switches(request)}
        if what == "profile":
            return {"operators": self.profile(request)}
        raise ValueError(f"unknown request '{what}'")

    def serve(self):
        for line in sys.stdin:
            if not line.strip():
                continue
            request = {}
            try:
                request = json.loads(line)
                if request["do"] == "quit":
                    break
                self.send(id=request["id"], **self.answer(request))
            except Exception as error:  # the request's answer, not the end
                self.send(id=request.get("id", 0), error=f"{type(error).__name__}: {error}")


def serve(runtime):
    Server(runtime).serve()
