"""Updates the page of the long tests: python3 results/nightly.py JUNIT.xml PAGE.md RLGO (JUNIT.xml is made by ctest --output-junit, RLGO the binary tested).

Tests that did not run this time keep the row of their last run.
"""
import sys
import xml.etree.ElementTree as ElementTree
from datetime import datetime, timezone
from pathlib import Path

from rlgo_results.where import machine, revision

HEAD = ["# The long tests", "",
        "Written by `launch/scripts/nightly.sh`: the last run of each test with the label nightly.", "",
        "| test | result | seconds | when, revision, machine | what it printed |", "|---|---|---|---|---|"]


def rows_of(page):
    """{test: row} of a page that is there already."""
    lines = page.read_text(encoding="utf-8").splitlines() if page.is_file() else []
    return {line.split("|")[1].strip(): line for line in lines[len(HEAD):] if line.startswith("|")}


def rows_from(junit, where):
    rows = {}
    for case in ElementTree.parse(junit).getroot().iter("testcase"):
        result = {"run": "passed", "fail": "FAILED", "notrun": "skipped", "disabled": "disabled"}.get(case.get("status"), case.get("status"))
        stated = [line.strip() for line in (case.findtext("system-out") or "").splitlines() if line.strip()]
        stated = " <br> ".join(line.replace("|", "/") for line in stated if not line.startswith(("passed in", "RLGO_FAULT_SEED")))
        rows[case.get("name")] = f"| {case.get('name')} | {result} | {float(case.get('time')):.0f} | {where} | {stated[:1200]} |"
    return rows


def update(junit, page, rlgo):
    where = f"{datetime.now(timezone.utc):%Y-%m-%d %H:%M} UTC, {revision(rlgo)}, {machine(memory=True)}"
    rows = rows_of(page) | rows_from(junit, where)
    page.write_text("\n".join([*HEAD, *(rows[name] for name in sorted(rows))]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    update(sys.argv[1], Path(sys.argv[2]), sys.argv[3])
