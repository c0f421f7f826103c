"""Each script of examples/ runs; one whose packages are not installed is left out, and named."""

import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import _package

# Script, packages, arguments, what it prints at the end.
SCRIPTS = [
    ("torch_export.py", ["torch", "onnx", "onnxruntime"], ["--seconds", "4"], "of the latency"),
    ("ultralytics_export.py", ["ultralytics", "onnxruntime"], ["--imgsz", "64", "--seconds", "4"], ""),
    ("transformers_export.py", ["transformers", "torch", "onnxruntime"], ["--seconds", "4"], ""),
    ("olive_pass.py", ["olive", "onnxruntime"], ["detector.onnx", "--seconds", "4"], ""),
]


class Examples(unittest.TestCase):
    def test_all_are_listed(self):
        there = {path.name for path in (_package.SOURCE / "examples").glob("*.py")}
        self.assertEqual(there, {name for name, *_ in SCRIPTS})
        page = (_package.SOURCE / "examples" / "README.md").read_text()
        for name in there:
            self.assertIn(f"]({name})", page)

    def test_each_runs(self):
        environment = {**os.environ, "PYTHONPATH": str(_package.BUILD / "python"), "OMP_NUM_THREADS": "1"}
        with tempfile.TemporaryDirectory() as folder:
            for name, packages, arguments, words in SCRIPTS:
                missing = [p for p in packages if importlib.util.find_spec(p) is None]
                if missing:
                    print(f"{name}: left out, not installed: {', '.join(missing)}", file=sys.stderr)
                    continue
                script = pathlib.Path(_package.SOURCE) / "examples" / name
                done = subprocess.run([sys.executable, script, *arguments], cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
                self.assertEqual(done.returncode, 0, f"{name}: {done.stderr}")
                self.assertRegex(done.stdout, r"(improved|nothing found|could not be measured)", name)
                self.assertIn(words, done.stdout, name)


if __name__ == "__main__":
    sys.exit(not unittest.main(exit=False).result.wasSuccessful())
