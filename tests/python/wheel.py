"""The wheel, built as users build it and installed in a clean virtual environment, away from the sources: alone, then with a runtime
and Gymnasium from where set-up has put them; README's example runs in it. Where Docker or Podman runs, the image of launch/images/wheel.Dockerfile
is built of it, and the same first minute runs there."""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

import _package

WORK = tempfile.TemporaryDirectory()
FOLDER = pathlib.Path(WORK.name)
MOST_MIB = 30
FIRST_MINUTE = pathlib.Path(__file__).with_name("_first_minute.py")


def run(*command, **more):
    result = subprocess.run([str(c) for c in command], capture_output=True, text=True, **more)
    if result.returncode != 0:
        sys.exit(f"{command[0]} ended with status {result.returncode}\n{result.stdout[-3000:]}\n{result.stderr[-5000:]}")
    return result.stdout


def build():
    run(_package.SOURCE / "launch/scripts/wheel.sh", FOLDER / "dist", cwd=_package.SOURCE)
    (wheel,) = (FOLDER / "dist").glob("rlgo-*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert re.fullmatch(r"rlgo-[0-9.]+-cp310-abi3-manylinux_2_\d+_x86_64\.whl", wheel.name), wheel.name
    assert wheel.stat().st_size < MOST_MIB << 20, wheel.stat().st_size
    for never in ("libtorch", "libc10", "libmpi", "libhdf5", "libcuda"):
        assert not [n for n in names if never in n and ".so" in n], never
    for always in ("rlgo/py.typed", "rlgo/_core.pyi", "rlgo/rlgo-program", "rlgo/share/rlgo/configs/rules/base.rules",
                   "rlgo/share/rlgo/measurers/onnxruntime_measurer.py"):
        assert always in names, always
    return wheel


ALONE = """
import rlgo, sys
own = ("libprotobuf", "libz3", "libCbcSolver", "libspdlog")
rlgo.rules.verify("base", only=["fuse-conv-relu"])
for line in open("/proc/self/maps"):
    assert not any(name in line for name in own) or sys.prefix in line, line
"""


def builder():
    """The program that builds images here, or None: one that is installed may have no server."""
    for name in ("docker", "podman"):
        if shutil.which(name) and subprocess.run([name, "info"], capture_output=True).returncode == 0:
            return name
    return None


def check_image(wheel):
    program, context = builder(), FOLDER / "context"
    if program is None:
        print("no image is built: neither Docker nor Podman runs here")
        return
    for name in ("launch/packages.txt", "launch/scripts/packages.sh", "launch/images/wheel.Dockerfile"):
        (context / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(_package.SOURCE / name, context / name)
    (context / "dist").mkdir()
    shutil.copy(wheel, context / "dist")
    run(program, "build", "-f", context / "launch/images/wheel.Dockerfile", "-t", "rlgo-wheel-test", context)
    run(program, "run", "--rm", "--network", "none", "-v", f"{FIRST_MINUTE}:/first_minute.py:ro", "--entrypoint", "python", "rlgo-wheel-test", "/first_minute.py", "/work")
    run(program, "rmi", "rlgo-wheel-test")
    print(f"{program}: the image of launch/images/wheel.Dockerfile works")


def main():
    wheel = build()
    check_image(wheel)
    run(sys.executable, "-m", "venv", "--without-pip", FOLDER / "venv")
    python = FOLDER / "venv/bin/python"
    site = pathlib.Path(run(sys.executable, "-c", "import onnxruntime; print(onnxruntime.__path__[0])").strip()).parent
    (mine,) = (FOLDER / "venv/lib").glob("python3*/site-packages")
    run(sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index", "--disable-pip-version-check", wheel)
    for part in [*site.glob("nanobind_backend*")]:
        (mine / part.name).symlink_to(part)
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(FOLDER), "OMP_NUM_THREADS": "1"}
    apart = FOLDER / "apart"
    apart.mkdir()
    run(python, "-c", ALONE, cwd=apart, env=environment)
    print(run(python, FIRST_MINUTE, apart, cwd=FOLDER, env=environment), end="")
    # What the extras bring, from where set-up has put it.
    (mine / "set-up.pth").write_text(f"{site}\n")
    print(run(python, FIRST_MINUTE, apart, cwd=FOLDER, env=environment), end="")
    readme = (_package.SOURCE / "README.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", readme, re.S)
    run(python, "-c", example, cwd=apart, env=environment)
    run(python, "-c", "import rlgo.gym, pathlib; assert 'site-packages' in rlgo.__file__", cwd=apart, env=environment)
    print(f"{wheel.name}: {wheel.stat().st_size / (1 << 20):.1f} MiB; runs in a clean environment")


if __name__ == "__main__":
    main()
