"""--device and the launcher on a machine without a usable GPU: one line each, before any work; auto falls back and says why."""
import re
import shlex
import subprocess

from _rlgo import BINARY, QUICK, SMALL_NET, SOURCE, main, rlgo

RUN = ["--graph", "toy_conv", *QUICK, *SMALL_NET, "--epochs", 1, "--train.steps-per-epoch", 20, "--runs", "runs", "--name", "r"]
DRIVER = """
int cuInit(unsigned f) { return 0; }
int cuDriverGetVersion(int* v) { *v = 12080; return 0; }
int cuDeviceGetCount(int* n) { *n = GPUS; return 0; }
int cuDeviceGet(int* d, int i) { *d = i; return 0; }
int cuDeviceGetName(char* t, int n, int d) { __builtin_snprintf(t, n, "NVIDIA H100"); return 0; }
int cuDeviceGetPCIBusId(char* t, int n, int d) { __builtin_snprintf(t, n, "0000:0%d:00.0", d); return 0; }
"""


def driver(folder, gpus):
    """A stand-in for NVIDIA's driver; LibTorch finds nothing behind it."""
    folder.mkdir()
    (folder / "cuda.c").write_text(DRIVER)
    subprocess.run(["gcc", "-w", "-shared", "-fPIC", f"-DGPUS={gpus}", "-include", "stdio.h", "-o", folder / "libcuda.so.1", folder / "cuda.c"], check=True)
    return {"LD_LIBRARY_PATH": str(folder)}


def refused(folder, *arguments, status=1, env=None):
    done = rlgo(*arguments, cwd=folder, status=status, env=env)
    assert not (folder / "runs").exists(), "work began"
    lines = [line for line in done.stderr.splitlines() if line]
    assert len(lines) == 1, done.stderr
    return lines[0]


def words(folder):
    """other words are an error of usage, for every command that takes a device"""
    for word in ("gpu", "cuda:x", "cuda:-1"):
        assert f"--device {word}: use auto, cpu, cuda or cuda:N" in refused(folder, *RUN, "--device", word, status=2)


def no_gpu(folder):
    """without a driver cuda and cuda:N fail at once, auto is the CPU without a word"""
    for word in ("cuda", "cuda:1"):
        printed = refused(folder, *RUN, "--device", word)
        assert f"device '{word}': NVIDIA's driver is missing" in printed and "--device cpu" in printed, printed
    assert "NVIDIA" not in rlgo(*RUN, "--device", "auto", cwd=folder).stderr


def a_driver_that_libtorch_cannot_use(folder):
    """cuda fails with the reason; auto runs on the CPU and names it"""
    env = driver(folder / "one", 1)
    printed = refused(folder, *RUN, "--device", "cuda", env=env)
    assert re.search("CUDA part|too old|sees no GPU", printed), printed
    done = rlgo(*RUN, "--device", "auto", cwd=folder, env=env)
    assert "this machine has an NVIDIA GPU, but --device auto takes the CPU: " in done.stdout + done.stderr + (folder / "runs/r/log.txt").read_text()
    assert "lists no GPU" in refused(folder / "none", *RUN, "--device", "cuda", env=driver(folder / "none", 0))


def target_cuda(folder):
    """--target cuda fails at once: no driver, one that is too old, no GPU of that number; it needs no CUDA part of LibTorch"""
    target = [*RUN, "--target", "cuda"]
    for device in ([], ["--device", "cpu"]):
        printed = refused(folder, *target, *device)
        assert re.search("--target cuda: NVIDIA's driver is missing .*or take another --target$", printed), printed
    search = ["search", "--graph", "toy_conv", "--methods", "greedy", "--cost", "measured", "--target", "cuda"]
    env = driver(folder / "cuda", 1)
    printed = refused(folder, *search, env=env)
    assert re.search("--target cuda: .*(too old: it runs CUDA 12.8, --target cuda needs 13.0|built without CUDA).*or take another --target$", printed), printed
    assert "there is no GPU 3: this process sees 1, numbered 0" in refused(folder, *search, "--device", "cuda:3", env=env)
    assert "cuda (a GPU with cuDNN and cuBLASLt)" in " ".join(rlgo("--help", cwd=folder).stdout.split())


def srun_without_mpi(folder):
    """N copies that MPI does not connect do not become N runs"""
    step = {"SLURM_STEP_NUM_TASKS": "4", "SLURM_PROCID": "0"}
    assert "srun started 4 processes without MPI" in refused(folder, *RUN, env=step)
    assert rlgo(*RUN, cwd=folder, status=1, env={**step, "SLURM_PROCID": "3"}).stderr == ""
    rlgo("--version", cwd=folder, env=step)


def written_words(_):
    """each --device in scripts and documentation is one that rlgo takes"""
    found = 0
    files = [*SOURCE.glob("docs/*.md"), *SOURCE.glob("results/**/*.md"), SOURCE / "README.md", *SOURCE.glob("launch/**/*.sh"), *SOURCE.glob("results/*.py")]
    for file in files:
        for word in re.findall(r"--device[ =]+([^\s`)\]]+)", file.read_text()):
            for one in word.strip(".,;:\"'*").split("|"):
                if one and not one.startswith(("$", "{")):
                    assert re.fullmatch(r"auto|cpu|cuda|cuda:(N|\d+)", one), f"{file}: --device {word}"
                    found += 1
    assert found >= 5, "the pattern finds nothing any more"
    text = (SOURCE / "launch/scripts/gpu-check.sh").read_text()
    for word in re.findall(r"^\s*(?:if .*then )?devices?='?([a-z: 0-9]+)", text, re.M):
        for one in shlex.split(word):
            done = subprocess.run([BINARY, "--graph", "no_such_graph", "--device", one], capture_output=True, text=True, check=False)
            assert "use auto" not in done.stderr, f"gpu-check.sh: --device {one}"


if __name__ == "__main__":
    main(words, no_gpu, a_driver_that_libtorch_cannot_use, target_cuda, srun_without_mpi, written_words)
