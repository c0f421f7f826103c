"""SIGKILL of the learner: in the middle of a checkpoint, of a part of the store, and of a job that then restarts itself."""
import os
import re
import signal
import subprocess

from _faults import ENDLESS, end, environment, epochs, job, kill_in_call, log_of, metrics, ranks_of, stored, wait_until
from _rlgo import BINARY, QUICK, RANDOM, SMALL_NET, complete, main, rlgo

NET = ["--graph", "toy_conv", *QUICK, *SMALL_NET, "--train.steps-per-epoch", 40, "--checkpoint.every", 1, "--store.episodes-per-part", 4]


def die_in(folder, library, call, path, count):
    """Runs until the process kills itself within that call."""
    command = [BINARY, *map(str, NET), "--epochs", "50", "--name", "r"]
    kill = {"LD_PRELOAD": str(library), "KILL_CALL": call, "KILL_PATH": path, "KILL_COUNT": str(count)}
    done = subprocess.run(command, cwd=folder, env={**environment(), **kill}, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)
    assert done.returncode == -signal.SIGKILL, f"{call} {path}: status {done.returncode}\n{done.stderr[-2000:]}"


def killed_in_each_call(folder, file):
    """One run for each call that puts the file on disk, killed in it. Gives the call, the run's folder, whether the file has its name by then."""
    library = kill_in_call(folder)
    for call in ("write", "fsync", "rename", "renamed"):
        place = folder / call
        place.mkdir()
        die_in(place, library, call, f"{file}.tmp-" if call in ("write", "fsync") else file, 1)
        yield call, place, call == "renamed"


def temporaries(run, of="*"):
    """Files not yet whole. Parts and checkpoints are written by threads of their own: at a kill there may be one of each."""
    return [path.name for path in run.rglob(f"{of}.tmp-*")]


def stored_episodes(run):
    try:
        return set(stored(run)[["rank", "episode"]].itertuples(index=False, name=None))
    except FileNotFoundError:  # the thread that writes parts has not finished one
        return set()


def in_a_checkpoint(folder):
    """before half, all, and the name of the fourth checkpoint is on disk: the third one serves; after the rename the fourth"""
    for call, place, there in killed_in_each_call(folder, "checkpoints/checkpoint-00000004.h5"):
        newest = 4 if there else 3
        run = place / "runs/r"
        names = sorted(path.name for path in run.glob("checkpoints/checkpoint-*.h5"))
        assert names[-1] == f"checkpoint-{newest:08}.h5", names
        assert bool(temporaries(run, "checkpoint-*")) == (not there), temporaries(run)
        episodes = stored_episodes(run)
        done = rlgo("--resume", "runs/r", "--epochs", 6, cwd=place)
        assert f"checkpoint-{newest:08}.h5: {newest} epochs" in done.stderr and "is refused" not in done.stderr, done.stderr
        complete(run)
        assert not temporaries(run)
        assert [int(row["epoch"]) for row in metrics(run)] == list(range(1, 7))
        assert episodes <= stored_episodes(run), "stored episodes are gone"
        print(f"  {call}: {len(episodes)} episodes were safe, continued from checkpoint {newest}")


def in_a_part(folder):
    """the third part of the store likewise: two or three parts are whole, no other file has a part's name"""
    for call, place, there in killed_in_each_call(folder, "rollouts/part-000-000002.h5"):
        parts = 3 if there else 2
        run = place / "runs/r"
        assert len(list(run.glob("rollouts/part-*.h5"))) == parts
        before = stored(run)
        assert len(before) == 4 * parts
        assert re.search(rf"^episodes +{len(before)} ", rlgo("inspect", run, cwd=place).stdout, re.M)
        checkpoints = sorted(run.glob("checkpoints/checkpoint-*.h5"))
        if not checkpoints:
            print(f"  {call}: {len(before)} episodes were safe; no checkpoint yet")
            continue
        newest = int(checkpoints[-1].stem.removeprefix("checkpoint-"))  # as far as the run came next to the slow disk
        rlgo("--resume", "runs/r", "--epochs", newest + 3, cwd=place)
        complete(run)
        after = stored(run)
        assert set(before["episode"]) <= set(after["episode"]) and not temporaries(run)
        print(f"  {call}: {len(before)} episodes were safe, {len(after)} in the end")


def in_a_job(folder):
    """SIGKILL of rank 0 of a job: the launch script continues from the last checkpoint by itself"""
    process = job(*NET, "--epochs", 1000000, "--name", "r", cwd=folder, ranks=3)
    run = folder / "runs/r"
    wait_until("three epochs", lambda: epochs(run) >= 3, process=process)
    os.kill(ranks_of(process)[0], signal.SIGKILL)
    wait_until("the second start", lambda: log_of(run).count("resumed from") == 1, process=process)
    done = epochs(run)
    wait_until("more epochs", lambda: epochs(run) >= done + 3, process=process)
    end(process)
    complete(run)
    assert [int(row["epoch"]) for row in metrics(run)] == list(range(1, epochs(run) + 1))
    assert "status 137" in (folder / "output.txt").read_text()


def before_a_checkpoint(folder):
    """SIGKILL before the first checkpoint: started again, the run is set aside and starts again"""
    options = ["--graph", "toy_conv", *RANDOM, "--name", "r"]
    process = job(*options, *ENDLESS, "--checkpoint.every", 1000000, cwd=folder, ranks=2, RLGO_RESTARTS="0")
    run = folder / "runs/r"
    wait_until("an epoch", lambda: epochs(run) >= 1, process=process)
    os.kill(ranks_of(process)[0], signal.SIGKILL)
    assert process.wait(timeout=300) == 137
    again = job(*options, "--epochs", 2, "--train.steps-per-epoch", 60, cwd=folder, ranks=2)
    assert again.wait(timeout=300) == 0, (folder / "output.txt").read_text()
    complete(run)
    assert (folder / "runs/r.void-1/metrics.csv").exists() and epochs(run) == 2


def neighbours(folder):
    """two jobs under one --runs: the one whose learner is killed continues with its own run, though the other's checkpoints are newer"""
    options = ["--graph", "toy_conv", *RANDOM, *ENDLESS, "--checkpoint.every", 1, "--runs", folder / "runs"]
    jobs = [job(*options, "--name", name, cwd=folder, ranks=2, log=f"output-{name}.txt") for name in ("mine", "other")]
    mine, other = folder / "runs/mine", folder / "runs/other"
    try:
        for process, run in zip(jobs, (mine, other), strict=True):
            wait_until("three epochs", lambda run=run: epochs(run) >= 3, process=process)
        done = epochs(other)
        wait_until("newer checkpoints of the other", lambda: epochs(other) >= done + 2, process=jobs[1])
        os.kill(ranks_of(jobs[0])[0], signal.SIGKILL)
        wait_until("the second start", lambda: log_of(mine).count("resumed from") == 1, process=jobs[0])
        done = epochs(mine)
        wait_until("more epochs", lambda: epochs(mine) >= done + 2, process=jobs[0])
    finally:
        for process in jobs:
            if process.poll() is None:
                end(process)
    assert "resumed from" not in log_of(other) and len(list((folder / "runs").iterdir())) == 2
    for run in (mine, other):
        complete(run)
        assert [int(row["epoch"]) for row in metrics(run)] == list(range(1, epochs(run) + 1))


def asked_in_the_conclusion(folder):
    """SIGINT while the result is being measured: the measurements end, all that a clean end leaves is there"""
    process = job("--graph", "squeezenet1_1", "--agent", "random", "--cost", "analytic", "--epochs", 1, "--train.steps-per-epoch", 20, "--check.repeats", 200, "--name", "r", cwd=folder, ranks=2)
    run = folder / "runs/r"
    wait_until("the conclusion", lambda: "training ended" in log_of(run), process=process)
    end(process, seconds=300)
    complete(run)
    assert "MPI_ABORT" not in (folder / "output.txt").read_text()


if __name__ == "__main__":
    main(in_a_checkpoint, in_a_part, in_a_job, before_a_checkpoint, neighbours, asked_in_the_conclusion)
