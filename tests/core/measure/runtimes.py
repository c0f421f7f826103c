"""The shipped measurers, spoken to as rlgo does: real runtimes, real models. Skips those that are not installed: RLGO_SETUP_REFERENCES=1
launch/scripts/setup.sh installs those that set-up leaves out."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy
    import onnx
    from onnx import TensorProto, helper, numpy_helper
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

SOURCE = os.environ.get("RLGO_SOURCE", ".")
CACHE = pathlib.Path(os.environ.get("RLGO_CACHE") or pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "rlgo")
MODULES = {"onnxruntime": "onnxruntime", "openvino": "openvino", "opencv": "cv2", "tract": "tract", "mnn": "MNN", "ncnn": "ncnn"}  # by runtime
ONE_THREAD = ("tract",)
OWN_CONVERTER = ("ncnn",)  # which runs the model with numbers of its own


class Measurer:
    def __init__(self, name, packages=CACHE / "references"):
        script = os.path.join(SOURCE, "launch", "measurers", name + "_measurer.py")
        environment = os.environ | {"PYTHONPATH": f"{packages}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
        self.child = subprocess.Popen([sys.executable, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
        self.signs = 0

    def ask(self, **request):
        self.child.stdin.write(json.dumps(request) + "\n")
        self.child.stdin.flush()
        while True:
            answer = json.loads(self.child.stdout.readline())
            assert answer["id"] == request["id"], answer
            if "at" not in answer and "round" not in answer:
                return answer
            self.signs += 1


def save(folder, name, nodes, shape, weights=(), output=None, more=()):
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape), *more]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, output or shape)]
    graph = helper.make_graph(nodes, "g", inputs, outputs, [numpy_helper.from_array(w, n) for n, w in weights])
    path = os.path.join(folder, name + ".onnx")
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def check(name, folder):
    measurer = Measurer(name)
    hello = measurer.ask(id=1, do="hello", protocol=1, threads=1, seed=1)
    if "error" in hello:
        assert "-m pip install " in hello["error"], hello
        print(f"{name}: skipped: {hello['error']}")
        return False
    assert hello["runtime"] == name and hello["threads"] == 1 and hello["version"] and hello["device"], hello

    kernel = numpy.ones((32, 32, 3, 3), dtype=numpy.float32)
    small = save(folder, "small", [helper.make_node("Relu", ["x"], ["y"])], [1, 32, 8, 8])
    conv = save(folder, "conv", [helper.make_node("Conv", ["x", "w"], ["y"], pads=[1] * 4)], [1, 32, 64, 64], [("w", kernel)])
    open_sized = save(folder, "open", [helper.make_node("Relu", ["x"], ["y"])], ["n", 8])
    missing = os.path.join(folder, "missing.onnx")
    request = dict(warmup=1, repeats=3, min_sample_us=100, seed=1)
    answer = measurer.ask(id=2, do="measure", models=[small, conv, missing, open_sized], shapes={"x": [3, 8]}, **request)
    results = answer["results"]
    assert measurer.signs == 4 + 3, measurer.signs
    for i in (0, 1, 3):
        assert len(results[i]["samples_us"]) == 3 and 0 <= results[i]["layout_fraction"] <= 1, results[i]
    assert min(results[1]["samples_us"]) > 3 * min(results[0]["samples_us"]), results  # 75 million operations against 2048
    assert "error" in results[2] and "samples_us" not in results[2], results[2]

    for reference, times in ((conv, 3), (missing, 0)):  # the machine's pace next to each sample; none where it does not run
        answer = measurer.ask(id=9, do="measure", models=[small, conv, missing], reference=reference, **request)
        assert [len(r.get("reference_us", [])) for r in answer["results"]] == [times, times, 0], answer
        assert all(us > 0 for r in answer["results"] for us in r.get("reference_us", [])), answer

    several = Measurer(name)  # whose models share their threads
    greeting = several.ask(id=1, do="hello", protocol=1, threads=2, seed=1)
    if name in ONE_THREAD:
        assert "on one thread, not 2: take --threads 1" in greeting["error"], greeting
    else:
        assert greeting["threads"] == 2, greeting
        answer = several.ask(id=2, do="measure", models=[small, conv, conv], **request)
        assert all(len(result["samples_us"]) == 3 for result in answer["results"]), answer

    # Declared with two dimensions, computed with three (the sizes are those at 0, 3, 6), which no inference sees.
    nodes = [helper.make_node("Shape", ["x"], ["s"]), helper.make_node("ReduceMax", ["s"], ["eight"], keepdims=0),
             helper.make_node("Range", ["zero", "eight", "three"], ["r"]), helper.make_node("Gather", ["row", "r"], ["t"]), helper.make_node("Reshape", ["x", "t"], ["y"])]
    integers = [("zero", numpy.array(0)), ("three", numpy.array(3)), ("row", numpy.array([-1, 1, 1, 1, 1, 1, 1, 1]))]
    misdeclared = save(folder, "misdeclared", nodes, ["n", 8], integers, [1, "m"])
    answer = measurer.ask(id=5, do="measure", models=[misdeclared], shapes={"x": [3, 8]}, **request)
    assert name != "onnxruntime" or len(answer["results"][0]["samples_us"]) == 3, answer

    # Runs with sampling rates around 16000 only: others are no place of the table.
    nodes = [helper.make_node("Sub", ["sr", "first"], ["place"]), helper.make_node("Gather", ["table", "place"], ["t"]), helper.make_node("Mul", ["x", "t"], ["y"])]
    weights = [("first", numpy.array(16000)), ("table", numpy.array([2.0], dtype=numpy.float32))]
    rated = save(folder, "rated", nodes, [1, 8], weights, more=[helper.make_tensor_value_info("sr", TensorProto.INT64, [])])
    answer = measurer.ask(id=6, do="compare", models=[rated, rated], **request)
    if name in OWN_CONVERTER:
        assert all("does not convert the model: " in r["error"] and "\n" not in r["error"] for r in answer["results"]), answer
    else:
        assert [r["assumed"] for r in answer["results"]] == [{"sr": [16000.0]}] * 2, answer
    if name == "onnxruntime":
        answer = measurer.ask(id=7, do="compare", models=[rated], values={"sr": [8000]}, **request)
        assert "error" in answer["results"][0], answer
        answer = measurer.ask(id=8, do="compare", models=[rated], values={"sr": [15999]}, **request)
        assert "samples_us" in answer["results"][0] and "assumed" not in answer["results"][0], answer

    answer = measurer.ask(id=3, do="compare", models=[conv, conv], **request)
    assert [len(r["samples_us"]) for r in answer["results"]] == [3, 3], answer
    answer = measurer.ask(id=5, do="compare", models=[conv, conv], seconds=0.0, least_repeats=2, **request)
    assert [len(r["samples_us"]) for r in answer["results"]] == [2, 2], answer
    assert "error" in measurer.ask(id=4, do="dance"), "an unknown request is an error"
    measurer.child.stdin.close()
    assert measurer.child.wait(timeout=300) == 0
    print(f"{name} {hello['version']}: passed")
    return True


def missing(name, folder):
    """A package that is not there is named, with the command that installs it."""
    empty = pathlib.Path(folder, "missing-" + name)
    empty.mkdir()
    (empty / f"{MODULES[name]}.py").write_text(f"raise ImportError(\"No module named '{MODULES[name]}'\")")
    answer = Measurer(name, empty).ask(id=1, do="hello", protocol=1, threads=1, seed=1)
    assert answer["error"].startswith(f"ImportError: No module named '{MODULES[name]}'; install it: {sys.executable} -m pip install "), answer


def answers_alike(name, folder):
    """Each runtime answers to the same inputs what ONNX Runtime answers, also without its own optimisation, and where a file writes an open extent as -1; a
    model that it does not read is one line."""
    weights = [("w", numpy.linspace(-1, 1, 16 * 3 * 9, dtype="float32").reshape(16, 3, 3, 3)), ("f", numpy.linspace(-1, 1, 16 * 4, dtype="float32").reshape(16, 4)), ("b", numpy.zeros(4, dtype="float32"))]
    conv = [helper.make_node("Conv", ["x", "w"], ["c"], pads=[1] * 4), helper.make_node("Relu", ["c"], ["r"]), helper.make_node("GlobalAveragePool", ["r"], ["p"]),
            helper.make_node("Flatten", ["p"], ["q"]), helper.make_node("Gemm", ["q", "f", "b"], ["g"]), helper.make_node("Softmax", ["g"], ["y"])]
    unknown = onnx.load(save(folder, "unknown", [helper.make_node("Unheard", ["x"], ["y"], domain="my.own")], [1, 8]))
    unknown.opset_import.append(helper.make_opsetid("my.own", 1))
    onnx.save(unknown, os.path.join(folder, "unknown.onnx"))
    models = [save(folder, "net", conv, [1, 3, 32, 32], weights, [1, 4]), save(folder, "open", [helper.make_node("Tanh", ["x"], ["y"])], [-1, 8]), os.path.join(folder, "unknown.onnx")]
    answers = []
    for runtime in ("onnxruntime", name):
        measurer = Measurer(runtime)
        measurer.ask(id=1, do="hello", protocol=1, threads=1, seed=1)
        for plain in (False, True):
            answer = measurer.ask(id=2, do="outputs", models=models, folder=folder, seed=1, shapes={"x": [3, 8]}, plain=plain)["results"]
            assert all("outputs" in result for result in answer[:2]), answer
            reported = [result["outputs"][0] for result in answer[:2]]
            assert [(one["name"], one["shape"]) for one in reported] == [("y", [1, 4]), ("y", [3, 8])], (runtime, reported)
            answers.append([numpy.fromfile(one["file"], "<f8") for one in reported])
            assert "error" in answer[2] and (runtime == "onnxruntime" or answer[2]["error"].count("\n") == 0 and "the model: " in answer[2]["error"]), answer[2]
        measurer.child.stdin.close()
        measurer.child.wait(timeout=300)
    for other in answers[1:]:
        for one, two in zip(answers[0], other, strict=True):
            assert numpy.allclose(one, two, atol=5e-3) and numpy.ptp(one) > 0.01, (one, two)


def draws_alike(folder):
    """Two files that draw random numbers without a seed, in a body too, draw the same, wherever in the file the operators stand."""
    measurer = Measurer("onnxruntime")
    if "error" in measurer.ask(id=1, do="hello", protocol=1, threads=1, seed=1):
        return
    body = helper.make_graph([helper.make_node("RandomUniform", [], ["u"], shape=[1, 8])], "body", [], [helper.make_tensor_value_info("u", TensorProto.FLOAT, [1, 8])])
    draw = [helper.make_node("RandomNormalLike", ["x"], ["r"]), helper.make_node("If", ["yes"], ["v"], then_branch=body, else_branch=body), helper.make_node("Dropout", ["r", "half", "yes"], ["d"]),
            helper.make_node("Sigmoid", ["x"], ["p"]), helper.make_node("Bernoulli", ["p"], ["b"]), helper.make_node("Sum", ["d", "v", "b"], ["rv"])]
    weights = [("yes", numpy.array(True)), ("half", numpy.array(0.5, "float32"))]
    ways = {"first": [*draw, helper.make_node("Add", ["x", "rv"], ["y"])],
            "later": [helper.make_node("Neg", ["x"], ["n"]), helper.make_node("Neg", ["n"], ["x2"]), *draw, helper.make_node("Add", ["x2", "rv"], ["y"])]}
    models = [save(folder, name, nodes, [1, 8], weights) for name, nodes in ways.items()]
    numbers = []
    for k, plain in enumerate((False, True, True)):
        answer = measurer.ask(id=2 + k, do="outputs", models=models, seed=1, folder=folder, plain=plain)
        numbers += [numpy.fromfile(one["outputs"][0]["file"], "<f8") for one in answer["results"]]
    # What is optimised drops other elements.
    assert numpy.array_equal(*numbers[:2]) and all(numpy.array_equal(numbers[2], other) for other in numbers[3:]), numbers
    assert not numpy.allclose(numbers[0], numbers[0][0]), numbers
    measurer.child.stdin.close()
    measurer.child.wait(timeout=300)


def other_types(folder):
    """Inputs and outputs that are no tensors of numbers: words that the model knows, numbers where it parses them, sequences, optional values, maps."""
    measurer = Measurer("onnxruntime")
    if "error" in measurer.ask(id=1, do="hello", protocol=1, threads=1, seed=1):
        return
    tensor, info = helper.make_tensor_type_proto, helper.make_value_info
    counts = onnx.TypeProto(map_type=onnx.TypeProto.Map(key_type=TensorProto.STRING, value_type=tensor(1, [])))
    node, ml = helper.make_node, "ai.onnx.ml"
    nodes = [node("LabelEncoder", ["word"], ["f"], domain=ml, keys_strings=["cat", "dog"], values_floats=[2.0, 3.0]), node("Cast", ["number"], ["g"], to=1),
             node("DictVectorizer", ["counts"], ["v"], domain=ml, string_vocabulary=["hen"]), node("SequenceAt", ["list", "zero"], ["e"]), node("Mul", ["e", "x"], ["ex"]),
             node("OptionalHasElement", ["perhaps"], ["q"]), node("Identity", ["word"], ["same"]), node("SequenceConstruct", ["f", "g"], ["both"])]
    inputs = [info("word", tensor(TensorProto.STRING, ["n"])), info("number", tensor(TensorProto.STRING, ["n"])), info("unread", tensor(TensorProto.STRING, ["n"])), info("counts", counts),
              info("list", helper.make_sequence_type_proto(tensor(1, None))), info("perhaps", helper.make_optional_type_proto(tensor(1, ["n"]))), info("x", tensor(1, ["n", 3]))]
    outputs = [info("same", tensor(TensorProto.STRING, ["n"])), info("both", helper.make_sequence_type_proto(tensor(1, None))), info("v", tensor(1, None)), info("ex", tensor(1, None)), info("q", tensor(TensorProto.BOOL, []))]
    path = os.path.join(folder, "types.onnx")
    graph = helper.make_graph(nodes, "g", inputs, outputs, [numpy_helper.from_array(numpy.array(0), "zero")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18), helper.make_opsetid(ml, 2)], ir_version=8), path)
    shapes = {name: [4] for name in ("word", "number", "unread")} | {"x": [4, 3]}
    answer = measurer.ask(id=2, do="compare", models=[path, path], shapes=shapes, warmup=1, repeats=2, min_sample_us=0, seed=1)
    assert answer["results"][0].get("assumed") == {"word": ["cat", "dog"], "number": ["0", "1", "2", "3"], "unread": ["0", "1", "2", "3"], "counts": ["hen"]}, answer
    answer = measurer.ask(id=3, do="outputs", models=[path, path], shapes=shapes, seed=1, folder=folder, values={"word": ["dog"]})
    reported = answer["results"][0]["outputs"]
    assert [(o["name"], o["dtype"], o["shape"]) for o in reported] == [
        ("same", "string", [4]), ("both (length)", "int64", [1]), ("both[0]", "float32", [4]), ("both[1]", "float32", [4]), ("v", "float32", [1, 1]), ("ex", "float32", [4, 3]), ("q", "bool", [])], reported
    assert numpy.array_equal(numpy.fromfile(reported[2]["file"], "<f8"), [3, 3, 3, 3]), "the word that was asked for"
    measurer.child.stdin.close()
    measurer.child.wait(timeout=300)


def batches():
    """A sample of a short model is many runs, however slow the first one was, and whatever else had the core."""
    sys.path.insert(0, os.path.join(SOURCE, "launch", "measurers"))
    import protocol

    class Fake(protocol.Server):
        def __init__(self, run_us):  # of each sample in turn; the last one stays
            self.run_us = list(run_us)

        def sample_us(self, run, batch):
            return self.run_us.pop(0) if len(self.run_us) > 1 else self.run_us[0]

    assert Fake([50.0]).batch_of(None, 2000) == 40
    assert Fake([5000.0, 50.0]).batch_of(None, 2000) == 40, "the first run is slow"
    assert Fake([150.0, 50.0, 9000.0, 50.0]).batch_of(None, 2000) == 40
    assert Fake([100000.0]).batch_of(None, 2000) == 1
    assert Fake([0.0]).batch_of(None, 2000) == protocol.MOST_RUNS


def warm_ups():
    """Before its first sample every slow model has run as often, also the one that was run for its memory; a quick one as asked."""
    import protocol

    class Fake(protocol.Server):
        def __init__(self, run_us):
            self.run_us, self.runs = run_us, 0

        def run(self):
            self.runs += 1

        def sample_us(self, run, batch):
            run()
            return self.run_us

    for ran in (0, 1):
        slow = Fake(2 * protocol.SLOW_US)
        assert slow.is_slow(slow.run, 3, ran) and slow.runs + ran == protocol.SLOW_RUNS, slow.runs
    quick = Fake(100.0)
    assert not quick.is_slow(quick.run, 3) and quick.runs == 3, quick.runs


def main():
    batches()
    warm_ups()
    with tempfile.TemporaryDirectory() as folder:
        draws_alike(folder)
        other_types(folder)
        for name in MODULES:
            missing(name, folder)
        checked = [name for name in MODULES if check(name, folder)]
        for name in checked:
            if name not in ("onnxruntime", "openvino"):
                answers_alike(name, folder)
    return 0 if checked else 77


if __name__ == "__main__":
    sys.exit(main())
