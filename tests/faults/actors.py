"""SIGKILL and SIGSTOP of an actor at random, in a real run: it continues, keeps what was finished, and says what was lost."""
import os
import re
import signal

from _faults import ENDLESS, chooser, end, epochs, episodes_of, job, log_of, ranks_of, stored, wait_until
from _rlgo import QUICK, RANDOM, SMALL_NET, complete, main, metrics

TIMEOUT = ["--train.actor-timeout", 4]
ENVS = 4  # environments of an actor; their episodes end in any order


def begun(folder, *options, ranks=4, timeout_s=4):
    """A job with `ranks` ranks that has done some epochs: its process, run folder, processes of the ranks."""
    process = job("--graph", "toy_conv", *options, *ENDLESS, "--train.envs-per-actor", ENVS, "--train.actor-timeout", timeout_s, "--name", "r", cwd=folder, ranks=ranks)
    run = folder / "runs/r"
    wait_until("three epochs", lambda: epochs(run) >= 3, process=process)
    found = ranks_of(process)
    assert sorted(found) == list(range(ranks)), found
    return process, run, found


def unfinished(kept):
    """Episodes that were not stored although a later one was: its other environments were in the middle of them."""
    return set(range(max(kept) + 1)) - kept


def killed(folder):
    """SIGKILL of a random actor: the run continues with the rest"""
    process, run, found = begun(folder, *QUICK, *SMALL_NET, "--store.seconds-per-part", 0.2)
    wait_until("parts of the store", lambda: len(list(run.glob("rollouts/part-*.h5"))) >= 3, process=process)
    victim = chooser().choice(sorted(found)[1:])
    before = wait_until("its episodes are stored", lambda: episodes_of(run, victim), process=process)
    os.kill(found[victim], signal.SIGKILL)
    wait_until("the loss is reported", lambda: f"actor {victim} is lost" in log_of(run), process=process)
    done = epochs(run)
    wait_until("five more epochs", lambda: epochs(run) >= done + 5, process=process)
    end(process)
    complete(run)
    rows = metrics(run)
    assert int(rows[-1]["actors"]) == 2 and int(rows[-1]["lost_episodes"]) == 0
    kept = episodes_of(run, victim)
    assert before and before <= kept, "finished episodes of the dead actor are gone"
    assert len(unfinished(kept)) < ENVS, f"its episodes have gaps: {unfinished(kept)}"
    assert "2 actors remain" in log_of(run)
    print(f"  actor {victim}: {len(kept)} episodes kept, {len(rows)} epochs")


def stopped(folder, lag=1, timeout_s=10):
    """SIGSTOP of a random actor: the others continue, it is dropped, and is back after SIGCONT"""
    process, run, found = begun(folder, *RANDOM, "--train.max-lag", lag, "--store.seconds-per-part", 0.2, timeout_s=timeout_s)
    victim = chooser().choice(sorted(found)[1:])
    os.kill(found[victim], signal.SIGSTOP)
    done = epochs(run)
    wait_until("the loss is reported", lambda: f"actor {victim} is lost" in log_of(run), process=process)
    assert epochs(run) >= done + 2, f"{epochs(run) - done} epochs in the {timeout_s} s until the actor was given up"
    done, before = epochs(run), episodes_of(run, victim)
    wait_until("ten more epochs", lambda: epochs(run) >= done + 10, process=process)
    assert episodes_of(run, victim) == before and int(metrics(run)[-1]["actors"]) == 2
    os.kill(found[victim], signal.SIGCONT)
    wait_until("it is back", lambda: f"actor {victim} is back" in log_of(run), process=process)
    wait_until("its new episodes are stored", lambda: len(episodes_of(run, victim)) > len(before) + 5, process=process)
    end(process)
    complete(run)
    rows = metrics(run)
    assert int(rows[-1]["actors"]) == 3
    assert max(int(row["lag_max"]) for row in rows) <= lag, "learned from what the actor had played long ago"
    kept = episodes_of(run, victim)
    assert before <= kept and len(unfinished(kept)) < ENVS, unfinished(kept)
    print(f"  actor {victim}: {len(before)} episodes before, {len(kept)} in the end, {len(rows)} epochs")


def stopped_without_lag(folder):
    """the same where each epoch needs all actors: nobody waits for the silent one until its timeout"""
    stopped(folder, lag=0, timeout_s=15)


def behind_one(folder):
    """A job whose rank 1 passes on what ranks 2, 3 and 4 send, and has stored some of it."""
    process, run, found = begun(folder, *RANDOM, "--train.aggregate", "--store.seconds-per-part", 0.2, ranks=5)
    wait_until("parts of the aggregator", lambda: len(list(run.glob("rollouts/part-001-*.h5"))) >= 2, process=process)
    return process, run, found


def none_twice(run):
    episodes = stored(run)
    assert not episodes.duplicated(["rank", "episode"]).any(), "an episode was stored twice"


def aggregator_killed(folder):
    """SIGKILL of the actor that passes on what the others send: they send it themselves"""
    process, run, found = behind_one(folder)
    os.kill(found[1], signal.SIGKILL)
    wait_until("another way is reported", lambda: "actor 1 passes on no more what 3 others send" in log_of(run), process=process)
    wait_until("the loss is reported", lambda: "actor 1 is lost" in log_of(run), process=process)
    done, before = epochs(run), {rank: len(episodes_of(run, rank)) for rank in (2, 3, 4)}
    wait_until("five more epochs", lambda: epochs(run) >= done + 5, process=process)
    wait_until("new episodes of each are stored", lambda: all(len(episodes_of(run, rank)) > before[rank] + 3 for rank in before), process=process)
    end(process)
    complete(run)
    none_twice(run)
    assert int(metrics(run)[-1]["actors"]) == 3
    assert not re.search("actor [234] is lost", log_of(run)), log_of(run)


def aggregator_stopped(folder):
    """SIGSTOP of it, and SIGCONT: what it still had is taken, nothing comes twice"""
    process, run, found = behind_one(folder)
    os.kill(found[1], signal.SIGSTOP)
    wait_until("the loss is reported", lambda: "actor 1 is lost" in log_of(run), process=process)
    done = epochs(run)
    wait_until("five more epochs", lambda: epochs(run) >= done + 5, process=process)
    os.kill(found[1], signal.SIGCONT)
    wait_until("it is back", lambda: "actor 1 is back" in log_of(run), process=process)
    done = epochs(run)
    wait_until("ten more epochs", lambda: epochs(run) >= done + 10, process=process)
    assert int(metrics(run)[-1]["actors"]) == 4
    end(process)
    complete(run)
    none_twice(run)


def asking(folder, *options):
    """A job whose rank 4 decides for ranks 1, 2 and 3, and has done so for some epochs."""
    process, run, found = begun(folder, *QUICK, *SMALL_NET, "--inference", "node", "--inference.timeout", 1, "--store.seconds-per-part", 0.2, *options, ranks=5)
    wait_until("decisions", lambda: int(metrics(run)[-1]["inferred_steps"]) > 100, process=process)
    return process, run, found


def fallback_steps(run):
    return int(metrics(run)[-1]["fallback_steps"])


def nothing_lost(run):
    """Every actor's episodes, each once, without gaps but for those that its environments were in the middle of."""
    none_twice(run)
    assert int(metrics(run)[-1]["lost_episodes"]) == 0
    for rank in (1, 2, 3):
        assert len(unfinished(episodes_of(run, rank))) < ENVS
    assert not episodes_of(run, 4)


def inference_killed(folder):
    """SIGKILL of the rank that decides for the others: they decide themselves, and the run continues; also where one of them passes on"""
    process, run, found = asking(folder, "--train.aggregate")
    os.kill(found[4], signal.SIGKILL)
    wait_until("all three say so", lambda: all(f"actor {rank}: inference rank 4 has not answered for 1 s" in log_of(run) for rank in (1, 2, 3)), process=process)
    wait_until("the loss is reported", lambda: "actor 4 is lost" in log_of(run), process=process)
    done, before = epochs(run), fallback_steps(run)
    wait_until("five more epochs", lambda: epochs(run) >= done + 5, process=process)
    wait_until("their own decisions are counted", lambda: fallback_steps(run) > before + 100, process=process)
    end(process)
    complete(run)
    nothing_lost(run)
    assert int(metrics(run)[-1]["actors"]) == 3
    assert log_of(run).count("has not answered") == 3, "it is said once by each"


def inference_stopped(folder):
    """SIGSTOP of it, and SIGCONT: it is asked again"""
    process, run, found = asking(folder)
    os.kill(found[4], signal.SIGSTOP)
    wait_until("their own decisions are counted", lambda: fallback_steps(run) > 100, process=process)
    wait_until("the loss is reported", lambda: "actor 4 is lost" in log_of(run), process=process)
    done = epochs(run)
    wait_until("five more epochs", lambda: epochs(run) >= done + 5, process=process)
    os.kill(found[4], signal.SIGCONT)
    wait_until("it is back", lambda: "actor 4 is back" in log_of(run), process=process)
    wait_until("it answers again", lambda: "inference rank 4 answers again" in log_of(run), process=process)
    before = int(metrics(run)[-1]["inferred_steps"])
    wait_until("more of its decisions", lambda: int(metrics(run)[-1]["inferred_steps"]) > before + 200, process=process)
    end(process)
    complete(run)
    nothing_lost(run)
    assert int(metrics(run)[-1]["actors"]) == 4


def too_few(folder):
    """below --train.min-actors: state stored, started again by itself, and 75 where no restart is left"""
    process = job("--graph", "toy_conv", *RANDOM, *ENDLESS, *TIMEOUT, "--train.min-actors", 2, "--name", "r", cwd=folder, ranks=3, RLGO_RESTARTS="1")
    run = folder / "runs/r"
    for start in (1, 2):
        wait_until(f"epochs of start {start}", lambda: len(ranks_of(process)) == 3 and epochs(run) >= 3 * start, process=process)
        os.kill(ranks_of(process)[2], signal.SIGKILL)
        if start == 1:
            wait_until("the second start", lambda: log_of(run).count("resumed from") == 1, process=process)
    assert process.wait(timeout=300) == 75, (folder / "output.txt").read_text()
    assert [int(row["epoch"]) for row in metrics(run)] == list(range(1, epochs(run) + 1))
    assert len(re.findall("too few actors", log_of(run))) == 2


if __name__ == "__main__":
    main(killed, stopped, stopped_without_lag, aggregator_killed, aggregator_stopped, inference_killed, inference_stopped, too_few)
