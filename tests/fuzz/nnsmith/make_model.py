"""One model by NNSmith, in a process of its own: FOLDER/model.onnx, FOLDER/oracle.npz (inputs, and outputs of eager PyTorch).

    python3 make_model.py FOLDER SEED CACHE

CACHE keeps which operators and types ONNX Runtime takes; the first call asks it, in about a minute. Needs the references
environment (RLGO_SETUP_REFERENCES=1 launch/scripts/setup.sh).
"""
import functools
import os
import pathlib
import random
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests/interop"))
from _models import CACHE  # noqa: E402

sys.path.append(str(CACHE.parent / "references"))
import numpy as np  # noqa: E402
import nnsmith.narrow_spec as narrow_spec  # noqa: E402
import onnx  # noqa: E402
import torch  # noqa: E402
from nnsmith.abstract.extension import activate_ext  # noqa: E402
from nnsmith.backends.factory import BackendFactory  # noqa: E402
from nnsmith.graph_gen import model_gen  # noqa: E402
from nnsmith.materialize import Model  # noqa: E402


def operators(kind, runtime, cache):
    """What ONNX Runtime takes. NNSmith would keep an incomplete list of a run that failed."""
    kept = pathlib.Path(cache) / "operators"
    if not kept.is_dir():
        with tempfile.TemporaryDirectory(dir=cache) as folder:
            narrow_spec.NNSMITH_CACHE_DIR = os.path.join(folder, "new")
            if len(narrow_spec.auto_opset(kind, runtime)) < 40:
                sys.exit("NNSmith: ONNX Runtime takes hardly an operator; PyTorch's exporter fails?")
            os.rename(narrow_spec.NNSMITH_CACHE_DIR, kept)
    narrow_spec.NNSMITH_CACHE_DIR = str(kept)
    return narrow_spec.auto_opset(kind, runtime)


def main(folder, seed, cache):
    seed = int(seed)
    torch.set_num_threads(1)
    onnx._serialize = onnx.ModelProto.SerializeToString  # of an older onnx
    torch.onnx.export = functools.partial(torch.onnx.export, dynamo=False)
    kind, runtime = Model.init("onnx", backend_target="cpu"), BackendFactory.init("onnxruntime", target="cpu", optmax=False)
    kind.add_seed_setter()
    known = operators(kind, runtime, cache)
    activate_ext(opset=known, factory=runtime)
    nodes = random.Random(seed).randrange(3, 21)
    drawn = model_gen(opset=known, method="symbolic-cinit", seed=seed, max_elem_per_tensor=4096, max_nodes=nodes, timeout_ms=10_000)
    model = kind.from_gir(drawn.make_concrete())
    model.with_torch = False
    model.refine_weights()
    oracle, folder = model.make_oracle(), pathlib.Path(folder)
    model.dump(str(folder / "model.onnx"))
    np.savez_compressed(folder / "oracle.npz", **{f"in {k}": v for k, v in oracle.input.items()}, **{f"out {k}": v for k, v in oracle.output.items()})


if __name__ == "__main__":
    main(*sys.argv[1:])
