"""No text of more than ten lines stands twice in rlgo's C++ and Python.

Lines are compared without comments, blanks and indentation; what is not distinguished by them (closing brackets, includes,
namespaces) does not count. A run of more than MOST such lines that stands at two places is a duplicate: it belongs into
one function, a header for tests, or a loop over a table.

    tests/structure/duplicates.py [FOLDER]
"""

import collections
import os
import pathlib
import re
import sys

MOST = 10
TOPS = ("core", "actors", "replay", "learner", "launch", "tests", "results")
# Lines that say nothing of their own.
PLAIN = re.compile(r"[\W_]*$|#\s*(include|pragma)\b|(import|from)\s|(using )?namespace\b|(else|try|return|break;)\W*$")


def lines_of(path):
    """[(number, normalised line)] of a file, without what says nothing."""
    text = path.read_text(encoding="utf-8")
    comment = r"//[^\n]*|/\*.*?\*/" if path.suffix != ".py" else r"(?m)^\s*#[^\n]*"
    text = re.sub(comment, lambda m: "\n" * m.group().count("\n"), text, flags=re.S)
    numbered = ((n, re.sub(r"\s+", "", line)) for n, line in enumerate(text.splitlines(), 1))
    plain = {n for n, line in enumerate(text.splitlines(), 1) if PLAIN.match(line.strip())}
    return [(n, line) for n, line in numbered if n not in plain]


def duplicates(root):
    """[(lines, place, place)], the longest first; a place is (file, first line, last line)."""
    root = pathlib.Path(root)
    paths = sorted(p for top in TOPS for p in (root / top).rglob("*") if p.suffix in (".cc", ".h", ".py", ".sh"))
    files = {p.relative_to(root).as_posix(): lines_of(p) for p in paths}
    window = MOST + 1
    places = collections.defaultdict(list)
    for name, lines in files.items():
        for k in range(len(lines) - window + 1):
            places[tuple(line for _, line in lines[k:k + window])].append((name, k))
    found, covered = [], set()
    for held in places.values():
        a, b = held[0], held[-1]
        if len(held) < 2 or (a[0] == b[0] and b[1] - a[1] < window) or (a, b) in covered:
            continue
        length = 0  # as far as both continue alike
        while all(k + length < len(files[f]) for f, k in (a, b)) and files[a[0]][a[1] + length][1] == files[b[0]][b[1] + length][1]:
            covered.add(((a[0], a[1] + length), (b[0], b[1] + length)))
            length += 1
        found.append((length, *((f, files[f][k][0], files[f][k + length - 1][0]) for f, k in (a, b))))
    return sorted(found, reverse=True)


def main():
    found = duplicates(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("RLGO_SOURCE", "."))
    for length, *places in found:
        print(f"{length} lines: " + " and ".join(f"{f}:{first}-{last}" for f, first, last in places))
    print(f"{len(found)} duplicates of more than {MOST} lines")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
