"""Bad input: status 1 (2 where the command line itself is wrong), one clear line that names what is wrong and what helps, and nothing is left behind."""
import os
import shutil
import socket

import numpy as np
import onnx
from _rlgo import RANDOM, SOURCE, main, rlgo
from onnx import TensorProto, helper, numpy_helper


def refused(folder, arguments, *words, status=1):
    """One error line with all the words, this status, no new file anywhere in the folder."""
    before = sorted(folder.rglob("*"))
    done = rlgo(*arguments, cwd=folder, status=status, timeout=300)
    lines = done.stderr.splitlines()
    assert len(lines) == 1 and lines[0].startswith("rlgo: error: "), f"{arguments}:\n{done.stderr}"
    assert not done.stdout, done.stdout
    for word in words:
        assert word in lines[0], f"'{word}' is missing: {lines[0]}"
    left = [path for path in sorted(folder.rglob("*")) if path not in before]
    assert not left, f"{arguments} left {left}"
    print(f"  {lines[0].replace(str(folder), 'FOLDER').replace(str(SOURCE), 'SOURCE')[:180]}")


def misused(folder, arguments, *words):
    """The same for what is wrong whatever files there are: status 2."""
    refused(folder, arguments, *words, status=2)


def valid_model(path, weight=None):
    weight = weight or numpy_helper.from_array(np.ones((4, 6), np.float32), "w")
    graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["m"]), helper.make_node("Relu", ["m"], ["y"])], "g",
                              [helper.make_tensor_value_info("x", 1, [2, 4])], [helper.make_tensor_value_info("y", 1, [2, 6])], [weight])
    path.write_bytes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8).SerializeToString())


def external(location, **more):
    weight = TensorProto(name="w", data_type=1, dims=[4, 6], data_location=TensorProto.EXTERNAL)
    for key, value in {"location": location, **more}.items():
        weight.external_data.add(key=key, value=str(value))
    return weight


def models(folder):
    """missing, damaged and hostile models"""
    valid_model(folder / "good.onnx")
    good = (folder / "good.onnx").read_bytes()
    (folder / "inner").mkdir()
    (folder / "secret").write_bytes(bytes(96))
    files = {"truncated.onnx": good[: len(good) // 2], "noise.onnx": np.random.default_rng(0).bytes(5000), "empty.onnx": b"", "text.onnx": b"hello\n"}
    for name, content in files.items():
        (folder / name).write_bytes(content)
    (folder / "folder.onnx").mkdir()
    os.mkfifo(folder / "pipe.onnx")
    valid_model(folder / "inner/outside.onnx", external("../secret"))
    valid_model(folder / "inner/absolute.onnx", external(str(folder / "secret")))
    valid_model(folder / "inner/gone.onnx", external("nothing.bin"))
    valid_model(folder / "inner/short.onnx", external("short.bin", offset=90, length=96))
    (folder / "inner/short.bin").write_bytes(bytes(96))
    (folder / "inner/link.bin").symlink_to(folder / "secret")
    valid_model(folder / "inner/link.onnx", external("link.bin"))
    huge = TensorProto(name="w", data_type=1, dims=[1 << 40, 1 << 40], raw_data=b"1234")
    valid_model(folder / "huge.onnx", huge)
    node = helper.make_node("Relu", ["y"], ["y"])
    cyclic = helper.make_graph([node], "g", [helper.make_tensor_value_info("x", 1, [2])], [helper.make_tensor_value_info("y", 1, [2])])
    (folder / "cyclic.onnx").write_bytes(helper.make_model(cyclic).SerializeToString())

    refused(folder, ["--graph", "missing.onnx", *RANDOM], "missing.onnx", "no such file")
    refused(folder, ["--graph", folder / "no/such/model", *RANDOM], "no/such/model", "no such file")
    for name in files:
        refused(folder, ["--graph", name, *RANDOM], name)
    refused(folder, ["--graph", "folder.onnx", *RANDOM], "folder.onnx", "is a folder")
    refused(folder, ["--graph", "pipe.onnx", *RANDOM], "pipe.onnx")
    for name, word in (("outside", "secret"), ("absolute", "secret"), ("gone", "nothing.bin"), ("short", "short.bin"), ("link", "link.bin")):
        refused(folder, ["--graph", f"inner/{name}.onnx", *RANDOM], f"{name}.onnx", word)
    refused(folder, ["--graph", "huge.onnx", *RANDOM], "huge.onnx")
    refused(folder, ["--graph", "cyclic.onnx", *RANDOM], "cyclic.onnx")
    refused(folder, ["inspect", "truncated.onnx"], "truncated.onnx")


def names(folder):
    """unknown graphs, options, commands; values out of bounds"""
    toy = ["--graph", "toy_conv", *RANDOM]
    misused(folder, [], "--graph")
    misused(folder, ["--graph", "resnet5O", *RANDOM], "'resnet5O'", "did you mean 'resnet50'", "squeezenet1_1")
    misused(folder, ["--graph", "toy_conf", *RANDOM], "did you mean 'toy_conv'")
    misused(folder, [*toy, "--epoch", 3], "'epoch'", "did you mean 'epochs'", "--help")
    misused(folder, [*toy, "--ppo.clop=0.1"], "did you mean 'ppo.clip'")
    misused(folder, [*toy, "--epochs", -1], "epochs", "-1", ">= 0")
    misused(folder, [*toy, "--epochs", "many"], "epochs", "'many'", "whole number")
    misused(folder, [*toy, "--epochs", "99999999999999999999"], "epochs", "99999999999999999999")
    misused(folder, [*toy, "--epochs", 1, "--epochs", 2], "epochs", "2 times")
    misused(folder, [*toy, "--epochs"], "epochs")
    misused(folder, [*toy, "--ppo.clip", 0], "ppo.clip", "(0, 1]")
    misused(folder, [*toy, "--ppo.clip", "nan"], "ppo.clip")
    misused(folder, [*toy, "--store.rollouts=maybe"], "store.rollouts", "'maybe'")
    misused(folder, ["--graph", "toy_conv", "--inference", "nodes"], "inference", "did you mean 'node'?", "actor")
    misused(folder, ["--graph", "toy_conv", "--inference", "node", "--agent", "random"], "--inference node", "model-free", "random")
    misused(folder, ["--graph", "toy_conv", "--agent", "randon"], "agent", "did you mean 'random'", "model-free")
    misused(folder, [*toy, "left-over"], "'left-over'")
    misused(folder, ["reply", "runs/x"], "'reply'", "did you mean 'replay'", "inspect")
    misused(folder, ["rules", "verfy"], "'verfy'", "did you mean 'verify'")
    misused(folder, ["rules", "verify"], "file of rules")
    misused(folder, ["search", "--graph", "toy_conv", "--method", "tasso"], "'tasso'", "did you mean 'taso'")
    misused(folder, ["optimise"], "no model")
    for command in (["optimise", "x.onnx"], ["search", "--graph", "toy_conv"], ["--graph", "toy_conv"]):
        misused(folder, [*command, "--target", "onnxrutime"], "'onnxrutime'", "did you mean 'onnxruntime'", "libtorch", "openvino")
    misused(folder, ["trian"], "'trian'", "did you mean 'train'")
    misused(folder, [*toy, "--device", "cuda:x"], "device", "cuda")
    if not shutil.which("nvidia-smi"):
        refused(folder, [*toy, "--device", "cuda"], "cuda", "--device cpu")
    misused(folder, [*toy, "--name", "a/b"], "--name", "a/b", "--runs")
    misused(folder, [*toy, "--name", ".."], "--name")
    misused(folder, [*toy, "--dim", "batch=1"], "--dim", "--zoo.batch")
    misused(folder, ["--graph", "toy_conv", "--zoo.layers", 2, *RANDOM], "toy_conv", "layers")
    valid_model(folder / "good.onnx")
    for dim in ("batch", "=3", "batch=x", "batch=-1", "batch="):
        misused(folder, ["--graph", "good.onnx", *RANDOM, "--dim", dim], "--dim", dim, "NAME=VALUE")
    refused(folder, ["--graph", "good.onnx", *RANDOM, "--dim", "batch=1"], "'batch'", "good.onnx")
    misused(folder, ["--graph", "good.onnx", *RANDOM, "--zoo.batch", 2], "good.onnx", "--dim")


def rules(folder):
    """rule files that do not parse, or whose two sides differ in type: file and line are named"""
    texts = {
        "syntax.rules": ("rule broken\n  proof tested\n  ?y = (relu ?x\n  => ?y = ?x\n", "syntax.rules:"),
        "operator.rules": ("rule unknown\n  proof tested\n  ?y = (reluu ?x)\n  => ?y = ?x\n", "operator.rules:3"),
        "types.rules": ("rule wrong\n  proof tested\n  ?y = (transpose ?x perm=?p)\n  => ?y = (concat ?x ?x axis=0)\n", "types.rules:"),
        "empty.rules": ("", "empty.rules"),
        "noise.rules": ("\0\1\2\xff", "noise.rules"),
    }
    for name, (text, place) in texts.items():
        (folder / name).write_text(text, encoding="latin-1")
        refused(folder, ["--graph", "toy_conv", "--rules", name, *RANDOM], place)
    refused(folder, ["--graph", "toy_conv", "--rules", "missing.rules", *RANDOM], "missing.rules")
    refused(folder, ["--graph", "toy_conv", "--rules", folder, *RANDOM], "folder")
    twice = SOURCE / "configs/rules/base.rules"
    misused(folder, ["--graph", "toy_conv", "--rules", twice, "--rules", twice, *RANDOM], "base.rules")


def files(folder):
    """configuration, cost tables, traces"""
    toy = ["--graph", "toy_conv", *RANDOM]
    (folder / "unknown.cfg").write_text("graph = toy_conv\n[ppo]\nclop = 0.1\n")
    refused(folder, ["--config", "unknown.cfg"], "unknown.cfg", "ppo.clop", "ppo.clip")
    (folder / "value.cfg").write_text("epochs = several\n")
    refused(folder, [*toy, "--config", "value.cfg"], "value.cfg", "epochs", "'several'")
    (folder / "torn.cfg").write_text("just words\n")
    refused(folder, [*toy, "--config", "torn.cfg"], "torn.cfg", "key = value")
    refused(folder, [*toy, "--config", "missing.cfg"], "missing.cfg", "No such file")
    measured = ["--graph", "toy_conv", "--agent", "random", "--epochs", 0, "--check.repeats", 3]
    misused(folder, [*toy, "--cost.table", "missing.tsv"], "--cost.table", "--cost analytic")
    refused(folder, [*measured, "--cost.table", "missing.tsv"], "missing.tsv")
    (folder / "noise.tsv").write_bytes(np.random.default_rng(0).bytes(500))
    refused(folder, [*measured, "--cost.table", "noise.tsv"], "noise.tsv")
    refused(folder, ["--resume", "runs/none"], "runs/none", "no run folder")
    refused(folder, ["--resume", folder], "config.cfg")
    refused(folder, ["replay", "runs/none"], "runs/none")
    (folder / "noise.trace").write_text("noise\n")
    refused(folder, ["replay", "--graph", "toy_conv", "--trace", "noise.trace"], "noise.trace:1")
    refused(folder, ["replay", "--graph", "toy_conv", "--trace", "missing.trace"], "missing.trace")
    misused(folder, ["replay", "--graph", "toy_conv"], "trace")
    misused(folder, ["inspect"], "path")
    misused(folder, ["inspect", "no-such-thing"], "no-such-thing")
    refused(folder, ["inspect", "./no-such-thing"], "no-such-thing")
    refused(folder, ["inspect", "noise.tsv"], "noise.tsv")
    refused(folder, ["inspect", folder], "folder" if "folder" in str(folder) else folder.name)


def costs_of_another_device(folder):
    """a cost table that was measured otherwise is refused, and says how"""
    rlgo("--graph", "toy_conv", "--agent", "random", "--epochs", 0, "--check.repeats", 3, "--name", "r", cwd=folder)
    table = folder / "runs/r/costs.tsv"
    again = ["--graph", "toy_conv", "--agent", "random", "--epochs", 0, "--check.repeats", 3]
    rlgo(*again, "--cost.table", table, "--name", "same", cwd=folder)
    assert table.read_text() == (folder / "runs/same/costs.tsv").read_text()
    text = table.read_text()
    (folder / "other.tsv").write_text(text.replace(socket.gethostname(), "elsewhere") if socket.gethostname() in text else text.replace("cpu", "gpu", 1))
    refused(folder, [*again, "--cost.table", folder / "other.tsv", "--name", "new"], "other.tsv")
    (folder / "torn.tsv").write_text(text[: len(text) * 2 // 3].rsplit("\t", 1)[0])
    refused(folder, [*again, "--cost.table", folder / "torn.tsv", "--name", "new"], "torn.tsv")


def run_folders(folder):
    """a name that is taken, and places that cannot be written"""
    toy = ["--graph", "toy_conv", *RANDOM, "--epochs", 1, "--train.steps-per-epoch", 10]
    rlgo(*toy, "--name", "taken", cwd=folder)
    refused(folder, [*toy, "--name", "taken"], "taken", "--resume", "--name")
    (folder / "file").write_text("")
    refused(folder, [*toy, "--runs", "file"], "file")
    refused(folder, [*toy, "--runs", "/proc/rlgo"], "/proc/rlgo")
    (folder / "runs/x").write_text("")
    refused(folder, [*toy, "--name", "x"], "runs/x")
    rlgo(*toy, cwd=folder)
    rlgo(*toy, cwd=folder)
    assert sorted(path.name for path in (folder / "runs").iterdir()) == ["taken", "toy_conv-random-s0", "toy_conv-random-s0-2", "x"]
    out = folder / "no/such/folder/x.onnx"
    failed = rlgo("replay", "runs/taken", "--out", out, cwd=folder, status=1)
    assert str(out) in failed.stderr and len(failed.stderr.splitlines()) == 1, failed.stderr
    assert not (folder / "no").exists()


def under_mpirun(folder):
    """under mpirun one rank reports, and all end"""
    for arguments, word in ((["--graph", "resnet5O"], "resnet50"), (["--graph", "toy_conv", "--epoch", 1], "epochs"), (["--graph", "toy_conv", "--runs", "/proc/rlgo"], "/proc/rlgo"),
                            (["inspect", "toy_conv"], "without mpirun")):
        done = rlgo(*arguments, *([] if arguments[0] == "inspect" else RANDOM), cwd=folder, status=None, ranks=3, timeout=300)
        lines = [line for line in done.stderr.splitlines() if line.startswith("rlgo: ")]
        assert done.returncode not in (0, 134, 139), done.stderr
        assert len(lines) == 1 and word in lines[0], done.stderr
        print(f"  {lines[0][:160]}")
    assert not list(folder.iterdir())


if __name__ == "__main__":
    main(models, names, rules, files, costs_of_another_device, run_folders, under_mpirun)
