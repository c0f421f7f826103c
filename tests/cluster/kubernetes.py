"""launch/scripts/mpijob.yaml: well-formed, fields of kubeflow's v2beta1, and what it starts is what the scripts expect."""
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cli"))
from _rlgo import BINARY, RANDOM, SOURCE, complete, environment, main, skip  # noqa: E402

try:
    import yaml
except ImportError:
    skip("no Python package pyyaml")

# Of MPIJobSpec, RunPolicy and ReplicaSpec (kubeflow/mpi-operator, pkg/apis/kubeflow/v2beta1/types.go, release 0.5).
SPEC = {"slotsPerWorker", "runLauncherAsWorker", "runPolicy", "mpiReplicaSpecs", "sshAuthMountPath", "launcherCreationPolicy", "mpiImplementation"}
RUN_POLICY = {"cleanPodPolicy", "ttlSecondsAfterFinished", "activeDeadlineSeconds", "backoffLimit", "schedulingPolicy", "suspend", "managedBy"}
REPLICA = {"replicas", "template", "restartPolicy"}
CONTAINER = {"name", "image", "command", "args", "env", "resources", "volumeMounts", "workingDir", "ports", "imagePullPolicy", "securityContext"}


def manifest():
    (document,) = yaml.safe_load_all((SOURCE / "launch/scripts/mpijob.yaml").read_text())
    return document


def launcher():
    return manifest()["spec"]["mpiReplicaSpecs"]["Launcher"]["template"]["spec"]


def fields(_):
    """names and values that the operator knows"""
    job = manifest()
    assert (job["apiVersion"], job["kind"]) == ("kubeflow.org/v2beta1", "MPIJob") and job["metadata"]["name"]
    spec = job["spec"]
    assert set(spec) <= SPEC and set(spec["runPolicy"]) <= RUN_POLICY
    assert spec["mpiImplementation"] == "OpenMPI" and spec["launcherCreationPolicy"] in ("AtStartup", "WaitForWorkersReady")
    assert spec["runPolicy"]["cleanPodPolicy"] in ("All", "Running", "None") and spec["runPolicy"]["backoffLimit"] > 0
    assert set(spec["mpiReplicaSpecs"]) == {"Launcher", "Worker"}
    for replica in spec["mpiReplicaSpecs"].values():
        assert set(replica) <= REPLICA and replica["restartPolicy"] in ("Never", "OnFailure")
        pod = replica["template"]["spec"]
        (container,) = pod["containers"]
        assert set(container) <= CONTAINER, set(container) - CONTAINER
        assert {mount["name"] for mount in container["volumeMounts"]} == {volume["name"] for volume in pod["volumes"]}
        for variable in container.get("env", []):
            assert isinstance(variable["value"], str), f"{variable['name']}: Kubernetes takes strings only"
    assert job["spec"]["mpiReplicaSpecs"]["Launcher"]["replicas"] == 1


def agree(_):
    """launcher, workers and scripts agree on ranks, folders, images and times"""
    spec = manifest()["spec"]
    pod, worker = launcher(), spec["mpiReplicaSpecs"]["Worker"]
    container, other = pod["containers"][0], worker["template"]["spec"]["containers"][0]
    arguments = dict(zip(container["args"][::2], container["args"][1::2]))
    assert int(arguments["--np"]) == (worker["replicas"] + 1) * spec["slotsPerWorker"], "ranks are not the slots"
    assert spec["runLauncherAsWorker"], "rank 0 must be where batch.sh is"
    mounts = [[(m["name"], m["mountPath"]) for m in c["volumeMounts"]] for c in (container, other)]
    assert mounts[0] == mounts[1] and container["image"] == other["image"]
    assert pod["volumes"] == worker["template"]["spec"]["volumes"]
    assert any(arguments["--runs"].startswith(path) for _, path in mounts[0]), "the runs would be lost with the pod"
    variables = {v["name"]: v["value"] for v in container["env"]}
    assert int(variables["RLGO_STOP_S"]) < pod["terminationGracePeriodSeconds"], "killed before the state is stored"
    batch = (SOURCE / "launch/scripts/batch.sh").read_text() + (SOURCE / "launch/scripts/job.sh").read_text() + (SOURCE / "launch/scripts/common.sh").read_text()
    for name in variables:
        assert name in batch, f"no script reads {name}"
    prefix, _, rest = container["command"][0].partition("/share/")
    assert variables["RLGO_PROGRAM"] == f"{prefix}/bin/rlgo"
    assert "DESTINATION share/rlgo/launch/scripts" in (SOURCE / "launch/CMakeLists.txt").read_text() and rest == "rlgo/launch/scripts/batch.sh"


def runs(folder):
    """the launcher's command line, with a smaller graph, fewer ranks and this folder: it runs, and again it continues"""
    container = launcher()["containers"][0]
    script = SOURCE / "launch/scripts" / Path(container["command"][0]).name
    replaced = {"--np": "2", "--runs": str(folder / "runs"), "--graph": "toy_conv"}
    for epochs in ("1", "2"):
        replaced["--epochs"] = epochs
        arguments = list(container["args"])
        for name, value in replaced.items():
            arguments[arguments.index(name) + 1] = value
        done = subprocess.run([script, *arguments, *RANDOM, "--train.steps-per-epoch", "40"], cwd=folder, env={**environment(), "RLGO_PROGRAM": BINARY},
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        assert ("resumed from" in done.stderr) == (epochs == "2"), done.stderr
    complete(folder / "runs" / container["args"][container["args"].index("--name") + 1])


if __name__ == "__main__":
    main(fields, agree, runs)
