"""What the tests of the command line share: running rlgo, comparing models, reading what a run left."""
import csv
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BINARY = os.environ.get("RLGO_BINARY", "")
SOURCE = Path(os.environ.get("RLGO_SOURCE", Path(__file__).resolve().parents[2]))
sys.path.append(str(SOURCE / "tests" / "interop"))  # _sessions
SKIPPED = 77
# Costs by formula and short final measurements: what these tests look at does not depend on times.
QUICK = ["--cost", "analytic", "--check.repeats", "3", "--check.seeds", "1"]
RANDOM = ["--agent", "random", *QUICK]
SMALL_NET = ["--gnn.width", "8", "--gnn.rounds", "1"]
STOP_S = 300  # far more than a clean end takes, for busy machines

if not os.path.isfile(BINARY):
    print("RLGO_BINARY names no program: skipped")
    sys.exit(SKIPPED)


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


class Folder:
    """A temporary folder, removed at the end; a failing test keeps it and says where."""

    def __enter__(self):
        self.path = Path(tempfile.mkdtemp(prefix="rlgo-cli-"))
        return self.path

    def __exit__(self, kind, *_):
        if kind is None:
            shutil.rmtree(self.path)
        else:
            print(f"kept: {self.path}", file=sys.stderr)


def environment():
    return {**os.environ, "OMP_NUM_THREADS": "1"}


def rlgo(*arguments, cwd, status=0, timeout=300, ranks=None, env=None):
    """Runs rlgo to its end; fails where the exit status is another one (None: any)."""
    launcher = [] if ranks is None else mpirun(ranks)
    done = subprocess.run([*launcher, BINARY, *map(str, arguments)], cwd=cwd, env={**environment(), **(env or {})}, timeout=timeout,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if status is not None and done.returncode != status:
        raise AssertionError(f"rlgo {' '.join(map(str, arguments))}: status {done.returncode}, expected {status}\n"
                             f"{done.stdout}{done.stderr}")
    return done


def mpirun(ranks):
    if shutil.which("mpirun") is None:
        skip("no mpirun")
    return ["mpirun", "-np", str(ranks), "--oversubscribe", "--bind-to", "none"]


def start(*arguments, cwd, ranks=None, log="output.txt"):
    """Starts rlgo and returns its process; what it says goes to a file in cwd."""
    launcher = [] if ranks is None else mpirun(ranks)
    with open(Path(cwd) / log, "w") as out:
        return subprocess.Popen([*launcher, BINARY, *map(str, arguments)], cwd=cwd, env=environment(),
                                stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, start_new_session=True)


def interrupt(process):
    """Sends SIGINT and returns the exit status; kills a process that does not end."""
    process.send_signal(signal.SIGINT)
    try:
        return process.wait(timeout=STOP_S)
    except subprocess.TimeoutExpired:
        process.kill()
        raise


def children(job):
    """{rank: process id} of a plain mpirun (launch scripts' jobs: faults/_faults.ranks_of)."""
    found = {}
    for child in subprocess.run(["pgrep", "-P", str(job.pid)], capture_output=True, text=True).stdout.split():
        for variable in Path(f"/proc/{child}/environ").read_bytes().split(b"\0"):
            if variable.startswith(b"OMPI_COMM_WORLD_RANK="):
                found[int(variable.split(b"=")[1])] = int(child)
    return found


def wait_until(what, condition, seconds=300, process=None):
    """Waits for a condition; fails where it does not come, or the process has ended before."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        assert process is None or process.poll() is None, f"the process ended ({process.returncode}) before {what}"
        time.sleep(0.05)
    raise AssertionError(f"not within {seconds} s: {what}")


def metrics(run):
    with open(Path(run) / "metrics.csv", newline="") as file:
        return list(csv.DictReader(file))


def stored(run):
    """The episodes of a run's store, a row each, read by results/rlgo_results (h5py)."""
    sys.path.insert(0, str(SOURCE / "results"))
    import rlgo_results

    return rlgo_results.load(run, steps=False).episodes


def state(run):
    """Everything in the last checkpoint, as bytes, but for the options as text and the time that was spent."""
    import h5py

    path = max((run / "checkpoints").glob("checkpoint-*.h5"))
    found = {}
    with h5py.File(path) as file:
        file.visititems(lambda name, item: found.update({name: item[()]}) if isinstance(item, h5py.Dataset) else None)
    del found["texts/config"]
    names = [name.decode() for name in found["numbers/name"]]
    found["numbers/value"][names.index("seconds")] = 0
    assert any(name.startswith("tensors/") for name in found) or "tensor_names" in found
    return {name: value.tobytes() if hasattr(value, "tobytes") else value for name, value in found.items()}


def rewrites(trace):
    """(rule, location) of each line of a trace file."""
    lines = [line.split("\t") for line in Path(trace).read_text().splitlines() if "\t" in line and not line.startswith("#")]
    return [(rule, int(location)) for _, rule, location, _ in lines]


def complete(run):
    """Fails unless a run folder holds all that a clean end leaves. Its model, which has another name where it was shown to be slower: by a
    formula's costs, on a busy machine, that happens."""
    import onnx

    run = Path(run)
    model = run / ("slower.onnx" if (run / "slower.onnx").exists() else "best.onnx")
    onnx.checker.check_model(str(model), full_check=True)
    assert "equivalence" in (run / "summary.txt").read_text(), run
    assert model.with_suffix(".trace").read_text().startswith("rlgo-trace 1\n")
    assert list((run / "checkpoints").glob("checkpoint-*.h5")), "no checkpoint"
    left = [path.name for path in run.rglob("*") if path.name.startswith(".") or "tmp" in path.name or "open" in path.name]
    assert not left, f"temporary files are left: {left}"
    return model


def declared(model):
    """Names, types and opsets that a rewrite must keep."""
    graph = model.graph
    weights = {i.name for i in graph.initializer}

    def values(list_):
        return [(v.name, v.type.tensor_type.elem_type, tuple(d.dim_value or d.dim_param for d in v.type.tensor_type.shape.dim))
                for v in list_ if v.name not in weights]

    return values(graph.input), values(graph.output), sorted((o.domain, o.version) for o in model.opset_import)


def inputs_of(model, seed):
    """Random inputs; indices (token numbers) for integer inputs."""
    import numpy as np
    import onnx

    rng = np.random.default_rng(seed)
    weights = {i.name for i in model.graph.initializer}
    feeds = {}
    for value in model.graph.input:
        if value.name in weights:
            continue
        shape = [d.dim_value or 1 for d in value.type.tensor_type.shape.dim]
        dtype = onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
        whole = np.issubdtype(dtype, np.integer)
        feeds[value.name] = (rng.integers(0, 100, shape) if whole else rng.standard_normal(shape)).astype(dtype)
    return feeds


def run_onnx(path, feeds):
    """Outputs in ONNX Runtime at its default level."""
    import onnxruntime as ort
    from _sessions import session

    return session(path, ort.GraphOptimizationLevel.ORT_ENABLE_ALL).run(None, feeds)


def assert_same_model(before, after, tolerance=1e-4, seeds=(1, 2)):
    """Both valid, declared alike, and with the same outputs in ONNX Runtime. Returns the largest relative error."""
    import numpy as np
    import onnx

    for path in (before, after):
        onnx.checker.check_model(str(path), full_check=True)
    old, new = onnx.load(str(before)), onnx.load(str(after))
    assert declared(old) == declared(new), f"{declared(old)} became {declared(new)}"
    worst = 0.0
    for seed in seeds:
        feeds = inputs_of(old, seed)
        expected, found = run_onnx(before, feeds), run_onnx(after, feeds)
        assert len(expected) == len(found) > 0
        for a, b in zip(expected, found):
            assert a.shape == b.shape and a.dtype == b.dtype, (a.shape, b.shape, a.dtype, b.dtype)
            assert np.isfinite(a).all() and np.abs(a).max() > 0
            worst = max(worst, float(np.abs(a.astype(np.float64) - b).max() / np.abs(a).max()))
    assert worst <= tolerance, f"relative error {worst}"
    return worst


def main(*tests):
    """Runs the functions, each in a folder of its own, and says how long each took."""
    for test in tests:
        begin = time.monotonic()
        print(f"{test.__name__}: {(test.__doc__ or '').strip().splitlines()[0]}", flush=True)
        with Folder() as folder:
            test(folder)
        print(f"  passed in {time.monotonic() - begin:.1f} s", flush=True)
