"""--target opencv, tract, mnn, ncnn: each whose package is installed optimises a model; a missing package and a model that it does not read are one line."""
import json
import os
import sys

import onnx.parser
from _rlgo import main, rlgo

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "core", "measure"))
import runtimes  # noqa: E402

OTHERS = ("opencv", "tract", "mnn", "ncnn")
PACKAGES = {"PYTHONPATH": str(runtimes.CACHE / "references")}
NET = """<ir_version: 8, opset_import: ["": 17]> net (float[1,4,16,16] x) => (float[1,4,16,16] y)
  <float[4,4,1,1] w = {%s}> { c = Conv(x, w) r = Relu(c) m = Max(r, r) y = Add(m, m) }"""


def present():
    found = []
    for name in OTHERS:
        answer = runtimes.Measurer(name).ask(id=1, do="hello", protocol=1, threads=1, seed=1)
        found += [] if "error" in answer else [name]
        print(f"{name}: {answer.get('error', answer.get('version'))}")
    return found


def save(folder, text, name):
    onnx.save(onnx.parser.parse_model(text), folder / name)


def models_are_optimised(folder):
    """written or left as they are, timed under the runtime that was asked for, whose outputs are compared"""
    save(folder, NET % ", ".join(str(0.05 * k) for k in range(16)), "net.onnx")
    for target in present():
        done = rlgo("optimise", "net.onnx", "-o", "faster.onnx", "--force", "--target", target, "--seconds", 15, "--json", f"{target}.json", cwd=folder, status=None, env=PACKAGES)
        assert done.returncode in (0, 3), done.stdout + done.stderr
        found = json.loads((folder / f"{target}.json").read_text())
        assert found["target"]["runtime"].startswith(target + " ") and found["target"]["threads"] == 1, found["target"]
        assert found["verdict"]["checked"] and any(target in check["by"] for check in found["checks"]), found["checks"]


def unread_models_are_one_line(folder):
    """status 3, the runtime's reason, a remedy"""
    save(folder, '<ir_version: 8, opset_import: ["": 17, "my.own": 1]> g (float[2] x) => (float[2] y) { y = my.own.Unheard(x) }', "unknown.onnx")
    for target in present():
        done = rlgo("optimise", "unknown.onnx", "--target", target, cwd=folder, status=3, env=PACKAGES)
        first = done.stdout.splitlines()[0]
        assert first.startswith(f"nothing found: {target} ") and "Unheard" in first and "--target another runtime" in first, done.stdout


def missing_packages_are_one_line(folder):
    """status 1 and the command that installs it"""
    save(folder, NET % ", ".join("1" * 16), "net.onnx")
    for target in OTHERS:
        module = runtimes.MODULES[target]
        (folder / f"{module}.py").write_text(f"raise ImportError(\"No module named '{module}'\")")
        done = rlgo("optimise", "net.onnx", "--target", target, cwd=folder, status=1, env={"PYTHONPATH": str(folder)})
        assert done.stderr.count("\n") == 1 and f"--target {target}: " in done.stderr and "-m pip install " in done.stderr, done.stderr


if __name__ == "__main__":
    main(models_are_optimised, unread_models_are_one_line, missing_packages_are_one_line)
