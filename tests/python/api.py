"""rlgo.load, cost, search, rules: results, messages, signals, threads."""

import copy
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import _package
import rlgo


class Graphs(unittest.TestCase):
    def test_a_file_and_its_bytes_and_its_message_are_the_same_graph(self):
        import onnx

        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "m.onnx"
            rlgo.load("toy_residual").save(str(path))
            graph = rlgo.load(path)
            self.assertEqual(rlgo.load(path.read_bytes()).hash, graph.hash)
            self.assertEqual(rlgo.load(onnx.load(path)).hash, graph.hash)

    def test_what_a_graph_shows(self):
        graph = rlgo.load("toy_mlp", batch=2, layers=3)
        self.assertEqual(graph.inputs[0][1].split("[")[0], "f32")
        self.assertGreater(graph.operators["matmul"], 0)
        self.assertIn("<svg", graph.svg())
        self.assertEqual(copy.copy(graph).hash, graph.hash)

    def test_errors_name_the_file_and_what_is_wrong(self):
        with self.assertRaisesRegex(rlgo.Error, "/none.onnx: no such file"):
            rlgo.load("/none.onnx")
        with self.assertRaisesRegex(rlgo.Error, "resnet51.*did you mean 'resnet50'"):
            rlgo.load("resnet51")
        with self.assertRaisesRegex(rlgo.Error, "damaged|not an ONNX|no valid|ONNX"):
            rlgo.load(b"\x01\x02\x03")
        with self.assertRaises(TypeError):
            rlgo.load(3.5)

    def test_open_dimensions_get_the_sizes_that_are_asked_for(self):
        from onnx import TensorProto, helper

        x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 4])
        y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", 4])
        model = helper.make_model(helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", [x], [y]), opset_imports=[helper.make_opsetid("", 17)])
        model.ir_version = 8
        self.assertEqual(rlgo.load(model, sizes={"batch": 6}).sizes, {"batch": 6})
        self.assertEqual(rlgo.load(model, dims={"batch": 3}).inputs, [("x", "f32[3,4]")])
        with self.assertRaises(TypeError):
            rlgo.load(model, sizes={"batch": 2.5})


class Costs(unittest.TestCase):
    def test_operators_add_up_to_the_graph(self):
        graph, cost = rlgo.load("toy_residual"), rlgo.cost("cpu")
        total = cost.graph_cost(graph)["runtime_us"]
        self.assertAlmostEqual(sum(us for _, us in cost.operator_costs(graph)), total, places=6)
        self.assertNotEqual(rlgo.cost("gpu").graph_cost(graph)["runtime_us"], total)

    def test_a_runtime_times_operators(self):
        cost = rlgo.cost("onnxruntime", repeats=1)
        self.assertIn("onnxruntime", cost.name)
        self.assertGreater(cost.graph_cost(rlgo.load("toy_mlp"))["runtime_us"], 0)

    def test_unknown_names_are_refused_with_those_that_are_known(self):
        with self.assertRaisesRegex(rlgo.UsageError, "profiles: cpu, cpu-libtorch, cpu-onnxruntime, gpu; runtimes: mnn, ncnn, onnxruntime, opencv, openvino, tract"):
            rlgo.cost("zpu")


class Searches(unittest.TestCase):
    def test_results_are_those_of_the_command(self):
        found = rlgo.search("squeezenet1_1", "greedy", cost="cpu", seconds=60)[0]
        out = subprocess.run(
            [os.environ["RLGO_BINARY"], "search", "--graph", "squeezenet1_1", "--method", "greedy", "--cost", "analytic", "--target", "libtorch"],
            capture_output=True, text=True, check=True,
        ).stdout  # fmt: skip
        self.assertIn(f"{100 * (found.ratio - 1):+.2f}", out)

    def test_a_trace_leads_from_the_graph_to_the_result(self):
        graph, rules = rlgo.load("toy_residual"), rlgo.rules.load()
        for found in rlgo.search(graph, "greedy,taso,beam", rules=rules, budget=500):
            self.assertEqual(rlgo.rules.replay(rules, graph, found.trace).hash, found.graph.hash)
            self.assertLessEqual(found.after_us, found.before_us)
            self.assertAlmostEqual(rlgo.cost("cpu").graph_cost(found.graph)["runtime_us"], found.after_us, places=6)

    def test_wrong_requests(self):
        with self.assertRaisesRegex(rlgo.Error, "did you mean 'taso'"):
            rlgo.search("toy_mlp", "tasso")
        with self.assertRaisesRegex(rlgo.Error, "no search method named 'policy'"):
            rlgo.search("toy_mlp", "policy")
        for wrong in ({"seconds": 0}, {"budget": 0}, {"threads": 0}, {"alpha": 0.5}, {"methods": ""}):
            with self.assertRaises(rlgo.Error, msg=wrong):
                rlgo.search("toy_mlp", **wrong)

    def test_other_threads_run_meanwhile(self):
        ticks, done = [0], threading.Event()

        def tick():
            while not done.is_set():
                ticks[0] += 1
                time.sleep(0.001)

        thread = threading.Thread(target=tick)
        thread.start()
        rlgo.search("resnet18", "taso", seconds=0.5, budget=10**9)
        done.set()
        thread.join()
        self.assertGreater(ticks[0], 5)  # with the lock held: 0 or 1

    def test_ctrl_c_ends_a_search(self):
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        with self.assertRaises(KeyboardInterrupt):
            rlgo.search("bert", "taso", seconds=300, budget=10**9)

    def answers_soon(self, work):
        """Ctrl-C one second into it is answered long before it would end."""
        sent = time.monotonic() + 1
        threading.Timer(1, os.kill, (os.getpid(), signal.SIGINT)).start()
        with self.assertRaises(KeyboardInterrupt):
            work()
        self.assertLess(time.monotonic() - sent, 15)

    def test_ctrl_c_ends_reading(self):
        import onnx
        from onnx import TensorProto, helper

        x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 4]) for name in ("v0", "v200000"))
        nodes = [helper.make_node("Sin", [f"v{k}"], [f"v{k + 1}"]) for k in range(200000)]
        model = helper.make_model(helper.make_graph(nodes, "g", [x], [y]), opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        with tempfile.TemporaryDirectory() as folder:
            onnx.save(model, f"{folder}/m.onnx")
            self.answers_soon(lambda: rlgo.load(f"{folder}/m.onnx"))

    def test_ctrl_c_ends_pricing_and_prices_can_be_asked_for_again(self):
        graph, cost = rlgo.load("bert"), rlgo.cost("onnxruntime", repeats=99)
        self.answers_soon(lambda: cost.graph_cost(graph))
        self.assertGreater(cost.graph_cost(rlgo.load("toy_mlp"))["runtime_us"], 0)

    def test_what_a_callback_raises_comes_out(self):
        def broken(*_):
            raise ZeroDivisionError

        with self.assertRaises(ZeroDivisionError):
            rlgo.search("bert", "taso", seconds=300, budget=10**9, progress=broken)


class Rules(unittest.TestCase):
    def test_sets_words_and_names(self):
        rules = rlgo.rules.load("base")
        self.assertEqual(len(rlgo.rules.list("base")), len(rules))
        self.assertEqual(rules["fuse-conv-relu"].proof, "proved")
        self.assertNotIn("fuse-conv-relu", rlgo.rules.load("base,-fuse-conv-relu"))
        with self.assertRaisesRegex(rlgo.Error, "did you mean 'fuse-conv-relu'"):
            rules["fuse-conv-rely"]
        with self.assertRaises(rlgo.UsageError):
            rlgo.rules.load("nosuchset")

    def test_parse_reports_the_line(self):
        with self.assertRaisesRegex(rlgo.Error, "mine:3"):
            rlgo.rules.parse("rule a\n  ?y = (relu\n  => ?y = ?x\n", "mine")

    def test_a_wrong_rule_is_not_proved_and_a_right_one_is(self):
        wrong = rlgo.rules.parse("rule neg-is-abs\n  ?y = (neg ?x)\n  => ?y = (abs ?x)\n")
        self.assertEqual(rlgo.rules.verify(wrong)[0].verdict, "refuted")
        self.assertTrue(rlgo.rules.verify("base", only=["fuse-conv-relu"])[0].proved)
        with self.assertRaisesRegex(rlgo.Error, "no rule is named 'x'"):
            rlgo.rules.verify("base", only=["x"])


class Loading(unittest.TestCase):
    def test_import_needs_neither_torch_nor_numpy(self):
        code = "import sys, rlgo; assert not {'torch', 'numpy', 'gymnasium'} & set(sys.modules), sys.modules.keys()"
        subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "PYTHONPATH": str(_package.BUILD / "python")})

    def test_libraries_link_what_they_are_meant_to(self):
        never = ("libmpi", "libhdf5", "libpython", "libtorch")
        for name, more in {"librlgo_base": ("libz3",), "_core": ("libz3",), "_prove": ()}.items():
            file = next((_package.BUILD / "python" / "rlgo").glob(f"{name}*.so"))
            self.assertTrue(name == "librlgo_base" or file.name.endswith(".abi3.so"), file.name)
            needed = subprocess.run(["readelf", "-d", str(file)], capture_output=True, text=True, check=True).stdout
            for library in never + more:
                self.assertNotIn(f"[{library}", needed, name)


if __name__ == "__main__":
    unittest.main()
