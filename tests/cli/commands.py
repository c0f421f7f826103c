"""help, inspect, replay, bench: what they print, and that replay writes the run's model again."""
import re

from _rlgo import RANDOM, SOURCE, assert_same_model, main, rewrites, rlgo, stored


def help_texts(folder):
    """every command explains itself; all options of the configuration are there with defaults and bounds"""
    for arguments in (["help"], ["--help"], ["-h"], ["train", "--help"]):
        text = rlgo(*arguments, cwd=folder).stdout
        for command in ("train", "replay", "inspect", "bench"):
            assert re.search(rf"^  {command} ", text, re.M) or arguments[0] == "train", (arguments, command)
    text = rlgo("--help", cwd=folder).stdout
    declared = re.findall(r'o\.\w+\("([a-z.-]+)", c\.', (SOURCE / "launch/config.cc").read_text())
    assert len(declared) > 50
    shown = re.findall(r"^  --([a-z.-]+) ", text, re.M)
    assert sorted(shown) == sorted(declared)
    assert re.search(r"--ppo\.clip .*\(0, 1\] \(default: 0\.2\)", text)
    assert re.search(r"--cost .*\[measured \| analytic\] \(default: measured\)", text)
    for command in ("replay", "inspect", "bench"):
        assert rlgo(command, "--help", cwd=folder).stdout.startswith(f"usage: rlgo {command}")
    assert not list(folder.iterdir())
    print(f"  {len(shown)} options")


def inspect_and_replay(folder):
    """inspect of models, runs, stores and parts; replay gives best.onnx again"""
    rlgo("--graph", "squeezenet1_1", *RANDOM, "--epochs", 1, "--train.steps-per-epoch", 30, "--name", "r", cwd=folder)
    run = folder / "runs/r"
    episodes = stored(run)
    for path in (run, run / "rollouts"):
        text = rlgo("inspect", path, cwd=folder).stdout
        assert re.search(rf"^episodes +{len(episodes)} ", text, re.M) and re.search(rf"^steps +{episodes['steps'].sum()} ", text, re.M), text
    assert (run / "summary.txt").read_text() in rlgo("inspect", run, cwd=folder).stdout
    assert "episodes" in rlgo("inspect", sorted((run / "rollouts").glob("*.h5"))[0], cwd=folder).stdout
    by_name, by_file = rlgo("inspect", "squeezenet1_1", cwd=folder).stdout, rlgo("inspect", run / "best.onnx", cwd=folder).stdout
    assert "f32[1,3,224,224]" in by_name and "26 conv2d" in by_name and re.search(r"^ +\d+ fuse-conv-relu$", by_name, re.M), by_name
    assert "f32[1,3,224,224]" in by_file and re.search(r"^\d+ operators can be rewritten, 0 are kept", by_file), by_file

    text = rlgo("replay", run, "--out", "again.onnx", cwd=folder).stdout
    assert f"{len(rewrites(run / 'best.trace'))} rewrites" in text and "equivalence" in text, text
    assert_same_model(run / "best.onnx", folder / "again.onnx", tolerance=0)
    other = rlgo("replay", "--graph", "resnet18", "--trace", run / "best.trace", cwd=folder, status=1)
    assert "another graph" in other.stderr


def traces(folder):
    """a trace of one's own, and one that does not fit"""
    (folder / "mine.trace").write_text("rlgo-trace 1\n# mine\n0\tfuse-conv-relu\t1\t-\n1\tfuse-conv-relu\t0\t-\n")
    text = rlgo("replay", "--graph", "toy_conv", "--trace", "mine.trace", "--out", "mine.onnx", cwd=folder).stdout
    assert "2 x fuse-conv-relu" in text and (folder / "mine.onnx").exists(), text
    for line, word in (("0\tfuse-conv-rely\t0\t-\n", "fuse-conv-relu"), ("0\tfuse-conv-relu\t7\t-\n", "fuse-conv-relu"), ("0\tfuse-conv-relu\t-1\t-\n", "location")):
        (folder / "bad.trace").write_text("rlgo-trace 1\n" + line)
        failed = rlgo("replay", "--graph", "toy_conv", "--trace", "bad.trace", "--out", "bad.onnx", cwd=folder, status=1)
        assert word in failed.stderr and len(failed.stderr.splitlines()) == 1, failed.stderr
        assert not (folder / "bad.onnx").exists()
        print(f"  {failed.stderr.strip()}")


def bench(folder):
    """bench prints a figure for every part"""
    text = rlgo("bench", "--graphs", "toy_conv", "--bench.seconds", 0.1, "--gnn.width", 8, "--train.steps-per-epoch", 30, cwd=folder).stdout
    for part in ("environment", "policy, batch 1", "policy, batch 8", "one actor", "learner"):
        found = re.search(rf"^  {part} +([0-9.]+) ", text, re.M)
        assert found and float(found[1]) > 0, text
    assert not list(folder.iterdir())


def configuration_file(folder):
    """--config with sections; the command line wins; the run's config.cfg makes the same run again"""
    (folder / "my.cfg").write_text("graph = toy_conv\nagent = random\ncost = analytic  # a comment\nepochs = 1\nseed = 5\n\n[train]\nsteps-per-epoch = 20\n\n[outcome]\nrepeats = 3\n")
    rlgo("--config", "my.cfg", "--seed", 7, "--name", "a", cwd=folder)
    text = (folder / "runs/a/config.cfg").read_text()
    for line in ("graph = toy_conv", "seed = 7", "train.steps-per-epoch = 20", "outcome.repeats = 3"):
        assert f"\n{line}\n" in text, line
    rlgo("--config", "runs/a/config.cfg", "--name", "b", cwd=folder)
    assert (folder / "runs/a/best.trace").read_text() == (folder / "runs/b/best.trace").read_text()
    assert text == (folder / "runs/b/config.cfg").read_text()


if __name__ == "__main__":
    main(help_texts, inspect_and_replay, traces, bench, configuration_file)
