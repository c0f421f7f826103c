"""500 faults at random: actors and learners killed and stopped, several at once, jobs asked to end; the run loses nothing."""
import os
import signal
import threading

from _faults import ENDLESS, chooser, end, epochs, job, metrics, ranks_of, stored, wait_until
from _rlgo import QUICK, SMALL_NET, complete, main

LEARNERS = 2


def send(number, process):
    try:
        os.kill(process, number)
    except ProcessLookupError:
        pass  # the job was between two starts


def one_fault(random, found):
    """Something happens to one of the ranks. Its name."""
    actors = [rank for rank in sorted(found) if rank >= LEARNERS]
    what = random.choice(["kill actor", "stop actor", "kill leader", "kill learner", "stop learner", "stop leader"])
    rank = {"leader": 0, "learner": 1}.get(what.split()[1], random.choice(actors) if actors else None)
    if rank not in found or (what == "kill actor" and len(actors) < 2):
        return None
    if what.startswith("kill"):
        send(signal.SIGKILL, found.pop(rank))
    else:
        send(signal.SIGSTOP, found[rank])
        threading.Timer(random.uniform(0.5, 8), send, (signal.SIGCONT, found[rank])).start()
    return what


def storm(folder):
    """one to four faults in each round; in the end every epoch has its row, and no episode is there more often than it was played"""
    random = chooser()
    options = ["--graph", "toy_conv", *QUICK, *SMALL_NET, *ENDLESS, "--device", "cpu", "--learners", LEARNERS, "--checkpoint.every", 1, "--train.actor-timeout", 4,
               "--store.seconds-per-part", 1, "--name", "r"]
    run = folder / "runs/r"
    happened = []

    def start():
        process = job(*options, "--train.aggregate", random.choice(["true", "false"]), "--inference", random.choice(["actor", "node"]), cwd=folder, ranks=6, RLGO_RESTARTS="10000")
        wait_until("six ranks", lambda: len(ranks_of(process)) == 6, process=process)
        return process

    process = start()
    while len(happened) < int(os.environ.get("RLGO_STORM_FAULTS", "500")):
        done = epochs(run)
        wait_until("two more epochs", lambda: epochs(run) >= done + 2, process=process, seconds=600)
        if random.random() < 0.1:
            happened.append("end job")
            end(process, random.choice([signal.SIGTERM, signal.SIGUSR1]), status=75, seconds=300)
            process = start()
            continue
        found = ranks_of(process)
        for _ in range(random.randint(1, 4)):
            happened += filter(None, [one_fault(random, found)])
    done = epochs(run)
    wait_until("two more epochs", lambda: epochs(run) >= done + 2, process=process, seconds=600)
    end(process, seconds=300)
    complete(run)
    rows = metrics(run)
    assert [int(row["epoch"]) for row in rows] == list(range(1, len(rows) + 1))
    assert int(rows[-1]["lost_episodes"]) == 0
    episodes = stored(run)
    print(f"  {len(happened)} faults ({', '.join(f'{happened.count(w)} x {w}' for w in sorted(set(happened)))}); {len(rows)} epochs, {len(episodes)} episodes")
    # What was played after a checkpoint and before the learners ended is played again, with newer weights: same name, once for each such end.
    ends = sum(happened.count(what) for what in ("kill leader", "kill learner", "stop learner", "stop leader"))
    assert episodes.groupby(["rank", "episode"]).size().max() <= 1 + ends


if __name__ == "__main__":
    main(storm)
