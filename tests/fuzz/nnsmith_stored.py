"""Ten models that NNSmith made (nnsmith/models/, with inputs and the outputs of eager PyTorch), as nnsmith_nightly.py tries thousands."""
import pathlib
import shutil
import sys
import tempfile

import numpy as np
import onnx

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "nnsmith"))
import try_model  # noqa: E402


def wrong_is_found(path):
    """The same model with a cosine in place of a sine."""
    with tempfile.TemporaryDirectory() as folder:
        model, target = onnx.load(path), f"{folder}/out.onnx"
        next(n for n in model.graph.node if n.op_type == "Sin").op_type = "Cos"
        onnx.save(model, target)
        with np.load(path.with_suffix(".npz")) as kept:
            feeds = {v.name: kept[f"in {v.name}"] for v in model.graph.input}
        return try_model.compared(path, target, [feeds])[0] == "differs"


def main():
    if not try_model.runs.RLGO.is_file():
        print("rlgo is not built: skipped")
        return 77
    models, failed = sorted((HERE / "nnsmith/models").glob("*.onnx")), 0
    for path in models:
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(path, f"{folder}/model.onnx")
            shutil.copy(path.with_suffix(".npz"), f"{folder}/oracle.npz")
            row = try_model.try_model(pathlib.Path(folder), seed=int(path.stem))
        print(f"{path.stem}: {row['verdict']}, {row['operators']} operators, {row['open']} open sizes: {row['note']} {row['torch']}")
        failed += row["verdict"] != "same" or row["torch"] != ""
    if not wrong_is_found(HERE / "nnsmith/models/183.onnx"):
        print("a wrong rewrite was not found")
        failed += 1
    return 1 if failed or len(models) < 10 else 0


if __name__ == "__main__":
    sys.exit(main())
