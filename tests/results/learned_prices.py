"""results/prices.py and the tables of learned prices, by literal values. Fitting needs LightGBM, which is no part of set-up: what comes before and after it is tried here."""
import lzma
import math
import pathlib
import tempfile
import unittest

import _tiny  # noqa: F401, the path of results
import numpy as np
import prices
from rlgo_results import boosted_trees, learned_prices

WHERE = {"models": "31", "sha256": "ab" * 32, "runtime": "onnxruntime 1.31.1", "device": "paper", "commit": "c", "machine": "m"}
GROUPS = """# rlgo groups, version 1
# runtime onnxruntime 1.31.1
a\t20\t1\thead:conv2d=1\tprice={ten}\tcount:relu=2
a\t40\t1\thead:conv2d=1\tprice={ten}
a\t0.04\t0\thead:add=1\tprice={ten}
b\t10\t1\thead:add=1\tprice={ten}
""".format(ten=math.log(10))


def run(model, method, seconds, ratio):
    return {"model": model, "method": method, "seconds": seconds, "ratio": ratio, "noise": "0.002", "commit": "c", "machine": "m"}


class Groups(unittest.TestCase):
    def setUp(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "groups.tsv"
            path.write_text(GROUPS, encoding="utf-8")
            self.groups = prices.Groups(path)
            packed = pathlib.Path(folder) / "groups.tsv.xz"
            packed.write_bytes(lzma.compress(GROUPS.encode()))
            self.packed = prices.Groups(packed)

    def test_reading(self):
        self.assertEqual(self.groups.us.tolist(), [20, 40, 10])  # what takes next to nothing is left out
        self.assertEqual(self.packed.us.tolist(), [20, 40, 10])
        self.assertEqual(self.packed.sha256, self.groups.sha256)
        self.assertEqual(self.groups.names, ["count:relu", "head:add", "head:conv2d", "price"])
        self.assertEqual(self.groups.x[:, 0].tolist(), [2, 0, 0])
        self.assertEqual(self.groups.kinds.tolist(), ["conv2d", "conv2d", "add"])
        np.testing.assert_allclose(self.groups.target, [math.log(2), math.log(4), 0], atol=1e-12)

    def test_scores(self):
        whole, add, conv = prices.scores(self.groups, self.groups.target + 1)  # a factor for each model is free
        self.assertEqual((whole["kind"], whole["groups"], whole["factor"], whole["weighted"]), ("all", 3, "1.000", "0.000"))
        self.assertEqual((add["kind"], add["factor_formula"]), ("add", "1.000"))  # model b has this one group
        self.assertEqual((conv["kind"], conv["groups"], conv["factor_formula"]), ("conv2d", 2, f"{2**0.5:.3f}"))


class Trees(unittest.TestCase):
    TEXT = "# c\ndevice Paper (R) 1\nfeatures size head:conv2d other\ntree 0 2.5 1 0 =1 =2 =4\ntree 1 0 =0.5 2 10 =-1 =-2\n"

    def test_predict(self):
        trees = boosted_trees.BoostedTrees(self.TEXT)
        self.assertEqual(trees.device, "Paper (R) 1")
        x = np.array([[2.5, 0], [2.5, 1], [3, 1]])  # as tests/core/cost/boosted_trees_test.cc has it
        np.testing.assert_allclose(trees.predict(x, ["size", "head:conv2d"]), [1.5, 1, 3])

    def test_others(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder)
            (path / "groups.tsv").write_text(GROUPS, encoding="utf-8")
            groups = prices.Groups(path / "groups.tsv")
            self.assertEqual(prices.of_others(groups, path / "mine.trees"), (None, ""))
            (path / "mine.trees").write_text("device mine\nfeatures price\ntree =7\n", encoding="utf-8")
            (path / "a.trees").write_text(self.TEXT, encoding="utf-8")
            (path / "b.trees").write_text("device B\nfeatures price\ntree =3\n", encoding="utf-8")
            printed, devices = prices.of_others(groups, path / "mine.trees")
            self.assertEqual(devices, "Paper (R) 1, B")
            np.testing.assert_allclose(printed, [(2 - 1 + 3) / 2, (2 - 1 + 3) / 2, (1 + 0.5 + 3) / 2])
            whole = next(prices.scores(groups, groups.target, printed))
            self.assertEqual((whole["factor"], whole["factor_others"]), ("1.000", f"{2**0.5:.3f}"))

    def test_makers(self):
        self.assertEqual([prices.maker(name) for name in ("Intel(R) Xeon(R) Processor", "AMD EPYC", "Neoverse-N1", "")], ["intel", "amd", "neoverse-n1", "unknown"])


class Tables(unittest.TestCase):
    def test_accuracy(self):
        row = {"kind": "all", "groups": "500", "factor_formula": "1.42", "factor": "1.21", "factor_others": "", "weighted_formula": "0.47", "weighted": "0.25", "weighted_others": "",
               "others": "", **WHERE}  # fmt: skip
        lines = learned_prices.accuracy([row, {**row, "kind": "rare", "groups": "39"}, {**row, "device": "pencil", "factor_others": "1.5", "weighted_others": "0.4", "others": "paper"}])
        self.assertEqual(lines.index("paper; lower is better:") + 4, lines.index("| all | 500 | 1.42 | **1.21** | 0.47 | **0.25** |"))
        self.assertEqual(lines.index("pencil; lower is better:") + 4, lines.index("| all | 500 | 1.42 | **1.21** | 0.47 | **0.25** |", lines.index("pencil; lower is better:")))
        self.assertFalse([line for line in lines if "rare" in line])
        self.assertIn("31 models", lines[-1])
        self.assertIn("learned on paper are off by a factor of 1.50, by 0.40", lines[-1])

    def test_equal_seconds(self):
        rows = [run("a", "formula", "3", "1"), run("a", "search", "3", "0.5"), run("a", "formula", "10", "0.5"), run("a", "search", "10", "0.504"),
                run("b", "formula", "3", "1"), run("b", "search", "3", "1"), run("c", "formula", "3", "0.9")]  # fmt: skip
        lines = learned_prices.in_equal_seconds(rows)
        self.assertIn("| a | 1.000, **0.500** | **0.500**, 0.504 | 0.002 |", lines)
        self.assertIn("1 of the models stay as they are", lines[-1])
        three, ten = (next(line for line in lines if line.startswith(f"- {s} s")) for s in (3, 10))
        self.assertIn("better by more than 1 % and A/A on 1, worse on 0", three)
        self.assertIn("10 s, 1 models", ten)
        self.assertEqual(learned_prices.summary(rows), [three, ten])
        self.assertIn("better by more than 1 % and A/A on 0, worse on 0", ten)

    def test_elsewhere(self):
        rows = [run("a", "formula", "3", "1"), run("a", "search", "3", "0.5"), run("a", "formula", "10", "0.9"), run("a", "search", "10", "0.8"), run("b", "formula", "3", "1"), run("b", "search", "3", "1")]
        lines = learned_prices.elsewhere(rows, [run("a", "search", "3", "0.625"), run("a", "search", "10", "0.8"), run("b", "search", "3", "1"), run("c", "search", "3", "0.1")])
        self.assertEqual(lines[2:4], ["| a | 1.000 | 0.625 | **0.500** |", "| b | 1.000 | 1.000 | 1.000 |"])
        self.assertEqual(lines[7:9], ["| a | 0.900 | **0.800** | **0.800** |", "| b | - | - | - |"])
        self.assertIn(f"3 s: {(0.8 ** 0.5):.3f} [", lines[-1])

    def test_nothing_recorded(self):
        self.assertEqual(learned_prices.in_equal_seconds([run("a", "search", "3", "1")]), ["Nothing is recorded."])


if __name__ == "__main__":
    unittest.main()
