"""rlgo.optimise: results, files, messages, signals."""

import os
import pathlib
import signal
import sys
import tempfile
import threading
import time
import unittest

import _package
import rlgo

WORK = tempfile.TemporaryDirectory()
MODEL = pathlib.Path(WORK.name) / "model.onnx"
FAST = {"seconds": 6, "cost_folder": WORK.name, "progress": False}


def setUpModule():
    rlgo.load("toy_residual", image=64).save(str(MODEL))


class Optimise(unittest.TestCase):
    def test_forced_result_computes_the_same_under_the_runtime(self):
        import numpy as np
        import onnxruntime

        lines = []
        for seconds in (6, 30, 120):  # on a busy machine six seconds are over before something is found
            result = rlgo.optimise(MODEL, force=True, **{**FAST, "seconds": seconds, "progress": lambda *line: lines.append(line)})
            if result.trace and all(c.finding != "skipped" for c in result.checks):
                break
        self.assertTrue(result.checked)
        self.assertEqual({c.finding for c in result.checks}, {"same"})
        self.assertTrue(result.trace and result.rules and lines)
        self.assertLessEqual(result.interval[0], result.ratio)
        self.assertLessEqual(result.ratio, result.interval[1])
        before = onnxruntime.InferenceSession(str(MODEL))
        after = onnxruntime.InferenceSession(result.model.SerializeToString())
        feed = {i.name: np.random.default_rng(1).standard_normal(i.shape, np.float32) for i in before.get_inputs()}
        for a, b in zip(before.run(None, feed), after.run(None, feed)):
            np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-4)
        graph = rlgo.load(MODEL)
        rules = rlgo.rules.load(",".join(["base", "runtime", "motion", "winograd", "respell"]))
        self.assertGreater(len(rlgo.rules.replay(rules, graph, result.trace)), 0)
        self.assertIn("<svg", result.html())
        self.assertIn("equivalence", result.evidence)
        saved = pathlib.Path(WORK.name) / "saved.onnx"
        result.save(saved)
        self.assertEqual(saved.read_bytes(), pathlib.Path(result.path).read_bytes())

    def test_where_nothing_is_found_the_model_is_the_one_that_was_given(self):
        from onnx import TensorProto, helper

        x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [4, 4])
        y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [4, 4])
        model = helper.make_model(helper.make_graph([helper.make_node("Sin", ["x"], ["y"])], "g", [x], [y]), opset_imports=[helper.make_opsetid("", 17)])
        model.ir_version = 8
        result = rlgo.optimize(model, **FAST)
        self.assertFalse(result.improved)
        self.assertEqual((result.ratio, result.interval, result.trace), (1.0, (1.0, 1.0), []))
        self.assertEqual(result.model, model)

    def test_wrong_requests(self):
        for wrong, message in (
            ({"target": "nosuch"}, "known: auto, libtorch, cuda, onnxruntime"),
            ({"method": "zz"}, "expected one of"),
            ({"seconds": 0.1}, "at least 1"),
            ({"threads": 0}, "threads"),
            ({"tolerance": 5.0}, "tolerance"),
            ({"cost": "guessed"}, "measured or analytic"),
            ({"rules": "nosuch"}, "no file, set, tag or rule"),
            ({"out": MODEL}, "is the model itself"),
            ({"out": "/no/such/folder/m.onnx"}, "there is no folder"),
        ):
            with self.assertRaisesRegex(rlgo.Error, message, msg=wrong):
                rlgo.optimise(MODEL, **{**FAST, **wrong})

    def test_ctrl_c_leaves_nothing(self):
        out = pathlib.Path(WORK.name) / "out.onnx"
        timer = threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        self.addCleanup(timer.cancel)
        with self.assertRaises(KeyboardInterrupt):
            rlgo.optimise("squeezenet1_1", out=out, **{**FAST, "seconds": 120})
        self.assertFalse(out.exists())

    def test_ctrl_c_during_checks_is_answered(self):
        """The runtime says nothing any more while it checks outputs: it is not waited for."""
        log, out = pathlib.Path(WORK.name) / "log", pathlib.Path(WORK.name) / "checked.onnx"
        measurer = _package.SOURCE / "tests/core/measure/_fake_measurer.py"
        target = " ".join(f"'{word}'" for word in (sys.executable, measurer, "outputs", "stuck=outputs", f"log={log}"))
        signalled = []

        def signal_when_stuck():
            while not (log.exists() and "outputs " in log.read_text()):
                time.sleep(0.05)
            signalled.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)

        threading.Thread(target=signal_when_stuck, daemon=True).start()
        with self.assertRaises(KeyboardInterrupt):
            rlgo.optimise(MODEL, out=out, target=target, method="sweep", **{**FAST, "seconds": 60})
        self.assertLess(time.monotonic() - signalled[0], 30)  # the runtime is given 60 s
        self.assertFalse(out.exists())

    def test_libtorch_is_for_the_full_build(self):
        with self.assertRaisesRegex(rlgo.Error, "this build of rlgo has no LibTorch; take onnxruntime"):
            rlgo.optimise(MODEL, target="libtorch", **FAST)


if __name__ == "__main__":
    sys.exit(unittest.main())
