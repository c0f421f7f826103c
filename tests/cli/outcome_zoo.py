"""Every zoo graph: the model that a run leaves is valid and computes what the unmodified graph computes in ONNX Runtime."""
from _rlgo import RANDOM, assert_same_model, complete, main, metrics, rewrites, rlgo, stored

GRAPHS = {
    "squeezenet1_1": ["--zoo.image", "96"],
    "resnet18": ["--zoo.image", "64"],
    "resnet50": ["--zoo.image", "64"],
    "inception_v3": ["--zoo.image", "96"],
    "bert": ["--zoo.layers", "2", "--zoo.sequence", "32"],
    "nasrnn": ["--zoo.sequence", "2", "--cost.profile", "gpu"],  # the formula of a CPU has nothing to gain
    "nasnet_a": ["--zoo.layers", "1", "--zoo.image", "64"],
    "resnext50": ["--zoo.image", "64"],
    "vit_b16": ["--zoo.layers", "1", "--zoo.image", "48"],
    "gpt2": ["--zoo.layers", "1", "--zoo.sequence", "16"],
}


def both_models(folder, graph, options):
    """Leaves both in runs/before and runs/after; the unmodified one."""
    rlgo("--graph", graph, *options, *RANDOM, "--epochs", 0, "--train.polish", "false", "--name", "before", cwd=folder)
    assert rewrites(folder / "runs/before/best.trace") == []
    assert "best.onnx (the unmodified graph: nothing better was found)" in (folder / "runs/before/summary.txt").read_text()
    rlgo("--graph", graph, *options, *RANDOM, "--epochs", 1, "--train.steps-per-epoch", 30, "--train.polish-s", 1, "--name", "after", cwd=folder)
    return folder / "runs/before/best.onnx"


def check(folder, graph):
    before = both_models(folder, graph, GRAPHS[graph])
    run = folder / "runs/after"
    after = complete(run)
    text = (run / "summary.txt").read_text()
    assert ("best.onnx (the best by cost; not shown to be faster" in text) == ("result          not shown to be faster" in text), text
    applied = rewrites(after.with_suffix(".trace"))
    assert applied, "nothing was rewritten"
    error = assert_same_model(before, after)
    (row,) = metrics(run)
    episodes = stored(run)
    assert int(row["steps"]) == episodes["steps"].sum() >= 30
    assert int(row["episodes"]) == len(episodes)
    print(f"  {len(applied)} rewrites, relative error {error:.2g}")


def named(graph):
    def test(folder):
        check(folder, graph)

    test.__name__, test.__doc__ = graph, "valid, same outputs, really rewritten"
    return test


if __name__ == "__main__":
    main(*map(named, GRAPHS))
