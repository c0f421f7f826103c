"""Tables of results/oodte.md and results/nnsmith.md: models whose results others judge."""
from .recorded import revisions_of
from .tables import best_bold

TOOLS = {"onnxsim": "onnxsim", "onnxslim": "onnxslim", "onnxoptimizer": "onnxoptimizer", "ort-offline": "ONNX Runtime, offline", "rlgo": "rlgo"}
FAULTS = {"f": "the tool fails", "i": "invalid result", "d": "other outputs", "n": "names lost", "m": "metadata lost", "g": "larger file"}
GROUPS = {"backend": "ONNX's tests", "public": "public models"}
VERDICTS = {"same": "same outputs", "differs": "other outputs", "invalid": "invalid result", "declared": "other declarations",
            "refused": "rlgo calls its own rewrite wrong", "unwritten": "nothing written, for a check failed", "status": "exit status of a failure", "crash": "crash", "hang": "no end within 400 s",
            "runtime": "ONNX Runtime crashes"}  # fmt: skip


def oodte(rows):
    """Percent of the models that ONNX Runtime runs."""
    lines = [f"| models | {' | '.join(TOOLS.values())} |", "|---|" + "---|" * len(TOOLS)]
    run = [r for r in rows if not r["note"].startswith("not run")]
    sizes = {g: [r for r in run if r["group"] == g] for g in GROUPS if any(r["group"] == g for r in run)}
    for group, part in sizes.items():
        for letter, fault in FAULTS.items():
            counts = [sum(letter in r[tool] for r in part) for tool in TOOLS]
            cells = best_bold([f"{100 * n / len(part):.1f} ({n})" for n in counts])
            lines.append(f"| {GROUPS[group]}: {fault} | {' | '.join(cells)} |")
    numbers = " and ".join(f"{len(part)} {'of ' * (g == 'backend')}{GROUPS[g]}" for g, part in sizes.items())
    return [*lines, "", f"Percent (number) of {numbers}; lower is better; rlgo {revisions_of(run)}. {len(rows) - len(run)} more models that ONNX Runtime does not run are left out."]


def nnsmith(rows):
    tried = [r for r in rows if r["verdict"] in VERDICTS]
    parts = {"all": tried, "static sizes": [r for r in tried if r["open"] == "0"], "open sizes": [r for r in tried if r["open"] not in ("", "0")],
             "half precision": [r for r in tried if r["half"] == "1"]}  # fmt: skip
    lines = [f"| models | {' | '.join(parts)} |", "|---|" + "---|" * len(parts), f"| tried | {' | '.join(str(len(p)) for p in parts.values())} |",
             f"| with rewrites in what is written | {' | '.join(str(sum(int(r['rewrites'] or 0) > 0 for r in p)) for p in parts.values())} |"]  # fmt: skip
    for verdict, name in VERDICTS.items():
        lines.append(f"| {name} | {' | '.join(str(sum(r['verdict'] == verdict for r in p)) for p in parts.values())} |")
    types = {t for r in tried for t in r["types"].split()}
    unusable = sum(r["verdict"] == "unusable" for r in rows)
    return [*lines, "", f"Numbers of models, of {len(types)} operator types; only the third row shall have any; rlgo {revisions_of(rows)}. NNSmith made none for {sum(r['verdict'] == 'not made' for r in rows)} seeds more, "
            f"ONNX Runtime does not run {unusable}. ONNX Runtime's outputs of the original are other than PyTorch's for {sum(bool(r['torch']) for r in tried)}."]  # fmt: skip
