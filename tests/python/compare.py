"""rlgo.compare: outputs, latency, the status of the command, messages."""

import os
import pathlib
import sys
import tempfile
import unittest

import _package  # noqa: F401
import rlgo

BRIEF = {"seconds": 1.0, "target": "onnxruntime"}


class Compare(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.model = str(pathlib.Path(folder.name) / "model.onnx")
        rlgo.load("toy_residual", image=32).save(self.model)

    def test_a_model_against_itself(self):
        found = rlgo.compare(self.model, self.model, limit=1.5, **BRIEF)
        self.assertTrue(found.same_outputs)
        self.assertEqual((found.status, found.too_slow), (0, False))
        self.assertLess(found.interval[0], found.interval[1])
        self.assertGreater(found.before_us, 0)
        self.assertIn("same outputs", str(found))
        self.assertEqual(found.details["limit"], 1.5)

    def test_other_outputs_and_protos(self):
        import onnx
        from onnx import numpy_helper

        other = onnx.load(self.model)
        weight = max(other.graph.initializer, key=lambda w: len(w.raw_data))
        weight.CopyFrom(numpy_helper.from_array(2 * numpy_helper.to_array(weight), weight.name))
        found = rlgo.compare(onnx.load(self.model), other, **BRIEF)
        self.assertIs(found.same_outputs, False)
        self.assertEqual(found.status, 1)
        self.assertIn("OTHER OUTPUTS", found.evidence)

    def test_refusals(self):
        for wrong, error, message in (
            ({"limit": 0.5}, rlgo.UsageError, "limit"),
            ({"seconds": "1"}, TypeError, "seconds"),
            ({"target": "onnxrutime"}, rlgo.UsageError, "onnxruntime"),
        ):
            with self.assertRaisesRegex(error, message):
                rlgo.compare(self.model, self.model, **{**BRIEF, **wrong})
        with self.assertRaisesRegex(rlgo.Error, "compare takes two models of the same inputs and outputs"):
            rlgo.compare(self.model, "toy_mlp", **BRIEF)
        with self.assertRaisesRegex(rlgo.Error, "none.onnx: no such file"):
            rlgo.compare(self.model, os.path.join(os.path.dirname(self.model), "none.onnx"), **BRIEF)


if __name__ == "__main__":
    sys.exit(not unittest.main(exit=False).result.wasSuccessful())
