"""The wheel, built as users build it and installed in a clean virtual environment: first alone, then with what set-up has from
PyPI, README's example and Gymnasium's check run in it."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

import _package

WORK = tempfile.TemporaryDirectory()
FOLDER = pathlib.Path(WORK.name)
MOST_MIB = 40


def run(*command, **more):
    result = subprocess.run([str(c) for c in command], capture_output=True, text=True, **more)
    if result.returncode != 0:
        sys.exit(f"{command[0]} ended with status {result.returncode}\n{result.stdout[-3000:]}\n{result.stderr[-5000:]}")
    return result.stdout


def build():
    run(_package.SOURCE / "launch/scripts/wheel.sh", FOLDER / "dist", cwd=_package.SOURCE)
    (wheel,) = (FOLDER / "dist").glob("rlgo-*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert "manylinux" in wheel.name, wheel.name
    assert wheel.stat().st_size < MOST_MIB << 20, wheel.stat().st_size
    for never in ("libtorch", "libc10", "libmpi", "libhdf5", "libcuda"):
        assert not [n for n in names if never in n and ".so" in n], never
    for always in ("rlgo/py.typed", "rlgo/_core.pyi", "rlgo/share/rlgo/configs/rules/base.rules", "rlgo/share/rlgo/measurers/onnxruntime_measurer.py"):
        assert always in names, always
    return wheel


ALONE = """
import rlgo, sys
assert not {"numpy", "torch"} & set(sys.modules)
found = rlgo.search("toy_residual", "greedy")[0]
assert found.ratio < 1, found
assert rlgo.rules.verify("base", only=["fuse-conv-relu"])[0].proved
own = ("libprotobuf", "libz3", "libCbcSolver", "libspdlog")
for line in open("/proc/self/maps"):
    assert not any(name in line for name in own) or sys.prefix in line, line
try:
    rlgo.optimise("toy_residual")
except rlgo.Error as error:
    assert "pip install 'rlgo[torch]'" in str(error), error
else:
    raise AssertionError("optimise without torch")
"""

GYM = """
import gymnasium, warnings
from gymnasium.utils.env_checker import check_env
warnings.simplefilter("ignore")
env = gymnasium.make("rlgo.gym:rlgo/Rewrite-v0", graph="toy_mlp")
check_env(env.unwrapped)
assert gymnasium.make_vec("rlgo/Rewrite-v0", num_envs=2).num_envs == 2
"""


def main():
    wheel = build()
    run(sys.executable, "-m", "venv", "--without-pip", FOLDER / "venv")
    python = FOLDER / "venv/bin/python"
    run(sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index", "--disable-pip-version-check", wheel)
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(FOLDER), "OMP_NUM_THREADS": "1"}
    run(python, "-c", ALONE, cwd=FOLDER, env=environment)
    # What the extras bring, from where set-up has put it.
    site = pathlib.Path(run(sys.executable, "-c", "import onnx; print(onnx.__path__[0])").strip()).parent
    (mine,) = (FOLDER / "venv/lib").glob("python3*/site-packages")
    (mine / "set-up.pth").write_text(f"{site}\n")
    run(python, "-c", "import rlgo; rlgo.load('toy_residual', image=32).save('model.onnx')", cwd=FOLDER, env=environment)
    readme = (_package.SOURCE / "README.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", readme, re.S)
    run(python, "-c", example, cwd=FOLDER, env=environment)
    assert (FOLDER / "faster.onnx").is_file(), os.listdir(FOLDER)
    run(python, "-c", GYM, cwd=FOLDER, env=environment)
    run(python, "-c", "import rlgo.gym, pathlib; assert 'site-packages' in rlgo.__file__", cwd=FOLDER, env=environment)
    print(f"{wheel.name}: {wheel.stat().st_size >> 20} MiB; runs in a clean environment")


if __name__ == "__main__":
    main()
