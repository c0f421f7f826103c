#!/usr/bin/env python3
"""The same models in the frameworks that run them: PyTorch eager and compiled, TensorFlow without and with Grappler, ONNX Runtime, OpenVINO, TensorRT,
and what rlgo makes of them.

    results/frameworks.py [--rlgo BINARY] [--out FOLDER] [--seconds S] [MODEL ...]

Models of torchvision with the same weights everywhere (tests/interop/_models.py), batch 1: PyTorch runs the module that was exported; what any
variant computes is compared with it. All are timed in one process (TensorFlow in one of its own, of models that onnx2tf converts), with one thread and
with two, rounds in random order, `ONNX Runtime` twice (noise). Ratios are to ONNX Runtime's latency. rlgo optimises for one thread. Writes
FOLDER/frameworks.csv as models are done; what is in it is not measured again. Needs torchvision (RLGO_SETUP_REFERENCES=1 of set-up), for TensorFlow RLGO_SETUP_TENSORFLOW=1, for torch.compile a C++
compiler, for TensorRT a GPU and onnxruntime-gpu in place of onnxruntime (wall time, copies to the GPU and back included; not tried yet, for want of
a GPU); what is missing is left out and named.
"""
import argparse
import csv
import multiprocessing
import pathlib
import shutil
import subprocess
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "interop"))
sys.path.insert(0, str(ROOT / "results"))
import _models  # noqa: E402

sys.path.append(str(_models.CACHE.parent / "references"))
from rlgo_results.race import Timed, TimedTensorFlow, in_onnxruntime, in_openvino, in_tensorrt, race, rows_of, session_options, share_pool  # noqa: E402
from rlgo_results.where import machine, revision  # noqa: E402

COLUMNS = ["model", "system", "threads", "median_us", "ratio", "ratio_low", "ratio_high", "noise", "rounds", "error", "note", "commit", "machine"]
MAKERS = {name: maker for name, (maker, *_) in _models.TORCH.items()} | {"vgg19": _models.vision("vgg19")}  # which is too large for the corpus
MODELS = ["resnet18-11", "resnet50-22-dynamo", "squeezenet1_1-11", "inception_v3-16", "resnext50-17", "mobilenet_v2-12", "vit_b_32-17", "vgg19"]
TOLERANCE = 1e-3
REST_S = 0.01  # before a sample of several threads: those of the system before it spin for a while after its run


def error_of(expected, found):
    found = np.asarray(found, float)
    return float(np.abs(found - expected).max() / np.abs(expected).max())


def in_torch(module, inputs, compiled, threads):
    import torch

    torch.set_num_threads(threads)
    called = torch.compile(module) if compiled else module

    def run():
        with torch.inference_mode():
            return called(*inputs)

    return Timed(run, threads), run


def exported(name, module, inputs, names, folder):
    """The module as a model of opset 17, with what is given as shapes."""
    import torch

    path = folder / f"{name}.onnx"
    torch.onnx.export(module, inputs, str(path), input_names=names, opset_version=17, dynamo=False)
    return path


def in_tensorflow(args, source, feeds, folder, threads, timed, errors, notes, expected):
    """Adds TensorFlow without and with Grappler."""
    for system, grappler in (("TensorFlow", False), ("TensorFlow, Grappler", True)):
        if not pathlib.Path(args.tensorflow).exists():
            notes[system] = "missing: RLGO_SETUP_TENSORFLOW=1 launch/scripts/setup.sh"
            continue
        try:
            one = TimedTensorFlow(args.tensorflow, source, feeds, grappler, folder, threads)
            errors[system] = error_of(expected, one.outputs())
            timed[system] = one
        except RuntimeError as error:  # a model that the converter cannot read: this system's result
            notes[system] = f"failed: {str(error)[:160]}"


def by_rlgo(args, source, target):
    command = [args.rlgo, "optimise", source, "-o", target, "--seconds", args.seconds, "--target", "onnxruntime", "--target.python", sys.executable]
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 3):
        raise RuntimeError(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else f"status {done.returncode}")
    return target if target.exists() else source


def built(name):
    """(module, inputs, names of the inputs, its output) of a model of the corpus."""
    import torch

    torch.backends.mha.set_fastpath_enabled(False)  # as _models.py exports it
    module, inputs, names, _ = MAKERS[name]()
    with torch.inference_mode():
        return module, inputs, names, module(*inputs).numpy().astype(float)


def raced(args, name, source, optimised, threads):
    """Rows of a model with so many threads; called in a process of its own, whose sessions share them."""
    import onnxruntime as ort

    share_pool(threads)
    module, inputs, names, expected = built(name)
    feeds = {n: v.numpy() for n, v in zip(names, inputs)}
    folder = source.parent
    run = lambda path: ort.InferenceSession(str(path), session_options(threads), providers=["CPUExecutionProvider"]).run(None, feeds)[0]  # noqa: E731
    timed, errors, notes = {}, {}, {}
    for system, path in (("ONNX Runtime", source), ("again", source), ("rlgo", optimised)):
        timed[system], errors[system] = in_onnxruntime(path, feeds, threads), error_of(expected, run(path))
    notes["rlgo"] = "" if optimised != source else "the model is left as it is"
    for system, compiled in (("PyTorch", False), ("torch.compile", True)):
        try:
            timed[system], call = in_torch(module, inputs, compiled, threads)
            errors[system] = error_of(expected, call().numpy())
        except Exception as error:  # no compiler, or one that fails: this system's result
            notes[system] = f"failed: {str(error).strip().splitlines()[0][:120]}"
    try:
        import openvino

        timed["OpenVINO"] = in_openvino(source, feeds, threads)
        errors["OpenVINO"] = error_of(expected, openvino.Core().compile_model(str(source), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})(feeds)[0])
    except ImportError as error:
        notes["OpenVINO"] = str(error)
    try:
        timed["TensorRT"], call = in_tensorrt(source, feeds)
        errors["TensorRT"] = error_of(expected, call()[0])
    except RuntimeError as error:
        notes["TensorRT"] = str(error)
    in_tensorflow(args, source, feeds, folder, threads, timed, errors, notes, expected)
    for system in [s for s, e in errors.items() if e > TOLERANCE]:
        del timed[system]
        notes[system] = "other outputs: not timed"
    rows = {row["system"]: row for row in rows_of(race(timed, args.rounds, args.race_s, rest_s=REST_S if threads > 1 else 0), "ONNX Runtime")}
    for one in timed.values():
        if isinstance(one, TimedTensorFlow):
            one.close()
    return [{"model": name, "system": system, "threads": threads, "error": f"{errors[system]:.3g}" if system in errors else "", "note": notes.get(system, ""),
             "commit": args.commit, "machine": args.machine} | {k: f"{v:.6g}" if isinstance(v, float) else v for k, v in rows.get(system, {}).items()}
            for system in dict.fromkeys([*rows, *(n for n in notes if n not in rows)])]  # fmt: skip


def measure(args, name, folder):
    module, inputs, names, _ = built(name)
    source = exported(name, module, inputs, names, folder)
    optimised = by_rlgo(args, source, folder / "rlgo.onnx")
    for threads in args.threads:
        with multiprocessing.get_context("spawn").Pool(1) as process:
            yield from process.apply(raced, (args, name, source, optimised, threads))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", metavar="MODEL", help=f"of {', '.join(MODELS)}; none: all")
    parser.add_argument("--rlgo", default=str(ROOT / "build/release/rlgo"))
    parser.add_argument("--tensorflow", default=str(_models.CACHE.parent / "tensorflow/bin/python3"), help="a Python that has tensorflow-cpu and onnx2tf")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "results")
    parser.add_argument("--seconds", type=float, default=10, help="of each rlgo optimise")
    parser.add_argument("--rounds", type=int, default=41)
    parser.add_argument("--race-s", type=float, default=8)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    args = parser.parse_args()
    args.models = args.models or MODELS
    if unknown := set(args.models) - set(MODELS):
        parser.error(f"unknown models: {', '.join(sorted(unknown))}; known: {', '.join(MODELS)}")
    if not shutil.which("g++"):
        print("no g++: torch.compile will fail")
    args.commit, args.machine = revision(args.rlgo), machine()
    args.out.mkdir(parents=True, exist_ok=True)
    file = args.out / "frameworks.csv"
    done = {row["model"] for row in csv.DictReader(open(file, encoding="utf-8"))} if file.exists() else set()
    for name in args.models:
        if name in done:
            continue
        with tempfile.TemporaryDirectory() as scratch:
            rows = list(measure(args, name, pathlib.Path(scratch)))
        new = not file.exists()
        with open(file, "a", newline="", encoding="utf-8") as out:
            writer = csv.DictWriter(out, COLUMNS, extrasaction="ignore", lineterminator="\n")
            if new:
                writer.writeheader()
            writer.writerows(rows)
        print(name + ": " + ", ".join(f"{r['system']}, {r['threads']}: {r['ratio']}" if r.get("ratio") else f"{r['system']}: {r['note']}" for r in rows), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
