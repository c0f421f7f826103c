"""Tables that compare methods state which way is better, and mark the best value.

    tests/structure/compared.py [FOLDER]

A table compares where at least two of its titles, or of the cells of its first two columns, name methods (TITLES, ROWS), or where a number
is bold. Its section then has a caption "lower is better" or the like, and numbers that compare have a bold one in their row; tables
with a method in each row have one in the table. Tables in parts (results/rlgo_results/tables.py) count as one.
"""

import os
import pathlib
import re
import sys

CONTENDERS = (r"`?(rlgo|onnxsim|onnxslim|onnxoptimizer|ort-offline|onnx runtime, offline|openvino|tensorrt|tensorflow|torch\.compile|pytorch|greedy|taso|(tensat|taso)('s search|, published)?|beam|random|"
              r"portfolio|anneal|window|egraph|e-graph|metaflow|policy|policy-\w+|agent|model-free|model-based|default search|untrained|learned|learned prices|formula)(?![\w-])`?")  # fmt: skip
TITLES = re.compile(rf"^(here, [\w ]+: |\d+ s: |[\w,' ]*: )?{CONTENDERS}|^(before|after|now|without|with|without learning|original|rewritten|search alone)\b(, [\w ]+)?$", re.I)
ROWS = re.compile(rf"^{CONTENDERS}.{{0,12}}$", re.I)
DIRECTION = re.compile(r"\b(lower|higher|less|more|fewer|smaller|larger|shorter|nearer to \S+|the nearer it is to \S+ \S+ \S+)( \w+)* (is|are) better\b|better the nearer", re.I)
RULE = re.compile(r"^\s*\|(\s*:?-+:?\s*\|)+\s*$")
NUMBER = re.compile(r"^(\*\*)?[<~]?[-+]?\d[\d,]*(\.\d+)?(?![\w-])")
LONE = re.compile(r"^(\*\*)?[-+]?\d[\d,]*(\.\d+)?( %| \w+)?( ?[\[(±+].*)?(\*\*)?$")
BOLD = re.compile(r"^\*\*[<~]?[-+]?\d")
# Pages, or (page, begin of the title line), that compare nothing, and why.
NO_COMPARISON: dict[str | tuple[str, str], str] = {
    ("results/agents.md", "profile | compared with"): "each row is the agent's ratio to another method",
    ("results/figures/README.md", "option | value"): "options of the runs",
    ("results/learned.md", "model | runs"): "ratios of one method to another",
    ("results/notes/agents-windows.md", "graph, 5 seeds | without learning, each"): "lists of seeds",
}
# Pages that mark nothing, and why.
NO_BOLD = {
    "results/figures/README.md": "made from data frames; results/comparisons.md and agents.md mark the best of the same numbers",
    "results/notes/world-model-parts.md": "a row for each seed",
}


def cells(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def tables(text):
    """(number of the title line, titles, rows, caption) of each table; parts with the same rows are joined, the caption is the prose of its section."""
    lines, found, section, fenced = text.splitlines(), [], 0, False
    for number, line in enumerate(lines):
        fenced ^= line.lstrip().startswith("```")
        if fenced:
            continue
        if line.startswith("#"):
            section = number
        if RULE.match(line) and number:
            end = next((n for n in range(number + 1, len(lines)) if not lines[n].lstrip().startswith("|")), len(lines))
            found.append([number, section, cells(lines[number - 1]), [cells(row) for row in lines[number + 1 : end]], end])
    joined = []
    for number, section, titles, rows, end in found:
        last = joined[-1] if joined else None
        blank = last and all(not line.strip() for line in lines[last[4] : number - 1])
        if blank and len(last[3]) == len(rows) and all(a[0] == b[0] for a, b in zip(last[3], rows)):
            last[2], last[3], last[4] = last[2] + titles, [a + b for a, b in zip(last[3], rows)], end
        else:
            joined.append([number, section, titles, rows, end])
    for number, section, titles, rows, end in joined:
        after = next((n for n in range(end, len(lines)) if lines[n].startswith("#")), len(lines))
        prose = "\n".join(line for line in (*lines[: next((n for n, line in enumerate(lines) if line.startswith("## ")), len(lines))], *lines[section:after]) if not line.startswith("|"))
        yield number, titles, rows, re.sub(r"\s+", " ", prose)


def problems(page, text):
    for number, titles, rows, caption in tables(text):
        if page in NO_COMPARISON or any((page, title) in NO_COMPARISON for title in (" | ".join(titles[:2]), titles[0])):
            continue
        named = [k for k, title in enumerate(titles) if k and TITLES.match(title)]
        below = {row[k].strip("`*") for row in rows for k in (0, 1) if k < len(row) and ROWS.match(row[k])}
        numeric = [row for row in rows if sum(bool(NUMBER.match(cell)) for cell in row[1:]) >= (2 if len(named) > 1 else 1)]
        bold = any(BOLD.match(cell) for row in rows for cell in row)
        if not bold and (not numeric or len(named) < 2 and len(below) < 2):
            continue
        if not DIRECTION.search(caption):
            yield f"{page}:{number}: a table that compares methods: its section has to state which way is better (\"lower is better\")"
        if len(named) > 1:
            apart = [row for row in rows if len({row[k].split()[0].strip("*") for k in named if k < len(row) and LONE.match(row[k])}) > 1]
            unmarked = [row for row in apart if not any("**" in cell for cell in row)]
            if 2 * len(unmarked) > len(apart) and page not in NO_BOLD:
                yield f"{page}:{number}: row \"{unmarked[0][0]}\": the best value is not bold"
        elif len(below) > 1 and not bold and page not in NO_BOLD:
            yield f"{page}:{number}: no best value is bold"


def pages(root):
    return sorted({root / "README.md", *root.glob("docs/*.md"), *root.glob("examples/*.md"), *root.glob("results/**/*.md")})


def finds_its_faults():
    table = "# x\n\n| graph | greedy | taso |\n|---|---|---|\n| a | {} | -2.0 |\n"
    return [len(list(problems("x.md", table.format(value) + caption))) for value, caption in (("-1.0", ""), ("-1.0", "\nLower is better.\n"), ("**-3.0**", "\nLower is better.\n"))] == [2, 1, 0]


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("RLGO_SOURCE", "."))
    found = [line for page in pages(root) for line in problems(page.relative_to(root).as_posix(), page.read_text(encoding="utf-8"))]
    stale = [key for key in (*NO_COMPARISON, *NO_BOLD) if not (root / (key if isinstance(key, str) else key[0])).is_file()]
    found += [f"tests/structure/compared.py: {key} is no longer there" for key in stale]
    found += [] if finds_its_faults() else ["tests/structure/compared.py: does not find its own faults"]
    print("\n".join(found) or "tables that compare methods state which way is better, and mark the best")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
