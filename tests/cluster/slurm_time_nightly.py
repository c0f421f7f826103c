"""The Slurm script at its time limit: USR1 before it, requeue, resume, finish (Slurm looks at time limits twice a minute)."""
from _slurm import RUN, Slurm, epochs, finished_in_two_starts, start_again, state, submit
from _rlgo import SOURCE, main


def out_of_time(folder):
    """the time limit comes: USR1 before it, requeue, resume, finish"""
    with Slurm(folder / "slurm") as slurm:
        number, run = submit(slurm, folder, "--time=1", "--signal=B:USR1@50", SOURCE / "launch/scripts/slurm-train.sh", *RUN, "--seconds", 50)  # Slurm looks twice a minute
        state(slurm, number, "RUNNING")
        start_again(slurm, number)
        slurm.run("scontrol", "update", f"JobId={number}", "TimeLimit=10")
        finished_in_two_starts(slurm, number, folder, run)
        print(f"  {epochs(run)} epochs in two starts")


if __name__ == "__main__":
    main(out_of_time)
