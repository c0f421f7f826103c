"""rlgo optimise and the files around a model: none is lost, links are followed as far as the runtime does, places that cannot be written are reported first."""
import hashlib
import json
import os
import shutil
import sys

import onnx
from _rlgo import assert_same_model, main, rlgo
from optimise import two_convs

BRIEF = ["--force", "--cost.folder", "", "--method", "greedy", "--seconds", "3"]
QUICK = [*BRIEF, "--target", "libtorch", "--cost", "analytic"]
SEARCHED = "searching"  # a phase of the status line


def contents(folder):
    return {path.relative_to(folder): hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.rglob("*") if path.is_file()}


def with_data(folder, name, location):
    """A model whose weights lie in the file `location`."""
    model = onnx.load(two_convs(folder / "plain.onnx", 4))
    onnx.save(model, folder / name, save_as_external_data=True, location=location, size_threshold=0)
    return folder / name


def kept(folder, model, out):
    """All files of `folder` but `out` are as before."""
    before = contents(folder)
    rlgo("optimise", model, "-o", out, *QUICK, cwd=folder)
    after = contents(folder)
    assert out.exists() and all(after.get(name) == known for name, known in before.items() if folder / name != out), (before, after)
    assert_same_model(folder / "plain.onnx", out)


def renamed_results(folder):
    """the model reads what was the data file of an earlier -o, which a copy of it reads, too"""
    model = with_data(folder, "model.onnx", "faster.onnx.0123456789abcdef.data")
    shutil.copy(model, folder / "copy.onnx")
    kept(folder, model, folder / "faster.onnx")
    kept(folder, model, folder / "faster.onnx")


def weights_as_output(folder):
    """-o, --report and --json that name the model's weights, or a link to them, are refused before the search"""
    model = with_data(folder, "model.onnx", "weights.bin")
    (folder / "soft").symlink_to("weights.bin")
    before = contents(folder)
    for option, out in (("-o", "weights.bin"), ("-o", "soft"), ("--report", "weights.bin"), ("--json", "weights.bin")):
        done = rlgo("optimise", model, option, out, *QUICK, cwd=folder, status=1)
        assert f"{out}: holds weights of" in done.stderr and SEARCHED not in done.stderr, done.stderr
    assert contents(folder) == before


def names_of_bytes(folder):
    """a name that is not UTF-8, which JSON cannot hold: the runtime gets a link of another name, and weights next to the model are found"""
    name, out = os.fsencode(folder) + b"/m\xff.onnx", os.fsencode(folder) + b"/o\xfe.onnx"
    os.rename(with_data(folder, "model.onnx", "weights.bin"), name)
    done = rlgo("optimise", os.fsdecode(name), "-o", os.fsdecode(out), "--json", "o.json", *BRIEF[:-1], 60, "--target", "onnxruntime",
                "--target.python", sys.executable, cwd=folder, status=None)
    assert done.returncode in (0, 3), done.stderr
    assert json.loads((folder / "o.json").read_text(encoding="utf-8"))["nodes"]
    if os.path.exists(out):  # not where a busy machine leaves no time for a check
        os.rename(out, folder / "out.onnx")
        assert_same_model(folder / "plain.onnx", folder / "out.onnx")


def hub_cache(folder):
    """the cache of the Hugging Face hub: model and weights are links to files side by side elsewhere, under other names"""
    blobs, snapshot = folder / "blobs", folder / "snapshots/0123/onnx"
    blobs.mkdir(), snapshot.mkdir(parents=True)
    with_data(folder, "model.onnx", "model.onnx_data").rename(blobs / "aaaa")
    (folder / "model.onnx_data").rename(blobs / "bbbb")
    (snapshot / "model.onnx").symlink_to("../../../blobs/aaaa")
    (snapshot / "model.onnx_data").symlink_to("../../../blobs/bbbb")
    for target in (QUICK, [*BRIEF, "--target", "onnxruntime"]):
        out = folder / "faster.onnx"
        rlgo("optimise", snapshot / "model.onnx", "-o", out, *target, cwd=folder)
        assert_same_model(folder / "plain.onnx", out)
        out.unlink()


def places_that_cannot_be_written(folder):
    """-o, --report and --json fail before the search, and name the place"""
    two_convs(folder / "toy.onnx", 4)
    for option, place in (("-o", "/proc/o.onnx"), ("-o", "/sys/o.onnx"), ("--report", "/proc/r.html"), ("--json", "/proc/j.json"), ("-o", "x" * 256)):
        done = rlgo("optimise", "toy.onnx", option, place, *QUICK, cwd=folder, status=1)
        assert place in done.stderr and SEARCHED not in done.stderr and not done.stdout, done.stderr


def training_info(folder):
    """what no written model has is reported, on standard error and in the document"""
    model = onnx.load(two_convs(folder / "toy.onnx", 4))
    model.training_info.add().algorithm.CopyFrom(onnx.helper.make_graph([onnx.helper.make_node("Neg", ["w1"], ["v"])], "step", [], []))
    onnx.save(model, folder / "toy.onnx")
    done = rlgo("optimise", "toy.onnx", "--json", "told.json", *QUICK, cwd=folder)
    assert "left out training_info 'step'" in done.stderr, done.stderr
    assert any("training_info" in change for change in json.loads((folder / "told.json").read_text())["import"]["changes"])


if __name__ == "__main__":
    main(renamed_results, weights_as_output, names_of_bytes, hub_cache, places_that_cannot_be_written, training_info)
