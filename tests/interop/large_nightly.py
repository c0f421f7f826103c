"""A model with more than 2 GB of weights, in a file next to it: imported, rewritten, exported, and run in ONNX Runtime.

Needs 8 GB of memory and 5 GB of disk; skipped where there is less.
"""
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import onnx
    import onnxruntime as ort
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

WIDTH, LAYERS = 5632, 18  # 127 MB each, 2.28 GB together
MEMORY = 8 << 30
NODE, INFO = onnx.helper.make_node, onnx.helper.make_tensor_value_info


def available():
    for line in open("/proc/meminfo", encoding="utf-8"):
        if line.startswith("MemAvailable"):
            return int(line.split()[1]) << 10
    return 0


def make(folder):
    """x (MatMul, Add, Relu)*: the additions become biases. Weights go to the file one by one."""
    rng = np.random.default_rng(0)
    nodes, weights, last, offset = [], [], "x", 0
    with open(folder / "large.bin", "wb") as data:
        for k in range(LAYERS):
            matrix = rng.standard_normal((WIDTH, WIDTH), dtype=np.float32) / np.float32(WIDTH**0.5)
            tensor = onnx.TensorProto(name=f"w{k}", data_type=onnx.TensorProto.FLOAT, dims=[WIDTH, WIDTH], data_location=onnx.TensorProto.EXTERNAL)
            for key, value in (("location", "large.bin"), ("offset", str(offset)), ("length", str(matrix.nbytes))):
                tensor.external_data.add(key=key, value=value)
            data.write(matrix.tobytes())
            offset += matrix.nbytes
            bias = onnx.numpy_helper.from_array(rng.standard_normal(WIDTH, dtype=np.float32), f"b{k}")
            weights += [tensor, bias]
            nodes += [NODE("MatMul", [last, f"w{k}"], [f"m{k}"]), NODE("Add", [f"m{k}", f"b{k}"], [f"a{k}"]), NODE("Relu", [f"a{k}"], [f"r{k}"])]
            last = f"r{k}"
    nodes.append(NODE("Relu", [last], ["y"]))  # one too many: a rewrite for any cost
    graph = onnx.helper.make_graph(nodes, "large", [INFO("x", 1, [1, WIDTH])], [INFO("y", 1, [1, WIDTH])], weights)
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8), folder / "large.onnx")
    assert offset > 2 << 30, offset


def run(path):
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    x = np.random.default_rng(1).standard_normal((1, WIDTH), dtype=np.float32)
    return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"]).run(None, {"x": x})[0]


def limited():
    resource.setrlimit(resource.RLIMIT_AS, (4 * MEMORY, 4 * MEMORY))  # addresses, not memory: what is mapped counts


def main():
    folder = pathlib.Path(tempfile.mkdtemp(prefix="rlgo-large-"))
    try:
        if available() < MEMORY or shutil.disk_usage(folder).free < 6 << 30:
            print("skipped: less than 8 GB of memory or 6 GB of disk are free")
            return 77
        make(folder)
        command = [os.environ.get("RLGO_BINARY", "rlgo"), "search", "--graph", "large.onnx", "--cost", "analytic", "--method", "greedy", "--out", "best"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, preexec_fn=limited)
        print(done.stdout + done.stderr)
        assert done.returncode == 0, done.returncode
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss << 10
        print(f"largest process: {peak / 2**30:.2f} GiB")
        assert peak < MEMORY, peak
        (best,) = (folder / "best").rglob("best.onnx")
        out = onnx.load(best, load_external_data=False)
        beside = {p.name: p.stat().st_size for p in best.parent.iterdir()}
        assert best.stat().st_size < 1 << 30 < 2 << 30 < max(beside.values()), beside
        assert len(out.graph.node) < 3 * LAYERS + 1, [n.op_type for n in out.graph.node]
        before, after = run(folder / "large.onnx"), run(best)
        error = float(np.abs(before - after).max() / np.abs(before).max())
        print(f"{len(out.graph.node)} operators after {3 * LAYERS + 1}; error {error:.2g}")
        assert error < 1e-4 and np.abs(before).max() > 0, error
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
