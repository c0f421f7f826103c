#!/usr/bin/env python3
"""Draws the pictures of docs/: the environment, the world model, the ranks of a run, and six rules.

    launch/scripts/draw_docs.py RLGO            writes the pictures; RLGO is the program, which draws the rules
    launch/scripts/draw_docs.py RLGO --check    exit status 1 where a picture is out of date
"""
import pathlib
import subprocess
import sys
from xml.sax.saxutils import escape

from draw_modules import FRAME, ROOT, STYLE

# Boxes are {name: (column, row, title, lines)} on a grid, a "!" in front of a title marks what is learned. Arrows are (from,
# to, label). One to a box further left passes below all boxes, or above them where its label begins with "^".
ENVIRONMENT = {
    "about": "One step of the rewrite environment",
    "boxes": {
        "policy": (0, 0, "!Policy", ["graph network, heads for", "rule, location and value"]),
        "action": (1, 0, "Action", ["a rule and one of its", "locations, or NO-OP"]),
        "rewrite": (2, 0, "Rewrite", ["applies the proved rule", "to an immutable graph"]),
        "price": (3, 0, "Price", ["formula, measured groups", "or the whole model"]),
        "observe": (1, 1, "Observation", ["nodes, edges, legal", "locations, their prices"]),
        "match": (2, 1, "Match index", ["finds the locations that", "the rewrite changed"]),
        "reward": (3, 1, "Reward", ["what the step saved, as", "a fraction of the start"]),
    },
    "arrows": [("policy", "action", ""), ("action", "rewrite", ""), ("rewrite", "price", "graph"), ("rewrite", "match", "graph"),
               ("price", "reward", "cost"), ("match", "observe", "masks"), ("reward", "policy", "reward, episode ends"), ("observe", "policy", "state")],
}  # fmt: skip
WORLD_MODEL = {
    "about": "The MDN-RNN: one step of a dream",
    "boxes": {
        "graph": (0, 0, "Real state", ["a dream starts here:", "graph, locations"]),
        "encoder": (1, 0, "!Encoder", ["graph network", "z [B, Z]"]),
        "input": (1, 1, "Inputs", ["z, counts, rule,", "location, overlap"]),
        "lstm": (2, 1, "!LSTM", ["memory h, c [B, H]", "zero at the start"]),
        "mixture": (3, 0, "!Mixture density", ["next z: K Gaussians a", "number, temperature T"]),
        "reward": (3, 1, "!Reward and end", ["an ensemble of R members,", "a logit for the end"]),
        "counts": (3, 2, "!Counts, locations", ["how legal locations of", "each rule change"]),
        "controller": (0, 1, "!Controller", ["sees z and masks, learns", "by PPO in the dream"]),
    },
    "arrows": [("graph", "encoder", ""), ("encoder", "input", "z"), ("controller", "input", "action"), ("input", "lstm", ""), ("lstm", "mixture", ""),
               ("lstm", "reward", ""), ("lstm", "counts", ""), ("counts", "controller", "next z, masks, reward: the next step")],
}  # fmt: skip
SYSTEM = {
    "about": "The ranks of mpirun -np N rlgo",
    "boxes": {
        "actors": (0, 0, "Actors", ["environment, policy on one", "thread each; no LibTorch"]),
        "aggregate": (1, 0, "Aggregators", ["with many actors: pass", "weights and episodes on"]),
        "leader": (2, 0, "!Rank 0: leader", ["updates by PPO, world", "model, prices operators"]),
        "learners": (3, 0, "!Learners", ["each a part of the batch;", "gradients by NCCL or MPI"]),
        "measurer": (3, 1, "Measurers", ["a process a runtime: times", "groups and whole models"]),
        "store": (2, 1, "Run folder", ["rollouts and checkpoints in", "HDF5, metrics, best.onnx"]),
        "analyse": (1, 1, "Analysis", ["figures and tables", "from what was recorded"]),
    },
    "arrows": [("actors", "aggregate", "episodes"), ("aggregate", "leader", "episodes"), ("leader", "learners", "parts"),
               ("leader", "measurer", "graphs"), ("leader", "store", ""), ("store", "analyse", ""), ("leader", "actors", "^weights, prices")],
}  # fmt: skip
PICTURES = {"environment": ENVIRONMENT, "mdn-rnn": WORLD_MODEL, "ranks": SYSTEM}
RULES = ("merge-conv-shared-input", "fold-conv-batch-norm", "compose-conv-1x1", "matmul-distribute-rhs", "exp-sum-to-softmax", "add-of-concats")
WIDTH, HEIGHT, ACROSS, DOWN, TOP, EDGE = 190, 74, 74, 46, 76, 24


def centre(box):
    return EDGE + box[0] * (WIDTH + ACROSS) + WIDTH / 2, TOP + box[1] * (HEIGHT + DOWN) + HEIGHT / 2


def route(start, end, lane, shift):
    """Points of an arrow, and where its label stands: straight between neighbours, else by the lane at height `lane`."""
    (ax, ay), (bx, by) = centre(start), centre(end)
    if start[0] == end[0]:
        down = 1 if by > ay else -1
        return [(ax, ay + down * HEIGHT / 2), (bx, by - down * HEIGHT / 2)], (ax + 8, (ay + by) / 2 + 4, "start")
    if start[1] == end[1] and abs(start[0] - end[0]) == 1:
        right = 1 if bx > ax else -1
        return [(ax + right * WIDTH / 2, ay), (bx - right * WIDTH / 2, by)], ((ax + bx) / 2, ay - 7, "middle")
    if end[0] - start[0] == 1:
        middle = bx - WIDTH / 2 - ACROSS / 2
        return [(ax + WIDTH / 2, ay), (middle, ay), (middle, by), (bx - WIDTH / 2, by)], (middle - 6, by - 7, "end")
    side = HEIGHT / 2 if lane > TOP else -HEIGHT / 2
    return [(ax + shift, ay + side), (ax + shift, lane), (bx + shift, lane), (bx + shift, by + side)], ((ax + bx) / 2, lane - 7, "middle")


def diagram(picture):
    boxes = picture["boxes"]
    below = TOP + (1 + max(b[1] for b in boxes.values())) * (HEIGHT + DOWN) - DOWN / 2 + 8
    out, lanes = [f'<text class="title" x="{EDGE}" y="34">{escape(picture["about"])}</text>'], 0
    for name, (column, row, title, lines) in boxes.items():
        x, y = centre((column, row))
        out.append(f'<rect class="{"learned" if title[0] == "!" else "module"}" x="{x - WIDTH / 2}" y="{y - HEIGHT / 2}" width="{WIDTH}" height="{HEIGHT}" rx="5"/>')
        out.append(f'<text class="head" x="{x - WIDTH / 2 + 10}" y="{y - 14}">{escape(title.lstrip("!"))}</text>')
        out += [f'<text class="what" x="{x - WIDTH / 2 + 10}" y="{y + 6 + 17 * k}">{escape(line)}</text>' for k, line in enumerate(lines)]
    for start, end, label in picture["arrows"]:
        above = label.startswith("^")
        points, (x, y, anchor) = route(boxes[start], boxes[end], TOP - 16 if above else below + 26 * lanes, 22 * lanes - 22)
        lanes += points[1][1] == below + 26 * lanes
        out.append(f'<path class="arrow" d="M{" L".join(f"{px:g} {py:g}" for px, py in points)}"/>')
        out.append(f'<text class="what" x="{x:g}" y="{y:g}" text-anchor="{anchor}">{escape(label.lstrip("^"))}</text>' if label else "")
    width = 2 * EDGE + (1 + max(b[0] for b in boxes.values())) * (WIDTH + ACROSS) - ACROSS
    height = below + 26 * lanes
    return FRAME.format(width=width, height=f"{height:g}", maker="draw_docs.py", style=STYLE, body="\n".join(filter(None, out)))


def pictures(rlgo):
    """(path, text) of each."""
    for name, picture in PICTURES.items():
        yield ROOT / f"docs/{name}.svg", diagram(picture)
    for rule in RULES:
        yield ROOT / f"docs/rules/{rule}.svg", subprocess.run([rlgo, "rules", "show", rule, "--svg"], check=True, capture_output=True, text=True).stdout


def main():
    if len(sys.argv) < 2 or sys.argv[2:] not in ([], ["--check"]):
        raise SystemExit(__doc__)
    stale = []
    for path, text in pictures(sys.argv[1]):
        if sys.argv[2:]:
            stale += [] if path.exists() and path.read_text(encoding="utf-8") == text else [path.relative_to(ROOT).as_posix()]
        else:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
    if stale:
        print(f"out of date: {', '.join(stale)}; run launch/scripts/draw_docs.py build/release/rlgo")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
