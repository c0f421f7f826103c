#!/usr/bin/env python3
"""Draws launch/modules.tsv as docs/architecture.svg: modules in five floors, arrows where a floor includes another one.

    launch/scripts/draw_modules.py            writes the picture
    launch/scripts/draw_modules.py --check    exit status 1 where it is not what the table says
"""
import pathlib
import sys
from xml.sax.saxutils import escape

ROOT = pathlib.Path(__file__).resolve().parents[2]
PICTURE = ROOT / "docs/architecture.svg"
# Top to bottom: title, what happens there, modules with three or four words each.
FLOORS = [
    ("The program", "commands, wiring, Python", {"launch": "subcommands", "launch/train": "roles of training", "launch/python": "extension modules"}),
    ("Learning", "actors play, the learner trains", {
        "learner/session": "around a run's learner", "learner": "PPO, world models", "actors": "policies, episodes, dreams",
        "replay": "HDF5 rollout store", "core/nets": "networks (LibTorch)", "core/agent": "networks by plain loops",
        "core/env": "rewards, masks, features", "core/comm": "ranks, messages, gradients", "core/comm/mpi": "ranks of mpirun", "core/codec": "observations as bytes",
        "core/mdp": "observation, action, step"}),
    ("Optimising", "one model faster, with evidence", {
        "core/optimise": "candidates, checks, result", "core/calibrate": "benchmarks of prices", "core/search": "TASO, anneal, window, ...", "core/measure": "runtimes as processes",
        "core/exec": "LibTorch runs and times", "core/gpu": "cuDNN, cuBLASLt, kernels", "core/verify": "the same? constants", "core/evaluate": "runs graphs", "core/cost": "prices of operators", "core/report": "HTML, JSON", "core/draw": "graphs and charts"}),
    ("Rules", "made, proved, matched, applied", {
        "core/rulegen/generate": "enumerates graphs", "core/rulegen/taso": "reads TASO's rules", "core/rulegen/prove": "e-graph, Z3 certificates",
        "core/rulegen/check": "exact checks", "core/rulegen/semantics": "what operators mean", "core/rules": "language, matcher"}),
    ("Models", "any ONNX model in and out", {
        "core/onnx": "import, export", "core/zoo": "known architectures", "core/graph": "immutable graph, editor", "core/ops": "operators, shapes",
        "core/options": "command line, help", "core/base": "errors, files, hashes"}),
]
WIDTH, LEFT, BOX, GAP, ROW, HEAD = 1190, 236, 200, 12, 50, 22
STYLE = (".floor{fill:#f4f6f8;stroke:#c9d1d9}.module{fill:#fff;stroke:#57606a}.learned{fill:#ddf4ff;stroke:#0072b2}.title{font:bold 16px sans-serif}"
         ".head{font:bold 14px sans-serif}.name{font:bold 13px monospace}.what{font:12px sans-serif;fill:#57606a}"
         ".arrow{fill:none;stroke:#0072b2;stroke-width:1.4;marker-end:url(#head)}")  # fmt: skip
FRAME = ('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">\n<!-- made by launch/scripts/{maker} -->\n'
         '<style>{style}</style>\n<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
         '<path d="M0 0L8 4L0 8z" fill="#0072b2"/></marker></defs>\n<rect width="100%" height="100%" fill="#fff"/>\n{body}\n</svg>\n')  # fmt: skip
COLUMNS = (WIDTH - LEFT - 90) // (BOX + GAP)


def table():
    """{module: modules that it may include} of the table; "all" is every other module."""
    rows = [line.split("\t") for line in (ROOT / "launch/modules.tsv").read_text(encoding="utf-8").splitlines() if line and line[0] != "#"]
    names = [row[0] for row in rows]
    return {row[0]: set(names) - {row[0]} if row[1] == "all" else set(row[1].split()) - {"-"} for row in rows}


def arrows(includes):
    """(upper floor, lower floor, modules of the upper one that include the lower one)."""
    floor_of = {module: k for k, (_, _, modules) in enumerate(FLOORS) for module in modules}
    for a in range(len(FLOORS)):
        for b in range(a + 1, len(FLOORS)):
            users = [m for m in FLOORS[a][2] if any(floor_of[i] == b for i in includes[m])]
            if users:
                yield a, b, users


def draw():
    includes = table()
    drawn = {module for _, _, modules in FLOORS for module in modules}
    if drawn != set(includes):
        raise SystemExit(f"launch/scripts/draw_modules.py: FLOORS and launch/modules.tsv differ in {', '.join(sorted(drawn ^ set(includes)))}")
    out, top, middles = [], 16, []
    for title, what, modules in FLOORS:
        rows = -(-len(modules) // COLUMNS)
        height = HEAD + rows * (ROW + GAP)
        out.append(f'<rect class="floor" x="8" y="{top}" width="{WIDTH - 86}" height="{height}" rx="8"/>')
        out.append(f'<text class="title" x="24" y="{top + 34}">{escape(title)}</text><text class="what" x="24" y="{top + 54}">{escape(what)}</text>')
        for k, (module, about) in enumerate(modules.items()):
            x, y = LEFT + k % COLUMNS * (BOX + GAP), top + HEAD / 2 + k // COLUMNS * (ROW + GAP) + GAP / 2
            out.append(f'<rect class="module" x="{x}" y="{y}" width="{BOX}" height="{ROW}" rx="5"/>')
            out.append(f'<text class="name" x="{x + 10}" y="{y + 21}">{module}</text><text class="what" x="{x + 10}" y="{y + 39}">{escape(about)}</text>')
        middles.append((top, height))
        top += height + 18
    lanes = {}
    for a, b, users in arrows(includes):
        lane = lanes.setdefault(b, len(lanes))
        x = WIDTH - 72 + 15 * lane
        start, end = (middles[f][0] + middles[f][1] / 2 + 7 * lane - 14 for f in (a, b))
        edge = WIDTH - 78
        out.append(f'<path class="arrow" d="M{edge} {start} H{x} V{end} H{edge + 6}"><title>{escape(", ".join(users))}</title></path>')
    return FRAME.format(width=WIDTH, height=top, maker="draw_modules.py", style=STYLE, body="\n".join(out))


def main():
    picture = draw()
    if sys.argv[1:] == ["--check"]:
        same = PICTURE.exists() and PICTURE.read_text(encoding="utf-8") == picture
        print("docs/architecture.svg is what launch/modules.tsv says" if same else "docs/architecture.svg is out of date: run launch/scripts/draw_modules.py")
        return 0 if same else 1
    if sys.argv[1:]:
        raise SystemExit(__doc__)
    PICTURE.write_text(picture, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
