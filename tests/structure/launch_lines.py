"""launch wires: it parses options, calls modules and prints. What computes belongs to a module; a bound on its lines of C++ holds it to that.

launch/train counts; launch/python is a room of its own (launch/modules.tsv) and does not.
    tests/structure/launch_lines.py [FOLDER]
"""

import os
import pathlib
import sys

MOST_LINES = 4550


def lines_of(root):
    """{path from the root: lines} of launch's own C++ files."""
    rooms = [line.split("\t")[0] for line in (root / "launch/modules.tsv").read_text().splitlines() if line.startswith("launch/")]
    rooms.remove("launch/train")
    files = [p for p in (root / "launch").rglob("*") if p.suffix in (".cc", ".h")]
    named = {p.relative_to(root).as_posix(): len(p.read_text().splitlines()) for p in files}
    return {path: count for path, count in named.items() if not any(path.startswith(room + "/") for room in rooms)}


def main():
    found = lines_of(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("RLGO_SOURCE", ".")))
    total = sum(found.values())
    print(f"launch has {total} lines of C++ in {len(found)} files; at most {MOST_LINES}")
    if total <= MOST_LINES:
        return 0
    print("The longest; what computes in them belongs to a module (docs/architecture.md):")
    for path, count in sorted(found.items(), key=lambda item: -item[1])[:8]:
        print(f"  {count:4} {path}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
