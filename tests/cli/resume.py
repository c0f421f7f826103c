"""--resume continues as if the run had never stopped (one process: everything depends on the seed alone)."""
import re
import shutil
import socket

from _rlgo import QUICK, RANDOM, SMALL_NET, SOURCE, complete, interrupt, main, metrics, rewrites, rlgo, start, state, stored, wait_until

# Times, and what was sent (a resumed run greets its actor again).
NOT_REPEATABLE = {"seconds", "collect_s", "update_s", "waiting_fraction", "steps_per_s", "bytes_in", "bytes_out", "bytes_per_transition",
                  "host_memory_mb", "device_memory_mb"}
SIZE = ["--train.steps-per-epoch", "40", "--train.polish", "false"]


def repeatable(run):
    return [{name: value for name, value in row.items() if name not in NOT_REPEATABLE} for row in metrics(run)]


def four_or_two_and_two(folder, options):
    rlgo(*options, *SIZE, "--epochs", 4, "--name", "whole", cwd=folder)
    rlgo(*options, *SIZE, "--epochs", 2, "--name", "halves", cwd=folder)
    half = metrics(folder / "runs/halves")
    rlgo("--resume", "runs/halves", "--epochs", 4, cwd=folder)
    whole, halves = repeatable(folder / "runs/whole"), repeatable(folder / "runs/halves")
    assert [int(row["epoch"]) for row in whole] == [1, 2, 3, 4]
    assert len(half) == 2 and len(halves) == 4
    for a, b in zip(whole, halves):
        differing = {name: (a[name], b.get(name)) for name in a if a[name] != b.get(name)}
        assert not differing, f"epoch {a['epoch']}: {differing}"
    complete(folder / "runs/halves")
    traces = [(folder / "runs" / name / "best.trace").read_text() for name in ("whole", "halves")]
    assert traces[0] == traces[1]
    assert rewrites(folder / "runs/whole/best.trace"), "nothing was rewritten"
    same = [stored(folder / "runs" / name)[["rank", "episode", "steps", "return", "best_cost_us"]].sort_values(["rank", "episode"]) for name in ("whole", "halves")]
    assert same[0].to_numpy().tolist() == same[1].to_numpy().tolist(), "the stores hold other episodes"
    a, b = state(folder / "runs/whole"), state(folder / "runs/halves")
    assert a.keys() == b.keys()
    differing = [name for name in a if a[name] != b[name]]
    assert not differing, f"not the same bit for bit: {differing}"
    print(f"  {len(a)} datasets of the last checkpoints are the same bit for bit")


def random_agent(folder):
    """four epochs are two and two more"""
    four_or_two_and_two(folder, ["--graph", "toy_residual", *RANDOM])


def model_free_agent(folder):
    """four epochs are two and two more: weights, optimiser and random streams continue"""
    four_or_two_and_two(folder, ["--graph", "toy_conv", *QUICK, *SMALL_NET])
    losses = {row["policy_loss"] for row in metrics(folder / "runs/whole")}
    assert len(losses) == 4, f"it does not learn: {losses}"


def nothing_more_to_do(folder):
    """resuming a finished run concludes again and changes nothing"""
    rlgo("--graph", "toy_conv", *RANDOM, *SIZE, "--epochs", 1, "--name", "done", cwd=folder)
    before = (folder / "runs/done/metrics.csv").read_text(), len(stored(folder / "runs/done"))
    rlgo("--resume", "runs/done", cwd=folder)
    assert ((folder / "runs/done/metrics.csv").read_text(), len(stored(folder / "runs/done"))) == before
    complete(folder / "runs/done")


def other_rules_refused(folder):
    """another graph, network, reward, cost model, agent, seed, or other rules than the run's are refused, and nothing is harmed"""
    rlgo("--graph", "toy_conv", *QUICK, *SMALL_NET, *SIZE, "--epochs", 1, "--name", "r", cwd=folder)
    run = folder / "runs/r"
    rules = folder / "other.rules"
    text = (SOURCE / "configs/rules/base.rules").read_text()
    paragraphs = text.split("\nrule ")
    rules.write_text("\nrule ".join(paragraphs[:-1]) + "\n")
    before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file() and path.name not in ("log.txt", "run.lock")}
    for options, word in ((["--rules", rules], "rule"), (["--graph", "toy_mlp"], "graph"), (["--gnn.width", "16"], "gnn"),
                          (["--gnn.block", "gat"], "gnn"), (["--policy.head", "staged"], "another agent (policy.head = joint, not staged)"), (["--policy.prices", "no"], "--policy.prices"),
                          (["--seed", 7], "another seed (seed = 0, not 7)"), (["--env.reward", "R2"], "another reward"),
                          (["--env.weight-flops", 3], "another reward"), (["--cost.profile", "gpu"], "another cost model"),
                          (["--cost", "measured"], "another cost model"), (["--agent", "random"], "another agent")):
        refused = rlgo("--resume", run, "--epochs", 2, *options, cwd=folder, status=1)
        (line,) = [line for line in refused.stderr.splitlines() if "error:" in line]
        assert word in line, line
        print(f"  {line}")
        after = {path: path.read_bytes() for path in run.rglob("*") if path.is_file() and path.name not in ("log.txt", "run.lock")}
        changed = [path.name for path in after if before.get(path) != after[path]]
        assert not changed, f"{options} changed {changed}"
    done = rlgo("--resume", run, "--epochs", 2, "--ppo.clip", 0.3, cwd=folder)
    assert re.search(r"options that changed since the checkpoint: .*ppo.clip = 0.3 \(was 0.2\)", done.stderr), done.stderr
    assert len(metrics(run)) == 2


def prices_that_changed(folder):
    """the file of the cost profile changes between two starts: the best graph is priced again, and that is said"""
    profile = (SOURCE / "configs/costs/cpu.cost").read_text()
    (folder / "mine.cost").write_text(profile)
    rlgo("--graph", "toy_conv", *RANDOM, *SIZE, "--cost.profile", "./mine.cost", "--epochs", 2, "--name", "r", cwd=folder)
    run = folder / "runs/r"
    before = float(metrics(run)[-1]["best_cost_us"])
    changed = re.sub(r"^launch_us = .*$", "launch_us = 1000", profile, flags=re.M)
    assert changed != profile
    (folder / "mine.cost").write_text(changed)
    done = rlgo("--resume", "runs/r", "--epochs", 3, cwd=folder)
    assert "the best graph is priced again" in done.stderr, done.stderr
    after = float(metrics(run)[-1]["best_cost_us"])
    assert after > 10 * before, (before, after)


def damaged_checkpoint(folder):
    """the newest checkpoint is damaged: an older one serves; all damaged: one clear error"""
    rlgo("--graph", "toy_conv", *RANDOM, *SIZE, "--epochs", 3, "--checkpoint.every", 1, "--name", "r", cwd=folder)
    checkpoints = sorted((folder / "runs/r/checkpoints").glob("*.h5"))
    assert len(checkpoints) >= 2
    checkpoints[-1].write_bytes(checkpoints[-1].read_bytes()[:-100])
    done = rlgo("--resume", "runs/r", "--epochs", 4, cwd=folder)
    assert "is refused" in done.stderr and len(metrics(folder / "runs/r")) == 4
    for path in (folder / "runs/r/checkpoints").glob("*.h5"):
        path.write_bytes(b"\0" * 100)
    failed = rlgo("--resume", "runs/r", "--epochs", 5, cwd=folder, status=1)
    assert "no usable checkpoint" in failed.stderr, failed.stderr
    shutil.rmtree(folder / "runs/r/checkpoints")
    failed = rlgo("--resume", "runs/r", "--epochs", 5, cwd=folder, status=1)
    assert "no usable checkpoint" in failed.stderr, failed.stderr


def two_at_once(folder):
    """a run folder that a process writes to is refused to a second one, by host and process, and nothing is harmed"""
    first = start("--graph", "toy_conv", *RANDOM, *SIZE, "--epochs", 1000000, "--checkpoint.every", 1, "--store.episodes-per-part", 2, "--name", "r", cwd=folder)
    run = folder / "runs/r"
    wait_until("a checkpoint", lambda: list(run.glob("checkpoints/*.h5")), process=first)
    refused = rlgo("--resume", "runs/r", "--epochs", 1000000, cwd=folder, status=1)
    assert f"runs/r: host {socket.gethostname()}, process {first.pid} writes here already" in refused.stderr, refused.stderr
    assert interrupt(first) == 0
    complete(run)
    episodes = stored(run)
    assert len(episodes) == len(set(episodes["episode"])), "episodes are stored twice"
    assert max(episodes["episode"]) + 1 - len(episodes) < 4, "more are missing than the four environments had begun"
    done = len(metrics(run))
    rlgo("--resume", "runs/r", "--epochs", done + 1, cwd=folder)
    assert [int(row["epoch"]) for row in metrics(run)] == list(range(1, done + 2))


def two_begin_at_once(folder):
    """runs without a name that begin at the same moment take a folder each"""
    options = ["--graph", "toy_conv", *RANDOM, *SIZE, "--epochs", 1]
    jobs = [start(*options, cwd=folder, log=f"{number}.txt") for number in range(4)]
    assert [job.wait(timeout=300) for job in jobs] == [0] * 4
    runs = sorted((folder / "runs").iterdir())
    assert len(runs) == 4 and all(len(metrics(run)) == 1 for run in runs), runs
    for run in runs:
        complete(run)


if __name__ == "__main__":
    main(random_agent, model_free_agent, nothing_more_to_do, other_rules_refused, prices_that_changed, damaged_checkpoint, two_at_once, two_begin_at_once)
