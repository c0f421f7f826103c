"""Two "hosts" on one machine: network namespaces joined by a cable, ranks over TCP between them. Same results as on one."""
import contextlib
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "faults"))
from _faults import ENDLESS, end, ended_with_us, epochs, episodes_of, job, log_of, ranks_of, state, wait_until  # noqa: E402
from _rlgo import BINARY, QUICK, RANDOM, SMALL_NET, SOURCE, complete, environment, main, metrics, skip, stored  # noqa: E402

NET = "10.77.12"
NOT_REPEATABLE = {"seconds", "collect_s", "update_s", "waiting_fraction", "steps_per_s", "bytes_in", "bytes_out", "bytes_per_transition",
                  "host_memory_mb", "device_memory_mb"}


class TwoHosts:
    """Namespaces rlgo-PID-a and -b with addresses .1 and .2; host a starts ranks on host b by an agent in place of ssh."""

    def __init__(self, folder):
        self.names = [f"rlgo-{os.getpid()}-{side}" for side in "ab"]
        self.agent = Path(folder) / "agent.sh"
        if os.getuid() != 0 or shutil.which("ip") is None or shutil.which("unshare") is None:
            skip("network namespaces need root, ip (Debian package iproute2) and unshare")

    def __enter__(self):
        a, b = self.names
        commands = [["ip", "netns", "add", a], ["ip", "netns", "add", b],
                    ["ip", "link", "add", "cable", "netns", a, "type", "veth", "peer", "name", "cable", "netns", b]]
        for name, number in ((a, 1), (b, 2)):
            commands += [["ip", "-n", name, "addr", "add", f"{NET}.{number}/24", "dev", "cable"],
                         ["ip", "-n", name, "link", "set", "cable", "up"], ["ip", "-n", name, "link", "set", "lo", "up"]]
        for command in commands:
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode != 0:
                self.__exit__()
                skip(f"{' '.join(command)}: {done.stderr.strip()}")
        # mpirun calls it as it would call ssh: AGENT HOST COMMAND...
        self.agent.write_text(f"#!/bin/sh\nshift\nexec ip netns exec {b} unshare --uts sh -c 'hostname host-b; exec sh -c \"$*\"' sh \"$@\"\n")
        self.agent.chmod(0o755)
        return self

    def __exit__(self, *_):
        for name in self.names:
            # Where the cable was cut, the far ranks wait for the learner for minutes: they would run next to the tests that follow.
            for pid in subprocess.run(["ip", "netns", "pids", name], capture_output=True, text=True).stdout.split():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(pid), signal.SIGKILL)
            subprocess.run(["ip", "netns", "del", name], capture_output=True)

    def job(self, *arguments, cwd, ranks, **variables):
        """batch.sh on host a, half of the ranks on each host."""
        options = (f"--host {NET}.1:{ranks // 2},{NET}.2:{ranks - ranks // 2} --map-by slot --mca plm rsh --mca plm_rsh_agent {self.agent} "
                   f"--mca pml ob1 --mca btl tcp,self --mca btl_tcp_if_include {NET}.0/24 --mca oob_tcp_if_include {NET}.0/24")
        inside = ["ip", "netns", "exec", self.names[0], "unshare", "--uts", "sh", "-c", "hostname host-a; exec \"$@\"", "sh"]
        command = [*inside, str(SOURCE / "launch/scripts/batch.sh"), "--np", str(ranks), *map(str, arguments)]
        with open(Path(cwd) / "output.txt", "a") as out:
            return ended_with_us(subprocess.Popen(command, cwd=cwd, env={**environment(), "RLGO_PROGRAM": BINARY, "RLGO_MPIRUN_OPTIONS": options, "RLGO_GRACE_S": "5", **variables},
                                    stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, start_new_session=True))

    def cut(self):
        subprocess.run(["ip", "-n", self.names[1], "link", "set", "cable", "down"], check=True)

    def daemon(self):
        """Process id of orted on host b."""
        there = os.stat(f"/run/netns/{self.names[1]}").st_ino
        for entry in Path("/proc").iterdir():
            try:
                if (entry / "comm").read_text().strip() == "orted" and os.stat(entry / "ns/net").st_ino == there:
                    return int(entry.name)
            except OSError:
                continue
        raise AssertionError("no orted on host b")

    def bytes_to_a(self):
        """That came through the cable to host a, headers of Ethernet, IP and TCP included."""
        text = subprocess.run(["ip", "netns", "exec", self.names[0], "cat", "/proc/net/dev"], capture_output=True, text=True, check=True).stdout
        (line,) = [line for line in text.splitlines() if line.strip().startswith("cable:")]
        return int(line.split(":")[1].split()[0])


def hosts_of(found):
    """{rank: network namespace} of processes."""
    return {rank: os.readlink(f"/proc/{pid}/ns/net") for rank, pid in found.items()}


def ended(process, folder):
    assert process.wait(timeout=240) == 0, (folder / "output.txt").read_text()[-3000:]


def same_results(folder):
    """a reproducible run of four ranks: the same weights bit for bit, the same episodes, on two hosts and on one"""
    options = ["--graph", "toy_conv", *QUICK, *SMALL_NET, "--train.reproducible", "--epochs", 6, "--train.steps-per-epoch", 240, "--train.polish", "false"]
    ended(job(*options, "--name", "one", cwd=folder, ranks=4), folder)
    with TwoHosts(folder) as hosts:
        process = hosts.job(*options, "--name", "two", cwd=folder, ranks=4)
        found = wait_until("four ranks", lambda: len(ranks_of(process)) == 4 and ranks_of(process), process=process)
        places = hosts_of(found)
        ended(process, folder)
        wire = hosts.bytes_to_a()
    assert places[0] == places[1] != places[2] == places[3], places
    one, two = folder / "runs/one", folder / "runs/two"
    for run in (one, two):
        complete(run)
    for a, b in zip(metrics(one), metrics(two), strict=True):
        differing = {name: (a[name], b[name]) for name in a if name not in NOT_REPEATABLE and a[name] != b[name]}
        assert not differing, f"epoch {a['epoch']}: {differing}"
    a, b = state(one), state(two)
    differing = [name for name in a if a[name] != b.get(name)]
    assert a.keys() == b.keys() and set(differing) <= {"texts/best_trace"}, differing  # of equally good graphs the first to arrive
    print(f"  {len(a) - len(differing)} datasets of the last checkpoints are the same bit for bit")
    columns = ["rank", "episode", "steps", "return", "best_cost_us"]
    # Those that were learned from: how many more begin before the word of the end comes depends on speed.
    frames = [stored(run).query("weights_version < 6")[columns].sort_values(["rank", "episode"]).to_numpy().tolist() for run in (one, two)]
    assert len(frames[0]) > 100 and frames[0] == frames[1]
    report(two, wire, "toy_conv")


def report(run, wire, graph):
    episodes = stored(run)
    all_steps, far_steps = int(episodes["steps"].sum()), int(episodes[episodes["rank"] >= 2]["steps"].sum())
    reported = sum(int(row["bytes_in"]) for row in metrics(run))
    print(f"  {graph}: {reported / all_steps:.0f} bytes of messages per transition; through the cable {wire / far_steps:.0f} bytes per transition of host b "
          f"({far_steps} transitions, {wire} bytes, weights' acknowledgements and mpirun's own traffic included)")


def resnet50(folder):
    """bytes per transition of a graph of real size, random agent"""
    with TwoHosts(folder) as hosts:
        ended(hosts.job("--graph", "resnet50", *RANDOM, "--epochs", 3, "--train.steps-per-epoch", 600, "--train.polish", "false", "--name", "r", cwd=folder, ranks=4), folder)
        wire = hosts.bytes_to_a()
    complete(folder / "runs/r")
    report(folder / "runs/r", wire, "resnet50")


def begun(hosts, folder, **variables):
    """A job of four ranks that has done some epochs: its process and run folder."""
    process = hosts.job("--graph", "toy_conv", *RANDOM, *ENDLESS, "--train.actor-timeout", 4, "--checkpoint.every", 1, "--store.seconds-per-part", 0.2, "--name", "r",
                        cwd=folder, ranks=4, **variables)
    run = folder / "runs/r"
    wait_until("three epochs", lambda: epochs(run) >= 3, process=process)
    return process, run


def far_actor_killed(folder):
    """SIGKILL of an actor on the other host: its connection breaks, the run continues"""
    with TwoHosts(folder) as hosts:
        process, run = begun(hosts, folder)
        before = episodes_of(run, 3)
        os.kill(ranks_of(process)[3], signal.SIGKILL)
        wait_until("the loss is reported", lambda: "actor 3 is lost" in log_of(run), process=process)
        done = epochs(run)
        wait_until("five more epochs", lambda: epochs(run) >= done + 5, process=process)
        end(process)
    complete(run)
    assert before <= episodes_of(run, 3) and int(metrics(run)[-1]["actors"]) == 2


def link_down(folder):
    """the cable is cut for good: the actors of the other host are lost, the run continues with those of this one, and ends cleanly"""
    with TwoHosts(folder) as hosts:
        process, run = begun(hosts, folder)
        hosts.cut()
        wait_until("both losses are reported", lambda: all(f"actor {rank} is lost" in log_of(run) for rank in (2, 3)), process=process)
        done = epochs(run)
        wait_until("five more epochs", lambda: epochs(run) >= done + 5, process=process)
        end(process)
    complete(run)
    assert int(metrics(run)[-1]["actors"]) == 1


def far_daemon_killed(folder):
    """SIGKILL of mpirun's daemon (orted) on the other host: mpirun gives the job up, and the script continues from the last checkpoint"""
    with TwoHosts(folder) as hosts:
        process, run = begun(hosts, folder, RLGO_RESTARTS="3")
        os.kill(hosts.daemon(), signal.SIGKILL)
        # Either mpirun lets the others live (then the actors over there are lost), or it ends all, and the script starts them again.
        wait_until("it is noticed", lambda: "is lost" in log_of(run) or log_of(run).count("resumed from") == 1, process=process)
        done = epochs(run)
        wait_until("five more epochs", lambda: epochs(run) >= done + 5, process=process)
        end(process)
    complete(run)
    rows = metrics(run)
    assert [int(row["epoch"]) for row in rows] == list(range(1, len(rows) + 1))


if __name__ == "__main__":
    main(same_results, resnet50, far_actor_killed, link_down, far_daemon_killed)
