"""A full disk: one clear error, status 1, no half-written file under a final name, parts that were whole stay readable."""
import shutil
import subprocess

import h5py
import onnx
from _rlgo import QUICK, RANDOM, SMALL_NET, complete, main, metrics, rlgo, skip


class SmallDisk:
    """A file system of so many KiB, mounted at folder/disk."""

    def __init__(self, folder, kib):
        self.path = folder / "disk"
        self.path.mkdir(exist_ok=True)
        mounted = shutil.which("mount") and subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kib}k", "tmpfs", self.path], capture_output=True).returncode == 0
        if not mounted:
            self.path.rmdir()
            folder.rmdir()
            skip("a small file system cannot be mounted here")

    def __enter__(self):
        return self.path

    def __exit__(self, *_):
        subprocess.run(["umount", self.path], check=True)
        self.path.rmdir()


def whole_or_absent(run):
    for path in run.rglob("*"):
        if path.is_dir():
            continue
        assert path.stat().st_size > 0 or path.name in ("metrics.csv", "log.txt"), f"{path} is empty"
        if path.suffix == ".onnx":
            onnx.checker.check_model(str(path), full_check=True)
        if path.suffix == ".h5" and not path.name.startswith("."):
            with h5py.File(path) as file:
                assert file.attrs["format"] is not None


def fails_clearly(folder, kib, arguments):
    with SmallDisk(folder, kib) as disk:
        done = rlgo(*arguments, *RANDOM, "--runs", disk, "--name", "r", cwd=folder, status=1, timeout=300)
        lines = [line for line in done.stderr.splitlines() if line.startswith("rlgo: ")]
        assert len(lines) == 1 and str(disk) in lines[0] and "space" in lines[0].lower(), done.stderr
        print(f"  {kib} KiB: {lines[0].replace(str(folder), 'FOLDER')[:200]}")
        whole_or_absent(disk / "r")
        assert not (disk / "r/best.onnx").exists() and not (disk / "r/summary.txt").exists()


def at_the_start(folder):
    """no room even for the options"""
    fails_clearly(folder, 4, ["--graph", "toy_conv", "--epochs", 1])


def in_the_store(folder):
    """the store fills the disk while the run continues"""
    fails_clearly(folder, 400, ["--graph", "toy_residual", "--epochs", 1000, "--store.episodes-per-part", 8])


def in_a_checkpoint(folder):
    """no room for another checkpoint: the last one is whole, and the run continues from it where there is room again"""
    options = ["--graph", "toy_conv", *QUICK, *SMALL_NET, "--epochs", 8, "--train.steps-per-epoch", 40, "--store.rollouts", "false", "--train.polish", "false"]
    with SmallDisk(folder, 700) as disk:
        done = rlgo(*options, "--checkpoint.every", 1, "--checkpoint.keep", 100, "--runs", disk, "--name", "r", cwd=folder, status=1, timeout=300)
        (line,) = [line for line in done.stderr.splitlines() if line.startswith("rlgo: ")]
        assert "checkpoints/checkpoint-" in line and "space" in line.lower(), line
        print(f"  {line.replace(str(folder), 'FOLDER')[:200]}")
        whole_or_absent(disk / "r")
        kept = len(list((disk / "r/checkpoints").glob("checkpoint-*.h5")))
        assert 1 <= kept < 8, kept
        subprocess.run(["mount", "-o", "remount,size=20m", disk], check=True)
        again = rlgo("--resume", disk / "r", "--epochs", 8, cwd=folder, timeout=300)
        assert f"checkpoint-{kept:08}.h5: {kept} epochs" in again.stderr, again.stderr
        complete(disk / "r")
        assert [int(row["epoch"]) for row in metrics(disk / "r")] == list(range(1, 9))


def in_the_model(folder):
    """there is room for all but the model"""
    fails_clearly(folder, 1500, ["--graph", "squeezenet1_1", "--epochs", 1, "--train.steps-per-epoch", 10])


def optimising(folder):
    """optimise with no room where it tries models, then none where it writes: an error that says where, no verdict, no part of a file"""
    model, out = folder / "model.onnx", folder / "out.onnx"
    rlgo("search", "--graph", "squeezenet1_1", "--methods", "greedy", "--out", folder / "found", cwd=folder, timeout=300)
    next((folder / "found").rglob("best.onnx")).rename(model)
    command = ["optimise", model, "--seconds", 4, "--target", "libtorch", "--cost", "analytic", "--force"]
    for kib in (8, 900):
        with SmallDisk(folder, kib) as disk:
            done = rlgo(*command, "-o", out, cwd=folder, status=1, timeout=300, env={"TMPDIR": str(disk)})
            assert str(disk) in done.stderr and "TMPDIR" in done.stderr and not done.stdout, (done.stdout, done.stderr)
            assert not out.exists()
        with SmallDisk(folder, kib) as disk:
            done = rlgo(*command, "-o", disk / "out.onnx", cwd=folder, status=1, timeout=300)
            assert str(disk / "out.onnx") in done.stderr and "space" in done.stderr.lower() and not done.stdout, (done.stdout, done.stderr)
            assert not list(disk.iterdir())


if __name__ == "__main__":
    main(at_the_start, in_the_store, in_a_checkpoint, in_the_model, optimising)
