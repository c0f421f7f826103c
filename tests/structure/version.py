"""The version and its date agree wherever they are stated: CMakeLists.txt leads; the changelog has its form.

    tests/structure/version.py [FOLDER]
"""

import os
import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("RLGO_SOURCE", "."))
GROUPS = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def problems():
    version = re.search(r"project\(rlgo VERSION ([\d.]+)", read("CMakeLists.txt")).group(1)
    changes = read("CHANGELOG.md")
    released = re.findall(r"^## ([\d.]+) - (\d{4}-\d\d-\d\d) \(v([\d.]+)\)$", changes, re.M)
    if not released or released[0][0] != version or any(number != tag for number, _, tag in released):
        yield f"CHANGELOG.md: the newest version is not {version}, or a tag differs: {released}"
        return
    stated = {
        "CITATION.cff, version": (re.findall(r"^version: (.*)$", read("CITATION.cff"), re.M), version),
        "CITATION.cff, date-released": (re.findall(r"^date-released: (.*)$", read("CITATION.cff"), re.M), released[0][1]),
        "docs/json.md": (set(re.findall(r'"version": "([^"]*)"', read("docs/json.md"))), version),
        "launch/revision.h": (re.findall(r'kVersion; +// "(.*)"', read("launch/revision.h")), version),
    }
    pages = ["README.md", *sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").glob("*.md"))]
    stated |= {page: (set(named), version) for page in pages if page != "docs/json.md" and (named := re.findall(r"\brlgo-(\d+\.\d+\.\d+)\b", read(page)))}
    for place, (found, wanted) in stated.items():
        if list(found) != [wanted]:
            yield f"{place}: {', '.join(found) or 'nothing'}, not {wanted} (CMakeLists.txt, CHANGELOG.md)"
    for number, line in enumerate(changes.splitlines(), 1):
        if line.startswith("### ") and line[4:] not in GROUPS or line.startswith("## ") and not re.match(r"## (Unreleased|[\d.]+ - )", line):
            yield f"CHANGELOG.md:{number}: {line}: versions, and in them {', '.join(sorted(GROUPS))}"
        elif line.startswith("  "):
            yield f"CHANGELOG.md:{number}: an entry is one line"


if __name__ == "__main__":
    found = list(problems())
    print("\n".join(found) or "one version everywhere")
    sys.exit(1 if found else 0)
