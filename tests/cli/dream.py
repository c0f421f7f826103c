"""Agents with a world model from the command line: phases, dreaming ranks, resume, evaluate."""
import csv
import json
import math

from _rlgo import QUICK, SMALL_NET, SOURCE, main, metrics, rlgo

SMALL = ["--graph", "toy_conv", *QUICK, *SMALL_NET, "--wm.hidden", 16, "--wm.mixtures", 2, "--wm.passes", 1, "--dream.batch", 8, "--dream.steps-per-epoch", 40,
         "--dream.width", 16, "--train.steps-per-epoch", 30]


def number(cell):
    return float(cell) if cell else math.nan


def phases_of_a_model_based_run(folder):
    """random play, then dreams without a real step, evaluations in between and at the end; then evaluate"""
    rlgo(*SMALL, "--agent", "model-based", "--epochs", 8, "--wm.random-fraction", 0.4, "--evaluate.every", 2, "--dream.guard", 0, "--name", "a",
         cwd=folder)
    rows = metrics(folder / "runs/a")
    assert [int(number(r["phase"])) for r in rows] == [0, 0, 0, 0, 1, 1, 2, 2], [r["phase"] for r in rows]
    assert rows[3]["steps"] == rows[5]["steps"], "a dream took real steps"
    assert int(rows[7]["steps"]) > int(rows[5]["steps"])
    assert all(number(r["dreamed_steps"]) >= 40 for r in rows[4:6])
    assert math.isfinite(number(rows[7]["dream_return"])) and math.isfinite(number(rows[7]["real_return"]))
    done = rlgo("evaluate", "--checkpoint", "runs/a", "--episodes", 3, "--csv", "e.csv", cwd=folder)
    rlgo("evaluate", "--checkpoint", "runs/a", "--episodes", 3, "--dream.temperature", 0.1, "--csv", "e.csv", cwd=folder)
    table = list(csv.DictReader(open(folder / "e.csv")))
    assert [r["mode"] for r in table] == ["sampled", "greedy", "dream"] * 2 and table[3]["temperature"] == "0.1", table
    assert "gap" in done.stdout


def the_world_model_is_evaluated(folder):
    """with a guard, an evaluation before the first dreams; evaluate --world-model: clips, horizons, text and JSON"""
    rlgo(*SMALL, "--agent", "model-based", "--epochs", 8, "--wm.random-fraction", 0.4, "--evaluate.every", 2, "--name", "g", cwd=folder)
    rows = metrics(folder / "runs/g")
    assert int(number(rows[4]["phase"])) == 2 and int(number(rows[7]["phase"])) == 2, [r["phase"] for r in rows]
    assert math.isfinite(number(rows[4]["promise_real"])) and math.isfinite(number(rows[4]["promise_dream"]))
    refused = int(number(rows[-1]["dreams_refused"]))
    assert refused == sum(int(number(r["phase"])) == 0 for r in rows[4:]), (refused, [r["phase"] for r in rows])
    done = rlgo("evaluate", "--checkpoint", "runs/g", "--episodes", 3, "--world-model", "--json", "e.json", cwd=folder)
    assert "reward correlation" in done.stdout
    world = json.load(open(folder / "e.json"))["world_model"]
    assert [c["clip"] for c in world["clips"]] == ["none", "reward", "latent", "both"], world
    assert [h["steps"] for h in world["clips"][0]["horizons"]] == [1, 5, 10, 20, 40], world
    assert world["clips"][0]["horizons"][0]["states"] == world["states"] > 0, world


def parts_of_dreams_are_made_true(folder):
    """evaluate --swaps: eight dreams, the last is reality; --prefix begins elsewhere; refused without a world model"""
    rlgo(*SMALL, "--agent", "model-based", "--epochs", 4, "--wm.random-fraction", 0.5, "--name", "s", cwd=folder)
    done = rlgo("evaluate", "--checkpoint", "runs/s", "--episodes", 3, "--swaps", "--prefix", 2, "--json", "s.json", cwd=folder)
    found = json.load(open(folder / "s.json"))["swaps"]
    assert [s["true"] for s in found["swaps"]] == ["none", "state", "masks", "masks+state", "reward", "reward+state", "reward+masks", "reward+masks+state"], found
    assert (found["prefix"], found["starts"]) == (2, 3) and "true reward+masks" in done.stdout
    dream, reality = found["swaps"][0], found["swaps"][-1]
    assert all(h["gap_deviation_percent"] == 0 for h in reality["horizons"]) and reality["illegal_fraction"] == 0, reality
    assert dream["horizons"] != reality["horizons"] and len(found["random"]) == len(dream["horizons"]) == 5, found
    rlgo(*SMALL, "--agent", "model-free", "--epochs", 1, "--name", "f", cwd=folder)
    refused = rlgo("evaluate", "--checkpoint", "runs/f", "--episodes", 1, "--swaps", cwd=folder, status=1)
    assert "leave out --swaps" in refused.stderr, refused.stderr
    assert "--prefix" in rlgo("evaluate", "--checkpoint", "runs/s", "--prefix", 2, cwd=folder, status=2).stderr


def the_published_form_trains_as_it_did(folder):
    """configs/paper-model-based.cfg turns every repair off: the model's parameters are those of before"""
    config = SOURCE / "configs/paper-model-based.cfg"
    rlgo("--config", config, *SMALL, "--epochs", 4, "--wm.random-fraction", 0.5, "--name", "p", cwd=folder)
    reported = open(folder / "runs/p/config.cfg").read()
    for line in ("wm.locations = false", "wm.counts = log", "wm.play-noop = true", "wm.on-policy = false", "dream.guard = 0", "dream.start = initial"):
        assert line in reported, reported


def a_resumed_run_is_the_whole_one(folder):
    """4 epochs, then 4 more from the checkpoint: the same rows as 8 at once, world model and controller alike"""
    options = [*SMALL, "--agent", "model-based", "--wm.random-fraction", 0.5, "--evaluate.every", 2, "--checkpoint.every", 1]
    rlgo(*options, "--epochs", 8, "--name", "whole", cwd=folder)
    rlgo(*options, "--epochs", 8, "--name", "parts", cwd=folder)
    kept = sorted((folder / "runs/parts/checkpoints").glob("*.h5"))
    for late in kept[-2:]:
        late.unlink()
    rlgo("--resume", "runs/parts", cwd=folder)
    whole, parts = metrics(folder / "runs/whole"), metrics(folder / "runs/parts")
    assert len(whole) == len(parts) == 8
    for a, b in zip(whole, parts):
        for name in ("steps", "episode_reward_mean", "wm_loss", "policy_loss", "dream_epoch_reward", "real_return"):
            assert a[name] == b[name], (a["epoch"], name, a[name], b[name])


def ranks_dream(folder):
    """hybrid with one rank that dreams: dreams arrive and are not counted as real steps"""
    rlgo(*SMALL, "--agent", "hybrid", "--epochs", 8, "--dream.actors", 1, "--dream.guard", 0, "--hybrid.threshold", -1, "--hybrid.warmup", 0.2, "--name", "h", cwd=folder,
         ranks=3)
    rows = metrics(folder / "runs/h")
    assert sum(int(r["epoch_dream_steps"]) for r in rows) > 0
    assert sum(number(r["dreamed_steps"]) for r in rows) > 0
    rlgo(*SMALL, "--agent", "model-based", "--epochs", 6, "--dream.actors", 1, "--dream.guard", 0, "--wm.random-fraction", 0.4, "--name", "m", cwd=folder, ranks=3)
    assert sum(int(r["epoch_dream_steps"]) for r in metrics(folder / "runs/m")) >= 40


def bad_requests(folder):
    """one clear line each"""
    for options, word in ((["--agent", "hybrid", "--dream.penalty", 1], "--wm.ensemble"), (["--agent", "random", "--dream.actors", 1], "dream"),
                          (["--agent", "hybrid", "--wm.encoder", "ppo"], "--wm.encoder-from")):
        done = rlgo(*SMALL, *options, "--epochs", 1, cwd=folder, status=2)
        assert word in done.stderr and len(done.stderr.strip().splitlines()) == 1, done.stderr
    done = rlgo("evaluate", "--checkpoint", "nowhere", cwd=folder, status=1)
    assert "nowhere" in done.stderr


if __name__ == "__main__":
    main(phases_of_a_model_based_run, the_world_model_is_evaluated, parts_of_dreams_are_made_true, the_published_form_trains_as_it_did, a_resumed_run_is_the_whole_one, ranks_dream, bad_requests)
