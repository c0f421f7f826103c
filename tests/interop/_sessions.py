"""ONNX Runtime for comparisons of two files: one thread, unless told otherwise without its optimisations, nothing printed, and random numbers that are the same in both."""
import pathlib
import sys
import tempfile

import onnxruntime as ort

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "launch" / "measurers"))
import random_seeds  # noqa: E402


def session(path, level=ort.GraphOptimizationLevel.ORT_DISABLE_ALL):
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = level
    with tempfile.TemporaryDirectory() as folder:
        return ort.InferenceSession(random_seeds.seeded(str(path), folder), options, providers=["CPUExecutionProvider"])
