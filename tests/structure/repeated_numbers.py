"""No page repeats a number that another page measured: the same number with the same unit, or the same interval, in the
prose of two pages. Tables that results/pages.py makes of recorded data may show a number twice: they cannot differ.

    tests/structure/repeated_numbers.py [FOLDER]
"""

import os
import pathlib
import re
import sys

from words import paragraphs

UNITS = r"%|x|ms|us|s|MiB|GiB|KiB|MB|GB|KB|GFLOP/s|GB/s|steps/s|graphs/s|inputs/s"
MEASURED = re.compile(rf"(?<![\w.,/#-])[-+]?(\d[\d,]*(?:\.\d+)?) ?({UNITS})(?![\w/])")
INTERVAL = re.compile(r"(\d+\.\d+) \[(-?\d+\.\d+), (-?\d+\.\d+)\]")
DIGITS = 3  # numbers with fewer digits that count may agree by chance


def numbers(text):
    """(number, unit) and line of each measured number in prose."""
    text = re.sub(r"<!-- made by .*?<!-- end -->", lambda made: "\n" * made.group().count("\n"), text, flags=re.S)
    for line, lines in paragraphs(text):
        whole = re.sub(r"`[^`]*`", "`", " ".join(part.strip() for part in lines))
        for match in MEASURED.finditer(whole):
            number = match.group(1).replace(",", "")
            if len(number.replace(".", "").strip("0")) >= DIGITS:
                yield (number, match.group(2)), line
        for match in INTERVAL.finditer(whole):
            yield (match.group(1), f"[{match.group(2)}, {match.group(3)}]"), line


def repeated(pages):
    """pages: {path: text}."""
    first = {}
    for path, text in pages.items():
        for number, line in numbers(text):
            where, at = first.setdefault(number, (path, line))
            if where != path:
                yield f"{path}:{line}: `{' '.join(number)}` is in {where}:{at}, too: link to it"


def finds_its_faults():
    page = "It took 12.34 ms, and 0.926 [0.894, 0.957] of the time.\n\n| 56.78 ms |\n|---|\n| 56.78 ms |\n"
    return len(list(repeated({"a.md": page, "b.md": page}))) == 2 and not list(repeated({"a.md": page, "b.md": "12.35 ms\n"}))


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("RLGO_SOURCE", "."))
    paths = [root / "README.md", *sorted((root / "docs").glob("*.md")), *sorted((root / "results").glob("*.md"))]
    found = list(repeated({path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in paths}))
    found += [] if finds_its_faults() else ["tests/structure/repeated_numbers.py: does not find its own faults"]
    print("\n".join(found) or "no page repeats another's numbers")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
