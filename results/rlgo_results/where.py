"""Where and with what something was measured."""
import os
import platform
import subprocess
from pathlib import Path


def commit():
    """Of the repository that this file is in; "unknown" outside of one."""
    run = subprocess.run(["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty"], capture_output=True, text=True)
    return run.stdout.strip() or "unknown"


def revision(rlgo):
    """Of a binary, which need not be the checkout's: "841ac877b26c"."""
    version = subprocess.run([rlgo, "--version"], capture_output=True, text=True, check=True).stdout
    return version.strip().rpartition("(")[2].rstrip(")")


def machine(memory=False):
    """Processor and cores, on request memory: "AMD EPYC, 2 cores, 24 GiB"."""
    model = platform.processor() or platform.machine()
    if Path("/proc/cpuinfo").is_file():
        names = [line.split(":", 1)[1].strip() for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines() if line.startswith("model name")]
        model = names[0] if names else model
    gib = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30 if memory else 0
    return f"{model}, {os.cpu_count()} cores" + (f", {gib:.0f} GiB" if memory else "")
