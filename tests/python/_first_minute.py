"""What a user does in the first minute, with the wheel and nothing of the sources: runs in the Python that has it.

    python _first_minute.py FOLDER        (writable; the current folder is another one)
"""

import pathlib
import subprocess
import sys

FOLDER = pathlib.Path(sys.argv[1])
COMMAND = pathlib.Path(sys.executable).parent / "rlgo"


def run(*words, status=(0,)):
    done = subprocess.run([COMMAND, *words], capture_output=True, text=True, cwd=FOLDER)
    assert done.returncode in status, (words, done.returncode, done.stdout[-2000:], done.stderr[-4000:])
    return done.stdout + done.stderr


def main():
    assert run("--version").startswith("rlgo 0."), run("--version")
    listed = run("--help")
    assert "optimise" in listed and "train" not in listed and "mpirun" not in listed, listed
    for words in (["train"], ["--graph", "bert"], ["evaluate"], ["bench"]):
        reported = run(*words, status=(1,))
        assert reported.count("\n") == 1 and "has no training (LibTorch, MPI, HDF5)" in reported, reported
    assert "has no LibTorch" in run("search", "--graph", "toy_mlp", "--target", "libtorch", status=(1,))

    import rlgo

    assert not {"numpy", "torch"} & set(sys.modules)
    found = rlgo.search("toy_residual", "greedy")[0]
    assert found.ratio < 1, found
    assert rlgo.rules.verify("base", only=["fuse-conv-relu"])[0].proved
    model = FOLDER / "model.onnx"
    rlgo.load("toy_residual", image=32).save(str(model))
    assert "nodes" in run("inspect", "model.onnx")
    reported = run("search", "--graph", "toy_residual", "--method", "greedy", "--cost", "analytic")
    assert "greedy" in reported, reported
    try:
        import onnxruntime  # noqa: F401
    except ImportError:
        reported = run("optimise", "model.onnx", "-o", "faster.onnx", status=(1,))
        assert reported.count("\n") == 1 and "pip install" in reported, reported
        print("without a runtime: a clear error")
        return
    reported = run("optimise", "model.onnx", "-o", "faster.onnx", "--force", "--seconds", "6", status=(0, 3))
    assert (FOLDER / "faster.onnx").is_file(), reported
    assert "onnxruntime" in reported, reported
    result = rlgo.optimise(model, seconds=6, cost_folder="", progress=False)
    assert "onnxruntime" in result.evidence and pathlib.Path(result.path).is_file(), result.evidence
    (FOLDER / "broken.onnx").write_bytes(b"no model")
    assert run("optimise", "broken.onnx", status=(1,)).count("\n") == 1
    try:
        import gymnasium
    except ImportError:
        print("optimise, search, proofs: fine; no Gymnasium here")
        return
    env = gymnasium.make("rlgo.gym:rlgo/Rewrite-v0", graph="toy_mlp")
    env.reset(seed=0)
    print("optimise, search, proofs, Gymnasium: fine")


if __name__ == "__main__":
    main()
