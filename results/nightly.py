"""Writes the results of the long tests as a page: python3 results/nightly.py JUNIT.xml (made by ctest --output-junit)."""
import sys
import xml.etree.ElementTree as ElementTree
from datetime import datetime, timezone

from rlgo_results.where import commit, machine


def page(junit):
    lines = ["# The long tests", "",
             f"Written by `launch/scripts/nightly.sh` on {datetime.now(timezone.utc):%Y-%m-%d %H:%M} UTC, commit {commit()}, on {machine(memory=True)}.", "",
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
