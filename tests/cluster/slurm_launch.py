"""Launchers on a real Slurm: direct `srun --mpi=pmix`, without MPI, srun and mpirun under the job script, two nodes, GPU requests."""
import os

from _slurm import BINARY, SOURCE, Slurm, epochs, state
from _rlgo import RANDOM, complete, main

SHORT = ["--graph", "toy_conv", *RANDOM, "--epochs", 2, "--train.steps-per-epoch", 60]
WORDS = " ".join(map(str, SHORT))


def ended(slurm, folder, number, ok=True):
    job = state(slurm, number, "COMPLETED", "FAILED", "CANCELLED", "TIMEOUT")
    output = (folder / "job.out").read_text()
    assert (job["JobState"] == "COMPLETED") == ok, output[-3000:]
    return output


def submit(slurm, folder, *options):
    return slurm.submit("--time=10", f"--chdir={folder}", f"--output={folder}/job.out", "--job-name=t", *options)


def direct(folder):
    """srun --mpi=pmix makes one run of three ranks; plain srun is refused, once, and begins none"""
    with Slurm(folder / "slurm") as slurm:
        run = f"{BINARY} {WORDS} --runs {folder}/runs --name"
        number = submit(slurm, folder, "--ntasks=3", "--wrap", f"srun --mpi=pmix {run} pmix")
        ended(slurm, folder, number)
        complete(folder / "runs/pmix")
        assert "2 actors" in (folder / "runs/pmix/log.txt").read_text()
        number = submit(slurm, folder, "--ntasks=3", "--wrap", f"srun --mpi=none {run} plain")
        output = ended(slurm, folder, number, ok=False)
        assert output.count("srun started 3 processes without MPI") == 1, output
        assert not (folder / "runs/plain").exists()


def by_srun(folder):
    """the job script with srun as launcher: one run, its exit status, its folder"""
    os.environ["RLGO_LAUNCHER"] = "srun"
    with Slurm(folder / "slurm") as slurm:
        number = submit(slurm, folder, "--ntasks=3", SOURCE / "launch/scripts/slurm-train.sh", *SHORT)
        ended(slurm, folder, number)
        complete(folder / f"runs/t-{number}")
        assert epochs(folder / f"runs/t-{number}") == 2
    del os.environ["RLGO_LAUNCHER"]


def two_nodes(folder):
    """the job script over two nodes, by mpirun: one run whose actors are on both"""
    os.environ["RLGO_MPIRUN_OPTIONS"] = "--mca btl tcp,self --mca btl_tcp_if_include lo --mca oob_tcp_if_include lo"
    with Slurm(folder / "slurm", nodes=2) as slurm:
        ranks = folder / "ranks.sh"  # each rank leaves its host's name
        ranks.write_text(f'#!/bin/sh\nhostname >> {folder}/hosts.txt\nexec {BINARY} "$@"\n')
        ranks.chmod(0o755)
        os.environ["RLGO_PROGRAM"] = str(ranks)
        number = submit(slurm, folder, "--nodes=2", "--ntasks=4", "--ntasks-per-node=2", SOURCE / "launch/scripts/slurm-train.sh", *SHORT)
        output = ended(slurm, folder, number)
        assert sorted((folder / "hosts.txt").read_text().split()) == sorted(2 * slurm.nodes), output
        complete(folder / f"runs/t-{number}")
        assert "3 actors" in (folder / f"runs/t-{number}/log.txt").read_text(), output
    del os.environ["RLGO_MPIRUN_OPTIONS"]
    os.environ["RLGO_PROGRAM"] = BINARY


def no_gpu(folder):
    """--device cuda in a job without a GPU ends at once with what to request"""
    with Slurm(folder / "slurm") as slurm:
        number = submit(slurm, folder, "--ntasks=2", SOURCE / "launch/scripts/slurm-train.sh", *SHORT, "--device", "cuda")
        output = ended(slurm, folder, number, ok=False)
        assert "the job has no GPU: submit with --gpus-per-node=1" in output and not (folder / "runs").exists(), output


if __name__ == "__main__":
    main(direct, by_srun, two_nodes, no_gpu)
