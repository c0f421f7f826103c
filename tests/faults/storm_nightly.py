"""Ten minutes of faults at random: actors killed and stopped, learners killed, jobs asked to end; the run loses nothing."""
import os
import signal
import time

from _faults import ENDLESS, chooser, end, epochs, job, metrics, ranks_of, stored, wait_until
from _rlgo import QUICK, SMALL_NET, complete, main


def storm(folder):
    """every few seconds something happens; in the end every epoch has its row and every episode is there once"""
    random = chooser()
    options = ["--graph", "toy_conv", *QUICK, *SMALL_NET, *ENDLESS, "--checkpoint.every", 1, "--train.actor-timeout", 4, "--store.seconds-per-part", 1, "--name", "r"]
    run = folder / "runs/r"
    happened = []

    def start():
        process = job(*options, cwd=folder, ranks=4, RLGO_RESTARTS="1000")
        wait_until("four ranks", lambda: len(ranks_of(process)) == 4, process=process)
        return process

    process = start()
    until = time.monotonic() + float(os.environ.get("RLGO_STORM_S", "600"))
    while time.monotonic() < until:
        done = epochs(run)
        wait_until("two more epochs", lambda: epochs(run) >= done + 2, process=process, seconds=300)
        found = ranks_of(process)
        actors = sorted(set(found) - {0})
        what = random.choice(["kill actor", "stop actor", "kill learner", "end job"])
        happened.append(what)
        try:
            if what == "kill actor" and len(actors) > 1:
                os.kill(found[random.choice(actors)], signal.SIGKILL)
            elif what == "stop actor" and actors:
                victim = found[random.choice(actors)]
                os.kill(victim, signal.SIGSTOP)
                time.sleep(random.uniform(1, 8))
                os.kill(victim, signal.SIGCONT)
            elif what == "kill learner" and 0 in found:
                os.kill(found[0], signal.SIGKILL)
            else:
                end(process, random.choice([signal.SIGTERM, signal.SIGUSR1]), status=75)
                process = start()
        except ProcessLookupError:
            pass  # the job was between two starts
    done = epochs(run)
    wait_until("two more epochs", lambda: epochs(run) >= done + 2, process=process, seconds=300)
    end(process)
    complete(run)
    rows = metrics(run)
    assert [int(row["epoch"]) for row in rows] == list(range(1, len(rows) + 1))
    assert int(rows[-1]["lost_episodes"]) == 0
    episodes = stored(run)
    print(f"  {len(happened)} faults ({', '.join(f'{happened.count(w)} x {w}' for w in sorted(set(happened)))}); {len(rows)} epochs, {len(episodes)} episodes")
    # What was played after a checkpoint and before a crash is played again, with newer weights: same name, no third time.
    assert episodes.groupby(["rank", "episode"]).size().max() <= 1 + happened.count("kill learner")


if __name__ == "__main__":
    main(storm)
