"""results/frameworks.py: one model in every framework, outputs compared, and nothing measured twice."""
import csv
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import _tiny

sys.path.insert(0, str(_tiny.SOURCE / "results"))
import stages  # noqa: E402

if reason := stages.without_torchvision(None):
    print(f"skipped: {reason}")
    sys.exit(77)


class Frameworks(unittest.TestCase):
    def test_one_model(self):
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, _tiny.SOURCE / "results/frameworks.py", "--rlgo", _tiny.RLGO, "--out", folder, "--seconds", "2", "--race-s", "1", "squeezenet1_1-11"]
            for _ in range(2):
                done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stderr)
            with open(Path(folder) / "frameworks.csv", newline="") as file:
                rows = {row["system"]: row for row in csv.DictReader(file)}
        self.assertEqual(done.stdout, "")  # it was there
        self.assertEqual(set(rows), {"ONNX Runtime", "rlgo", "PyTorch", "torch.compile", "OpenVINO", "TensorFlow", "TensorFlow, Grappler", "TensorRT"})
        for system, row in rows.items():
            if system.startswith("TensorFlow") and row["note"].startswith("missing"):
                continue  # is not part of set-up
            if system == "TensorRT" and row["note"].startswith("needs a GPU"):
                continue
            self.assertLess(float(row["error"]), 1e-3)
            self.assertGreater(float(row["ratio"]), 0)


if __name__ == "__main__":
    unittest.main()
