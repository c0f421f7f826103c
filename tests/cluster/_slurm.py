"""A Slurm of one or more nodes on this host for tests: munge key, configuration, state and logs in a folder of its own, everything ends with it."""
import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cli"))
from _rlgo import BINARY, RANDOM, SOURCE, complete, metrics, skip, stored, wait_until  # noqa: E402

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "scontrol", "squeue")
# No cgroups are needed: processes are found by their parents. PARTITION low is preempted by high: the job gets its warning
# (preempt_send_user_signal), then GraceTime, then it is requeued.
CONFIGURATION = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ctld_port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
MpiDefault=none
SwitchType=switch/none
ReturnToService=2
SchedulerParameters=sched_interval=1,bf_interval=1,defer_batch
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
SlurmctldParameters=preempt_send_user_signal
KillWait=20
MinJobAge=3600
OverTimeLimit=0
{nodes}
PartitionName=low Nodes=ALL Default=YES MaxTime=INFINITE State=UP PriorityTier=1 PreemptMode=REQUEUE GraceTime=40
PartitionName=high Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=2 PreemptMode=OFF
"""


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


class Slurm:
    """with Slurm(folder) as slurm: slurm.run("sbatch", ...). Skips the test, with the reason, where it does not start.

    Several nodes are several slurmd on this host: each has its host name, its port and its four processors.
    """

    def __init__(self, folder, nodes=1):
        self.folder = Path(folder)
        host = socket.gethostname().split(".")[0]
        self.nodes = [host] if nodes == 1 else [f"{host}-{k}" for k in range(nodes)]
        self.processes = []
        missing = [name for name in PROGRAMS if self.path_of(name) is None]
        if missing:
            skip(f"no {', '.join(missing)} (Debian packages slurm-wlm and munge; RLGO_SETUP_SLURM=1 launch/scripts/setup.sh)")
        if os.getuid() != 0:
            skip("slurmd must be started as root")

    @staticmethod
    def path_of(name):
        return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")

    def environment(self):
        return {**os.environ, "SLURM_CONF": str(self.folder / "slurm.conf")}

    def run(self, *command, check=True):
        done = subprocess.run([self.path_of(command[0]) or command[0], *map(str, command[1:])], env=self.environment(), capture_output=True, text=True, timeout=300)
        if check and done.returncode != 0:
            raise AssertionError(f"{' '.join(map(str, command))}: {done.stdout}{done.stderr}")
        return done.stdout

    def start(self, name, *arguments, host=None):
        under = ["unshare", "--uts", "sh", "-c", f'hostname {host}; exec "$@"', "sh"] if host else []
        with open(self.folder / f"{name}{host or ''}.out", "w") as out:
            process = subprocess.Popen([*under, self.path_of(name), *map(str, arguments)], env=self.environment(), stdout=out, stderr=subprocess.STDOUT, start_new_session=True)
        self.processes.append((name, process))
        return process

    def __enter__(self):
        host = socket.gethostname().split(".")[0]
        self.folder.mkdir()
        for name in ("state", *(f"spool-{node}" for node in self.nodes)):
            (self.folder / name).mkdir()
        self.folder.chmod(0o755)
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o600)
        ctld_port, *ports = free_ports(1 + len(self.nodes))
        nodes = "\n".join(f"NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=4 State=UNKNOWN" for node, port in zip(self.nodes, ports))
        (self.folder / "slurm.conf").write_text(CONFIGURATION.format(host=host, folder=self.folder, ctld_port=ctld_port, nodes=nodes))
        self.start("munged", "--foreground", "--force", f"--key-file={key}", f"--socket={self.folder}/munge.socket", f"--pid-file={self.folder}/munged.pid",
                   f"--log-file={self.folder}/munged.log", f"--seed-file={self.folder}/munged.seed")
        self.wait("munge's socket", lambda: (self.folder / "munge.socket").exists())
        self.start("slurmctld", "-D", "-f", self.folder / "slurm.conf")
        for node in self.nodes:
            self.start("slurmd", "-D", "-N", node, "-f", self.folder / "slurm.conf", host=node if len(self.nodes) > 1 else None)
        self.wait("idle nodes", lambda: self.run("scontrol", "show", "node", check=False).count("State=IDLE") == len(self.nodes))
        return self

    def wait(self, what, condition, seconds=40):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if condition():
                return
            for name, process in self.processes:
                if process.poll() is not None:
                    self.give_up(f"{name} ended with status {process.returncode}")
            time.sleep(0.2)
        self.give_up(f"no {what} within {seconds} s")

    def give_up(self, why):
        text = "".join(f"--- {path.name}\n" + path.read_text()[-1500:] for path in sorted(self.folder.glob("*.out")) + sorted(self.folder.glob("*.log")))
        self.__exit__()
        print(text)
        skip(f"Slurm does not start here: {why}")

    def __exit__(self, *_):
        for name, process in reversed(self.processes):
            process.terminate()
            try:
                process.wait(timeout=300)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.processes = []

    def job(self, number):
        """{field: value} of scontrol show job."""
        text = self.run("scontrol", "-o", "show", "job", number)
        return dict(part.split("=", 1) for part in text.split() if "=" in part)

    def submit(self, *arguments):
        return int(self.run("sbatch", "--parsable", *arguments).strip().split(";")[0])


# Small shares, so that preemption, requeue and end all come within seconds.
RUN = ["--graph", "toy_conv", *RANDOM, "--epochs", 1000000, "--train.steps-per-epoch", 60, "--checkpoint.every", 20]
os.environ.update(RLGO_ROOT=str(SOURCE), RLGO_PROGRAM=BINARY)
WAIT_S = 300


def epochs(run):
    return len(metrics(run)) if (run / "metrics.csv").exists() else 0


def state(slurm, number, *wanted):
    wait_until(f"job {number}: {' or '.join(wanted)}", lambda: slurm.job(number)["JobState"] in wanted, seconds=WAIT_S)
    return slurm.job(number)


def start_again(slurm, number):
    """Slurm holds a requeued job back for two minutes: not in a test. A few seconds it needs: a job that starts again in the
    second in which its first start's credential is revoked is "non-startable"."""
    state(slurm, number, "PENDING")
    slurm.run("scontrol", "update", f"JobId={number}", "StartTime=now+5", check=False)
    state(slurm, number, "RUNNING", "COMPLETED")


def submit(slurm, folder, *options):
    """(job, run folder) of a training run of three ranks."""
    number = slurm.submit("--ntasks=3", f"--chdir={folder}", f"--output={folder}/job.out", "--job-name=t", "--partition=low", *options)
    return number, folder / f"runs/t-{number}"


def finished_in_two_starts(slurm, number, folder, run):
    job = state(slurm, number, "COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "PREEMPTED")
    output = (folder / "job.out").read_text()
    assert job["JobState"] == "COMPLETED" and job["ExitCode"] == "0:0", f"{job['JobState']} {job['ExitCode']}\n{output[-3000:]}"
    assert f"job {number} on" in output and "start 1" in output and "start 2" in output, output[-3000:]
    complete(run)
    assert [int(row["epoch"]) for row in metrics(run)] == list(range(1, epochs(run) + 1))
    episodes = stored(run)
    assert not episodes.duplicated(["rank", "episode"]).any()
    assert (run / "log.txt").read_text().count("resumed from") == 1
