"""Arguments of a wrong type, models without their weights, and files that Result.save and Graph.save leave alone."""

import os
import pathlib
import sys
import tempfile
import unittest

import _package  # noqa: F401
import numpy as np
import rlgo


def product(path: pathlib.Path, location: str = "", seed: int = 0):
    """y = x w; with `location` the weights lie in that file."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 64]) for name in "xy")
    w = numpy_helper.from_array(np.random.default_rng(seed).standard_normal((64, 64)).astype("f"), "w")
    graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"])], "g", [x], [y], [w])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, path, save_as_external_data=bool(location), location=location or None, size_threshold=0)
    return path


class InAFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)


class Types(unittest.TestCase):
    def refuses(self, function, wrong):
        for name, value in wrong.items():
            with self.assertRaisesRegex(TypeError, rf"^{name}\b.*: expected .*, got ", msg=f"{name}={value!r}"):
                function(**{name: value})

    def test_optimise(self):
        wrong = {"seconds": "2", "threads": 1.5, "repeats": "3", "budget": None, "tolerance": "1e-4", "seed": [1], "force": "no", "target": 3,
                 "method": b"greedy", "cost": None, "profile": 1, "cost_folder": 1, "device": 0, "python": 3, "progress": "yes", "out": 5,
                 "rules": 7, "sizes": [("n", 2)], "dims": {"n": "4"}, "inputs": {"x": b"1"}}  # fmt: skip
        self.refuses(lambda **wrong: rlgo.optimise("toy_residual", **{"seconds": 1, "progress": False, **wrong}), wrong)

    def test_search_load_cost_and_rules(self):
        self.refuses(lambda **wrong: rlgo.search("toy_residual", **wrong), {"methods": 1, "seconds": "1", "budget": 0.5, "cost": 2, "rules": 1, "alpha": "1"})
        self.refuses(lambda **wrong: rlgo.load("toy_residual", **wrong), {"batch": "2", "seed": 0.5, "weights": 1, "sizes": 3})
        self.refuses(lambda **wrong: rlgo.cost(**{"name": "cpu", **wrong}), {"name": 1, "threads": "2", "python": 0})
        self.refuses(rlgo.rules.load, {"words": 1})
        self.refuses(lambda **wrong: rlgo.rules.verify(**{"source": "base", **wrong}), {"source": 1, "threads": "2", "only": 3})
        self.refuses(rlgo.load, {"model": 3.5})

    def test_environments(self):
        from rlgo import gym

        wrong = {"reward": 1, "action": None, "max_steps": "9", "weights": 1, "room": ("a", 0, 0), "cost": 1, "rules": 3}
        self.refuses(gym.RewriteEnv, {**wrong, "illegal": 1})
        self.refuses(gym.RewriteVectorEnv, {**wrong, "num_envs": "2"})

    def test_numbers_of_numpy_are_numbers(self):
        self.assertEqual(rlgo.load("toy_mlp", batch=np.int64(2), layers=3.0).hash, rlgo.load("toy_mlp", batch=2, layers=3).hash)
        self.assertTrue(rlgo.search("toy_mlp", "greedy", seconds=np.float32(9), budget=1e3))


class Weights(InAFolder):
    def test_a_message_without_its_weights_is_refused(self):
        import onnx

        path = product(self.folder / "m.onnx", "w.bin")
        for model in (onnx.load(path, load_external_data=False), path.read_bytes()):
            with self.assertRaisesRegex(rlgo.UsageError, r"weights lie in another file \(w.bin\) and are not loaded; give the model's path") as caught:
                rlgo.load(model)
            self.assertNotIn(tempfile.gettempdir(), str(caught.exception))
        self.assertEqual(rlgo.load(onnx.load(path)).hash, rlgo.load(path).hash)

    def test_a_graph_is_not_saved_over_weights_that_it_was_read_from(self):
        path = product(self.folder / "m.onnx", "w.bin")
        weights = (self.folder / "w.bin").read_bytes()
        graph = rlgo.load(path)
        with self.assertRaisesRegex(rlgo.Error, "w.bin: holds weights of"):
            graph.save(str(self.folder / "w.bin"))
        graph.save(str(path))
        self.assertEqual((self.folder / "w.bin").read_bytes(), weights)

    def saved(self, location="m.onnx.data"):
        """What rlgo.optimise gives where it found nothing: the model itself."""
        path = product(self.folder / "m.onnx", location)
        return rlgo.Result("", False, 1.0, (1.0, 1.0), 0, 0, False, [], [], path=str(path))

    def test_results_are_saved_with_their_weights(self):
        result, other = self.saved(), self.folder / "other"
        other.mkdir()
        result.save(other / "copy.onnx")
        result.save(self.folder / "m.onnx")
        self.assertEqual(sorted(os.listdir(other)), ["copy.onnx", "m.onnx.data"])
        self.assertEqual(rlgo.load(other / "copy.onnx").hash, rlgo.load(result.path).hash)

    def test_saving_a_result_replaces_no_other_weights(self):
        result, other = self.saved(), self.folder / "other"
        other.mkdir()
        product(other / "x.onnx", "m.onnx.data", seed=1)
        before = (other / "m.onnx.data").read_bytes()
        with self.assertRaisesRegex(rlgo.Error, "m.onnx.data: is there already"):
            result.save(other / "copy.onnx")
        with self.assertRaisesRegex(rlgo.Error, "holds weights of the model"):
            result.save(self.folder / "m.onnx.data")
        self.assertEqual(((other / "m.onnx.data").read_bytes(), sorted(os.listdir(other))), (before, ["m.onnx.data", "x.onnx"]))

    def test_hard_links_of_a_place_keep_their_contents(self):
        result = self.saved()
        (self.folder / "out.onnx").write_text("old")
        (self.folder / "kept.onnx").hardlink_to(self.folder / "out.onnx")
        result.save(self.folder / "out.onnx")
        self.assertEqual((self.folder / "kept.onnx").read_text(), "old")

    def test_models_of_the_hub_cache_are_read_whole(self):
        import onnx

        result, links = self.saved(), self.folder / "links"
        links.mkdir()
        for name in ("m.onnx", "m.onnx.data"):
            (links / name).symlink_to(self.folder / name)
        model = rlgo.Result("", False, 1.0, (1.0, 1.0), 0, 0, False, [], [], path=str(links / "m.onnx")).model
        self.assertEqual(model.SerializeToString(), onnx.load(result.path).SerializeToString())


if __name__ == "__main__":
    sys.exit(unittest.main())
