"""Several ranks: the job ends with status 0 and the store agrees with the metrics; each rank's episodes come."""
import os
import signal
import sys

from _rlgo import QUICK, RANDOM, SMALL_NET, SOURCE, STOP_S, children, complete, main, metrics, rlgo, start, stored, wait_until


def job(folder, ranks, *arguments):
    rlgo(*arguments, "--name", "r", cwd=folder, ranks=ranks)
    check(folder / "runs/r", ranks)


def check(run, ranks):
    """A finished run. On few cores some ranks may have taken all the steps that were asked for before another one came."""
    complete(run)
    rows, episodes = metrics(run), stored(run)
    assert set(episodes["rank"]) <= set(range(1, ranks)), f"episodes of ranks {sorted(episodes['rank'].unique())}"
    assert not episodes.duplicated(["rank", "episode"]).any()
    assert len(episodes) >= int(rows[-1]["episodes"]) and episodes["steps"].sum() >= int(rows[-1]["steps"])
    assert 1 <= int(rows[-1]["actors"]) <= ranks - 1 and int(rows[-1]["lost_episodes"]) == 0
    best, least = float(rows[-1]["best_cost_us"]), episodes["best_cost_us"].min()
    assert abs(min(best, least) - least) <= 1e-5 * least, f"best {best}, the store has {least}"
    print(f"  {len(episodes)} episodes, {episodes['steps'].sum()} steps of {ranks - 1} actors")


def four_on_toy_conv(folder):
    """four ranks, random agent"""
    job(folder, 4, "--graph", "toy_conv", *RANDOM, "--epochs", 3, "--train.steps-per-epoch", 200)


def four_on_squeezenet(folder):
    """four ranks, random agent, a graph of real size"""
    job(folder, 4, "--graph", "squeezenet1_1", *RANDOM, "--epochs", 2, "--train.steps-per-epoch", 200)


def four_that_learn(folder):
    """four ranks, model-free agent"""
    job(folder, 4, "--graph", "toy_conv", *QUICK, *SMALL_NET, "--epochs", 3, "--train.steps-per-epoch", 200)


def four_that_ask_for_costs(folder):
    """four ranks that meet operators which nobody has timed: rank 0 times them"""
    rlgo("--graph", "toy_conv", "--agent", "random", "--cost.explore", 0, "--cost.repeats", 3, "--check.repeats", 3, "--epochs", 2,
         "--train.steps-per-epoch", 100, "--name", "r", cwd=folder, ranks=4)
    complete(folder / "runs/r")
    table = [line for line in (folder / "runs/r/costs.tsv").read_text().splitlines() if not line.startswith("#")]
    assert len(table) > 5 and int(metrics(folder / "runs/r")[-1]["lost_episodes"]) == 0
    print(f"  {len(table)} operators were timed")


def shrinks_and_grows(folder):
    """a run that continues with fewer ranks, then with all again, plays no episode of any of them twice"""
    rlgo("--graph", "toy_conv", *RANDOM, "--epochs", 2, "--train.steps-per-epoch", 300, "--train.reproducible", "true", "--name", "r", cwd=folder, ranks=4)
    for epochs, ranks in ((4, 2), (6, 4)):
        rlgo("--resume", "runs/r", "--epochs", epochs, cwd=folder, ranks=ranks)
    episodes = stored(folder / "runs/r")
    assert set(episodes["rank"]) == {1, 2, 3}
    assert not episodes.duplicated(["rank", "episode"]).any(), episodes[episodes.duplicated(["rank", "episode"])]
    for rank in (1, 2, 3):
        numbers = sorted(episodes[episodes["rank"] == rank]["episode"])
        assert numbers[0] == 0 and len(numbers) > 4, numbers


def aggregated(folder):
    """one actor passes on what the others send and stores it: nothing is lost, nothing comes twice, and the run can be resumed without"""
    arguments = ["--graph", "toy_conv", *RANDOM, "--train.steps-per-epoch", 200, "--train.reproducible", "true", "--name", "r"]  # every actor takes part
    rlgo(*arguments, "--epochs", 6, "--train.aggregate", cwd=folder, ranks=5)
    run = folder / "runs/r"
    check(run, 5)
    first = stored(run)
    assert list(run.glob("rollouts/part-001-*.h5")), "the aggregator, rank 1, has stored nothing"
    assert set(first["rank"]) == {1, 2, 3, 4}
    rlgo("--resume", "runs/r", "--epochs", 8, "--train.aggregate", "false", cwd=folder, ranks=5)
    both = stored(run)
    keys = both[["rank", "episode"]].to_numpy().tolist()
    assert len(keys) > len(first) and len({tuple(key) for key in keys}) == len(keys), "an episode was played or stored twice"


def inferred(folder):
    """one actor of the node decides for the others: they play the episodes that they would play by themselves, nothing is lost, and the run can be resumed without"""
    arguments = ["--graph", "toy_conv", *QUICK, *SMALL_NET, "--train.steps-per-epoch", 200, "--train.reproducible", "true"]
    rlgo(*arguments, "--epochs", 3, "--inference", "node", "--inference.timeout", 60, "--name", "node", cwd=folder, ranks=4)
    node = folder / "runs/node"
    check(node, 4)
    last, episodes = metrics(node)[-1], stored(node)
    assert set(episodes["rank"]) == {1, 2}, "rank 3 decides, and plays nothing"
    assert int(last["fallback_steps"]) == int(last["refused_questions"]) == 0 and int(last["inferred_steps"]) >= int(last["steps"]) > 0, last
    assert "rank 3 decides for 1, 2" in (node / "log.txt").read_text()
    rlgo(*arguments, "--epochs", 1, "--name", "actor", cwd=folder, ranks=3)
    both = node_and_actor(first_actions(node), first_actions(folder / "runs/actor"))
    rlgo("--resume", "runs/node", "--epochs", 5, "--inference", "actor", cwd=folder, ranks=4)
    check(node, 4)
    assert set(stored(node)["rank"]) == {1, 2, 3} and metrics(node)[-1]["inferred_steps"] == "0"
    print(f"  {both} episodes of the first weights are the same, {last['inference_batch']} observations a batch")


def first_actions(run):
    """{(rank, episode): actions} of the first weights."""
    sys.path.insert(0, str(SOURCE / "results"))
    import rlgo_results

    store = rlgo_results.load(run)
    first = store.episodes[store.episodes["weights_version"] == 0][["part", "row", "rank", "episode"]]
    steps = first.merge(store.steps, on=["part", "row"]).sort_values("step")
    return {name: group[["xfer", "location"]].to_numpy().tolist() for name, group in steps.groupby(["rank", "episode"])}


def node_and_actor(node, actor):
    """Both ran two actors with the same first weights."""
    assert node.keys() == actor.keys() and len(node) > 5, f"{sorted(node)} and {sorted(actor)}"
    for name, actions in node.items():
        assert actions == actor[name], f"episode {name}: {actions} and {actor[name]}"
    return len(node)


def eight(folder):
    """eight ranks on few cores: each of the seven actors' episodes come to the store while the job runs"""
    run, everyone = folder / "runs/r", set(range(1, 8))

    def contributed():
        try:
            return set(stored(run)["rank"]) == everyone and len(metrics(run)) > 0
        except FileNotFoundError:  # no part is finished yet
            return False

    process = start("--graph", "toy_mlp", *RANDOM, "--epochs", 1000000, "--train.steps-per-epoch", 200, "--name", "r", cwd=folder, ranks=8)
    wait_until("each actor has contributed", contributed, process=process)
    os.kill(children(process)[0], signal.SIGINT)  # mpirun itself would give its ranks a second
    assert process.wait(timeout=STOP_S) == 0
    check(run, 8)


if __name__ == "__main__":
    main(four_on_toy_conv, four_on_squeezenet, four_that_learn, four_that_ask_for_costs, shrinks_and_grows, aggregated, inferred, eight)
