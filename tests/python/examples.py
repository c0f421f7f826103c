"""Each script and notebook of examples/ runs; one whose packages are not installed is left out, and named (RLGO_SETUP_EXAMPLES=1 of set-up)."""

import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import _package

CACHE = pathlib.Path(os.environ.get("RLGO_CACHE") or pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "rlgo")
FOLDERS = [str(folder) for name in ("examples", "corpus", "references") if (folder := CACHE / name).is_dir()]
EXAMPLES = _package.SOURCE / "examples"
VERDICTS = r"(improved|nothing found|could not be measured)"
# Script, whose notebook has the same name; packages, arguments, what it prints at the end.
SCRIPTS = [
    ("torch_export", ["torch", "onnx", "onnxruntime"], ["--seconds", "4"], "of the latency"),
    ("ultralytics_export", ["ultralytics", "onnxruntime"], ["--imgsz", "64", "--seconds", "4"], ""),
    ("transformers_export", ["transformers", "torch", "onnxruntime"], ["--seconds", "4"], ""),
    ("optimum_export", ["optimum", "optimum.onnxruntime", "transformers", "torch"], ["--seconds", "4"], "largest difference from PyTorch"),
    ("olive_pass", ["olive", "onnxruntime"], ["detector.onnx", "--seconds", "4"], ""),
]
NOTEBOOK = r"""
import re, sys
import nbformat
from nbclient import NotebookClient
book = nbformat.read(sys.argv[1], as_version=4)
for cell in book.cells:
    cell.source = re.sub(r'(seconds"?[=:] ?)[0-9]+', r"\g<1>4", cell.source)
NotebookClient(book, timeout=300, kernel_name="python3").execute()
print("".join(out.get("text", "") for cell in book.cells for out in cell.get("outputs", [])))
"""


def lacking(packages):
    """Those of them that are not installed."""

    def found(package):
        try:
            return importlib.util.find_spec(package) is not None
        except ModuleNotFoundError:  # what it is in
            return False

    return [package for package in packages if not found(package)]


class Examples(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        sys.path += FOLDERS
        path = os.pathsep.join([str(_package.BUILD / "python"), *FOLDERS])
        cls.environment = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "YOLO_OFFLINE": "true"}

    def run_each(self, suffix, needed, command):
        """In one folder, since olive_pass reads a file of torch_export."""
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(EXAMPLES / "olive_pass.py", folder)
            environment = {**self.environment, "YOLO_CONFIG_DIR": folder, "IPYTHONDIR": folder, "JUPYTER_RUNTIME_DIR": folder}
            for name, packages, arguments, words in SCRIPTS:
                if missing := lacking([*packages, *needed]):
                    print(f"{name}{suffix}: left out, not installed: {', '.join(missing)}", file=sys.stderr)
                    continue
                done = subprocess.run([sys.executable, *command(name, arguments)], cwd=folder, env=environment, capture_output=True, text=True, timeout=400)
                self.assertEqual(done.returncode, 0, f"{name}{suffix}: {done.stderr}")
                self.assertRegex(done.stdout, VERDICTS, name)
                if suffix == ".py":
                    self.assertIn(words, done.stdout, name)

    def test_all_are_listed(self):
        page = (EXAMPLES / "README.md").read_text()
        for suffix in (".py", ".ipynb"):
            self.assertEqual({path.stem for path in EXAMPLES.glob(f"*{suffix}")}, {name for name, *_ in SCRIPTS})
            for name, *_ in SCRIPTS:
                self.assertIn(f"]({name}{suffix})", page)

    def test_notebooks_keep_no_output(self):
        for path in EXAMPLES.glob("*.ipynb"):
            self.assertNotRegex(path.read_text(), r'"(output_type|execution_count": [0-9])', path.name)

    def test_each_script_runs(self):
        self.run_each(".py", [], lambda name, arguments: [EXAMPLES / f"{name}.py", *arguments])

    def test_each_notebook_runs(self):
        self.run_each(".ipynb", ["nbclient", "ipykernel"], lambda name, _: ["-c", NOTEBOOK, EXAMPLES / f"{name}.ipynb"])


if __name__ == "__main__":
    sys.exit(not unittest.main(exit=False).result.wasSuccessful())
