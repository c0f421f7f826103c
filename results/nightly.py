"""Writes the results of the long tests as a page: python3 results/nightly.py JUNIT.xml (made by ctest --output-junit)."""
import os
import platform
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from datetime import datetime, timezone
from pathlib import Path


def machine():
    model = next((line.split(":", 1)[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")), platform.machine())
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    return f"{model}, {os.cpu_count()} cores, {memory:.0f} GiB"


def commit():
    root = Path(__file__).resolve().parents[1]
    return subprocess.run(["git", "-C", str(root), "describe", "--always", "--dirty"], capture_output=True, text=True).stdout.strip() or "?"


def page(junit):
    lines = ["# The long tests", "",
             f"Written by `launch/scripts/nightly.sh` on {datetime.now(timezone.utc):%Y-%m-%d %H:%M} UTC, commit {commit()}, on {machine()}.", "",
             "| test | result | seconds | what it said |", "|---|---|---|---|"]
    for case in ElementTree.parse(junit).getroot().iter("testcase"):
        result = {"run": "passed", "fail": "FAILED", "notrun": "skipped", "disabled": "disabled"}.get(case.get("status"), case.get("status"))
        said = [line.strip() for line in (case.findtext("system-out") or "").splitlines() if line.strip()]
        said = " <br> ".join(line.replace("|", "/") for line in said if not line.startswith(("passed in", "RLGO_FAULT_SEED")))
        lines.append(f"| {case.get('name')} | {result} | {float(case.get('time')):.0f} | {said[:1200]} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print(page(sys.argv[1]), end="")
