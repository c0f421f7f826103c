"""SIGINT ends a run cleanly: status 0, checkpoint, closed store, best model, summary. SIGTERM and SIGUSR1 only store its
state, and answer 75: start me again. --resume continues in both cases."""
import os
import signal
import subprocess

from _rlgo import QUICK, RANDOM, SMALL_NET, SOURCE, STOP_S, complete, environment, main, metrics, rlgo, start, stored, wait_until

RESTART = 75
ENDLESS = ["--epochs", 1000000, "--train.steps-per-epoch", 60, "--name", "r"]


def after_some_epochs(process, run):
    wait_until("two epochs", lambda: (run / "metrics.csv").exists() and len(metrics(run)) >= 2, process=process)


def check_clean_end(folder, process, number=signal.SIGINT):
    status = 0 if number == signal.SIGINT else RESTART
    try:
        found = process.wait(timeout=STOP_S)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    output = (folder / "output.txt").read_text()
    assert found == status, f"status {found}\n{output[-2000:]}"
    run = folder / "runs/r"
    rows = metrics(run)
    episodes = stored(run)
    assert len(episodes) >= int(rows[-1]["episodes"])
    if status == 0:
        complete(run)
        assert "interrupted" in (run / "summary.txt").read_text()
    else:
        assert f"rlgo --resume {run.relative_to(folder)} continues" in (run / "log.txt").read_text()
        assert (run / f"checkpoints/checkpoint-{len(rows):08}.h5").exists(), "the checkpoint is not of the last epoch"
        assert not (run / "summary.txt").exists() and not list(run.rglob("*.tmp-*"))
    return rows, episodes


def alone(folder, number, options):
    process = start("--graph", "toy_conv", *options, *ENDLESS, cwd=folder)
    after_some_epochs(process, folder / "runs/r")
    process.send_signal(number)
    rows, episodes = check_clean_end(folder, process, number)
    goal = int(rows[-1]["epoch"]) + 1
    rlgo("--resume", "runs/r", "--epochs", goal, cwd=folder)
    complete(folder / "runs/r")
    again = metrics(folder / "runs/r")
    assert [int(row["epoch"]) for row in again] == list(range(1, goal + 1))
    keys = stored(folder / "runs/r")[["rank", "episode"]].to_numpy().tolist()
    assert len(keys) > len(episodes) and len({tuple(key) for key in keys}) == len(keys), "an episode was played twice"
    print(f"  stopped after {goal - 1} epochs and {len(episodes)} episodes, then continued")


def interrupt(folder):
    """SIGINT to one process, random agent"""
    alone(folder, signal.SIGINT, RANDOM)


def terminate_while_learning(folder):
    """SIGTERM to one process, model-free agent"""
    alone(folder, signal.SIGTERM, [*QUICK, *SMALL_NET])


def warned(folder):
    """SIGUSR1 to one process, and SIGTERM right after it, as batch systems do"""
    process = start("--graph", "toy_conv", *RANDOM, *ENDLESS, cwd=folder)
    after_some_epochs(process, folder / "runs/r")
    process.send_signal(signal.SIGUSR1)
    process.send_signal(signal.SIGTERM)
    check_clean_end(folder, process, signal.SIGTERM)


def rank0_of(mpirun):
    """Process id of rank 0 among mpirun's children."""
    for child in subprocess.run(["pgrep", "-P", str(mpirun.pid)], capture_output=True, text=True).stdout.split():
        try:
            variables = open(f"/proc/{child}/environ", "rb").read().split(b"\0")
        except OSError:
            continue
        if b"OMPI_COMM_WORLD_RANK=0" in variables:
            return int(child)
    raise AssertionError("no rank 0")


def rank_0(folder):
    """SIGTERM to rank 0 under mpirun: the actors follow, mpirun answers 75"""
    process = start("--graph", "toy_conv", *RANDOM, *ENDLESS, cwd=folder, ranks=3)
    after_some_epochs(process, folder / "runs/r")
    os.kill(rank0_of(process), signal.SIGTERM)
    check_clean_end(folder, process, signal.SIGTERM)


def run_script(folder):
    """a signal to the script that starts mpirun (launch/scripts/job.sh, what launch/run.sh runs) reaches the learner"""
    for number in (signal.SIGINT, signal.SIGUSR1):
        place = folder / number.name
        place.mkdir()
        one_job(place, number)


def one_job(folder, number):
    binary = os.environ["RLGO_BINARY"]
    script = f"""
      set -euo pipefail
      source {SOURCE}/launch/scripts/common.sh
      source {SOURCE}/launch/scripts/job.sh
      mpi_environment
      run_job 3 {binary} "$@"
      [ "$(cat "$job_folder/run")" = "$PWD/runs/r" ] || die "rlgo told the script another run folder than its own"
      exit "$job_status"
    """
    arguments = ["--graph", "toy_conv", *RANDOM, *ENDLESS]
    with open(folder / "output.txt", "w") as out:
        process = subprocess.Popen(["bash", "-c", script, "job", *map(str, arguments)], cwd=folder, env=environment(), stdin=subprocess.DEVNULL,
                                   stdout=out, stderr=subprocess.STDOUT, start_new_session=True)
    after_some_epochs(process, folder / "runs/r")
    process.send_signal(number)
    check_clean_end(folder, process, number)


def before_training(folder):
    """SIGINT while operators are still being timed"""
    process = start("--graph", "squeezenet1_1", "--agent", "random", "--cost.repeats", 200, "--cost.explore", 100000, "--check.repeats", 3, *ENDLESS, cwd=folder)
    wait_until("timing", lambda: "timing" in (folder / "output.txt").read_text(), process=process)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=STOP_S) == 0, (folder / "output.txt").read_text()
    complete(folder / "runs/r")


def killed(folder):
    """kill -9: all renamed parts can be read, --resume continues from the last checkpoint"""
    process = start("--graph", "toy_conv", *QUICK, *SMALL_NET, *ENDLESS, "--checkpoint.every", 1, "--store.episodes-per-part", 4, cwd=folder)
    run = folder / "runs/r"
    wait_until("parts and checkpoints", lambda: len(list(run.glob("rollouts/part-*.h5"))) >= 3 and len(list(run.glob("checkpoints/checkpoint-*.h5"))) >= 2, process=process)
    process.kill()
    process.wait()
    before = stored(run)
    assert len(before) >= 12 and (before["steps"] > 0).all()
    assert "has not ended" in rlgo("inspect", run, cwd=folder).stdout
    done = len(metrics(run))
    rlgo("--resume", run, "--epochs", done + 2, cwd=folder)
    complete(run)
    assert [int(row["epoch"]) for row in metrics(run)] == list(range(1, done + 3))
    after = stored(run)
    assert len(after) > len(before)
    print(f"  {len(before)} episodes were safe, {len(after)} in the end")


if __name__ == "__main__":
    main(interrupt, terminate_while_learning, warned, rank_0, run_script, before_training, killed)
