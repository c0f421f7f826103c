"""help, inspect, replay, bench: what they print, and that replay writes the run's model again."""
import re

from _rlgo import RANDOM, SOURCE, assert_same_model, main, rewrites, rlgo, stored


def keys(text):
    return re.findall(r"^  --(?:[a-z.-]+, --)?([a-z.-]+) ", text, re.M)


def help_texts(folder):
    """every command explains itself: its own options with --help, all with --help-all, with defaults and bounds"""
    for arguments in (["help"], ["--help"], ["-h"], ["train", "--help"]):
        text = rlgo(*arguments, cwd=folder).stdout
        for command in ("train", "replay", "inspect", "bench"):
            assert re.search(rf"^  {command} ", text, re.M) or arguments[0] == "train", (arguments, command)
    brief, text = rlgo("--help", cwd=folder).stdout, rlgo("--help-all", cwd=folder).stdout
    shown = keys(text)
    assert len(shown) > 90 and len(set(shown)) == len(shown), sorted(shown)
    assert {"graph", "agent", "resume"} <= set(keys(brief)) and "ppo.clip" not in brief and "PPO" in brief, brief
    assert re.search(r"--ppo\.clip .*\(0, 1\] \(default: 0\.2\)", text)
    assert re.search(r"--cost .*\[measured \| analytic\] \(default: measured\)", text)
    for command, own, rest in (("replay", "trace", "ppo.lr"), ("evaluate", "checkpoint", "ppo.lr"), ("search", "budget", "cost.warmup"),
                               ("bench", "variants", "wm.hidden"), ("bench scale", "steps-per-actor", "ppo.lr"), ("optimise", "out", "cost.threads"),
                               ("rules verify", "write", None), ("inspect", "changes", None)):
        brief, text = (rlgo(*command.split(), option, cwd=folder).stdout for option in ("--help", "--help-all"))
        assert brief.startswith(f"usage: rlgo {command}"), brief
        assert own in keys(brief) and own in keys(text), (command, brief)
        assert rest is None or (rest not in keys(brief) and rest in keys(text)), (command, text)
    assert not list(folder.iterdir())
    print(f"  {len(shown)} options")


def declared_once(folder):
    """no two modules declare an option of the same name, but for commands that no training's option reaches"""
    declared = {}
    alone = [SOURCE / "core" / file for file in ("optimise/options.cc", "calibrate/same.cc", "optimise/compare.cc", "calibrate/profile_bench.cc", "calibrate/kernel_bench.cc", "calibrate/calibrate.cc", "rulegen/generate/bench.cc")]
    for path in [p for room in ("core", "actors", "learner", "replay") for p in (SOURCE / room).rglob("*.cc")] + [SOURCE / "launch/problem.cc", SOURCE / "launch/train/config.cc"]:
        for key in re.findall(r'\bo\.(?:integer|number|text|texts|choice|flag)\(\s*"([a-z.-]+)"', path.read_text()):
            assert key not in declared or path in alone or declared[key] in alone, f"{key}: {declared[key]} and {path}"
            declared[key] = path
    shown = keys(rlgo("--help-all", cwd=folder).stdout)
    own = {"json", "quiet", "verbose"}  # of what a run says, not of what it does
    assert set(shown) - own <= set(declared), sorted(set(shown) - own - set(declared))
    print(f"  {len(declared)} options declared")


def unknown_options(folder):
    """an option that a command does not have is an error that names the nearest one of that command"""
    for arguments, words in ((["--ppo.clop", 1], "'ppo.clop' (did you mean 'ppo.clip'?)"),
                             (["search", "--bugdet", 1], "'bugdet' (did you mean 'budget'?)"),
                             (["search", "--graph", "toy_conv", "--ppo.lr", 1], "unknown option 'ppo.lr'"),
                             (["bench", "--resume", "r"], "unknown option 'resume'"),
                             (["optimise", "m.onnx", "--reprot", "x"], "'reprot' (did you mean 'report'?)")):
        failed = rlgo(*arguments, cwd=folder, status=2)
        assert words in failed.stderr and len(failed.stderr.splitlines()) == 1, failed.stderr


def old_names(folder):
    """options by the names of earlier versions: on the command line, in a file, in a run that continues; one line shows"""
    (folder / "old.cfg").write_text("temperature = 0.5\ndream-start = replayed\n[outcome]\nrepeats = 3\nseeds = 1\n")
    options = ["--graph", "toy_conv", "--cost", "analytic", "--agent", "random", "--epochs", 1, "--train.steps-per-epoch", 20]
    done = rlgo(*options, "--config", "old.cfg", "--wm-data", "store", "--name", "r", cwd=folder)
    notes = [line for line in done.stderr.splitlines() if "note:" in line]
    assert len(notes) == 1 and "wm-data is now wm.data" in notes[0] and "old.cfg: temperature is now dream.temperature" in notes[0], done.stderr
    config = folder / "runs/r/config.cfg"
    for line in ("wm.data = store", "dream.temperature = 0.5", "dream.start = replayed", "check.repeats = 3"):
        assert f"\n{line}\n" in config.read_text(), line
    config.write_text(config.read_text().replace("\nwm.data =", "\nwm-data =").replace("\ntrain.polish =", "\noutcome.polish ="))
    done = rlgo("--resume", "runs/r", "--epochs", 2, cwd=folder)
    assert done.stderr.count("note:") == 1 and "wm-data is now wm.data" in done.stderr, done.stderr
    assert "\nwm.data = store\n" in config.read_text() and "wm-data" not in config.read_text()
    assert "note:" not in rlgo("--resume", "runs/r", "--epochs", 2, cwd=folder).stderr
    table = dict(re.findall(r'\{"([a-z.-]+)", "([a-z.-]+)"\}', (SOURCE / "core/options/options.cc").read_text()))
    known = keys(rlgo("--help-all", cwd=folder).stdout)
    analysed = dict(re.findall(r'^    "([a-z.-]+)": "([a-z.-]+)",$', (SOURCE / "results/rlgo_results/runs.py").read_text(), re.M))
    assert len(analysed) > 10 and all(table[old] == new and new in known for old, new in analysed.items()), (table, analysed)


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
    for part in ("environment", "policy, full", "policy, local", "one actor", "learner"):
        found = re.search(rf"^ *{part} +([0-9.]+) ", text, re.M)
        assert found and float(found[1]) > 0, text
    assert not list(folder.iterdir())


def configuration_file(folder):
    """--config with sections; the command line wins; the run's config.cfg makes the same run again"""
    (folder / "my.cfg").write_text("graph = toy_conv\nagent = random\ncost = analytic  # a comment\nepochs = 1\nseed = 5\n\n[train]\nsteps-per-epoch = 20\n\n[check]\nrepeats = 3\n")
    rlgo("--config", "my.cfg", "--seed", 7, "--name", "a", cwd=folder)
    text = (folder / "runs/a/config.cfg").read_text()
    for line in ("graph = toy_conv", "seed = 7", "train.steps-per-epoch = 20", "check.repeats = 3"):
        assert f"\n{line}\n" in text, line
    rlgo("--config", "runs/a/config.cfg", "--name", "b", cwd=folder)
    assert (folder / "runs/a/best.trace").read_text() == (folder / "runs/b/best.trace").read_text()
    assert text == (folder / "runs/b/config.cfg").read_text()


if __name__ == "__main__":
    main(help_texts, declared_once, unknown_options, old_names, inspect_and_replay, traces, bench, configuration_file)
