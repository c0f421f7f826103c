#!/usr/bin/env python3
"""How often optimisers of ONNX models fail, after OODTE (Louloudakis and Rajan 2025): each model goes through each tool, the result is compared with
the original in ONNX Runtime.

Models: those of ONNX's own tests (onnx/backend/test/data: one operator or a few, with inputs), and public ones (tests/interop/_models.py:
what PyPI packages ship, ONNX's light models). Each gets doc strings and metadata_props first, so that there is something to lose.

    oodte.py [--rlgo BINARY] [--out FILE] [--every N] [--seconds S] [--jobs J] [--until-s S] [GROUP ...]

GROUP: backend, public (both). FILE (results/oodte.csv) has a line a model, appended as soon as it is done; what is in it is not tried again, but for faults of
another revision of rlgo.
--every N: each Nth of the backend models. --until-s ends a call in time, with status 75 where models are left. results/pages.py makes the
table of results/oodte.md of it. rlgo runs with --force: it writes its best candidate even where that is not shown to be faster.

Letters of a tool's column: f it fails (crash, error, refuses its own result), i the result is invalid (ONNX's checker or ONNX Runtime
refuses it), d an output differs beyond the runtime's own error (tests/interop/_own_error.py), n a name of an input or output is lost,
m metadata is lost (doc strings, metadata_props, version of an operator set), g the file grows by more than 1 % and 4 KiB; =: left as it is.
"""
import argparse
import concurrent.futures
import csv
import multiprocessing
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

import onnx

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "interop"))
import _models  # noqa: E402
import _onnx_cases  # noqa: E402
import peers  # noqa: E402
from _own_error import LEVELS, OwnError  # noqa: E402
from _sessions import session  # noqa: E402
from rlgo_results.where import revision  # noqa: E402

TOOLS = ["onnxsim", "onnxslim", "onnxoptimizer", "ort-offline", "rlgo"]
COLUMNS = ["group", "model", *TOOLS, "note", "revision"]
LIMIT_S = {"backend": 120, "public": 900}
ROUNDS = {"backend": 8, "public": 3}  # of noise
GROWTH = 1.01, 4096  # times, and bytes


class Worker:
    """A process that calls functions until one of them crashes or takes too long; then another."""

    process = None

    def call(self, limit_s, function, *arguments):
        if self.process is None or not self.process.is_alive():
            context = multiprocessing.get_context("spawn")
            self.pipe, theirs = context.Pipe()
            self.process = context.Process(target=serve, args=(theirs,), daemon=True)
            self.process.start()
            theirs.close()
        self.pipe.send((function, arguments))
        if not self.pipe.poll(limit_s):
            self.process.kill()
            self.process.join()
            raise RuntimeError(f"not ended after {limit_s} s")
        try:
            good, value = self.pipe.recv()
        except EOFError:
            self.process.join()
            raise RuntimeError(f"ended by status {self.process.exitcode}") from None
        if not good:
            raise RuntimeError(value)
        return value


def serve(pipe):
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    while True:
        function, arguments = pipe.recv()
        try:
            pipe.send((True, function(*arguments)))
        except Exception as error:  # of any kind: it is this tool's result
            pipe.send((False, f"{type(error).__name__}: {' '.join(str(error).split())}"[:300]))


# ---- what is compared -------------------------------------------------------------------------------------------------


def with_metadata(model):
    graph = model.graph
    for part, name in ((model, "model"), (graph, "graph"), *((v, v.name) for v in [*graph.input, *graph.output])):
        part.doc_string = part.doc_string or f"about {name}"
    for tensor in graph.initializer:
        tensor.doc_string = tensor.doc_string or f"about {tensor.name}"
    for part in (model, graph) if model.ir_version >= 10 else (model,):
        part.metadata_props.add(key="licence", value="unknown")
    return model


def metadata(model):
    """{what: text}: what a result must still have, of weights as long as it has one of that name."""
    graph = model.graph
    found = {"model's doc string": model.doc_string, "graph's doc string": graph.doc_string}
    found |= {f"doc string of {v.name}": v.doc_string for v in [*graph.input, *graph.output]}
    found |= {f"{kind} {p.key}": p.value for kind, part in (("model's", model), ("graph's", graph)) for p in part.metadata_props}
    used = {n.domain or "ai.onnx" for n in graph.node}
    return found | {f"operator set {o.domain or 'ai.onnx'}": o.version for o in model.opset_import if (o.domain or "ai.onnx") in used}


def lost_metadata(before, after):
    """Texts of weights that are still there count, too."""
    old, new = metadata(before), metadata(after)
    used = {n.domain or "ai.onnx" for n in after.graph.node}
    lost = [what for what, text in old.items() if new.get(what) != text and not (what.startswith("operator set") and what.split()[-1] not in used)]
    kept = {t.name: t.doc_string for t in after.graph.initializer}
    return lost + [f"doc string of weight {t.name}" for t in before.graph.initializer if kept.get(t.name, t.doc_string) != t.doc_string]


def names(model):
    given = {i.name for i in model.graph.initializer}
    return [v.name for v in model.graph.input if v.name not in given], [v.name for v in model.graph.output]


def checked(model_or_path):
    onnx.checker.check_model(model_or_path, full_check=True)


known = {}  # of the last model: path -> (OwnError, [(feeds, outputs by level, how far rounding moves them)], does the checker take it?)


def original(source, sets, rounds):
    """How many sets of inputs it runs with. Raises where ONNX Runtime does not load it."""
    own, runs, valid = OwnError(source, rounds), [], True
    for feeds in sets:
        try:
            runs.append((feeds, *own.outputs(feeds)))
        except Exception:  # not with these sizes
            continue
    try:
        checked(source)
    except Exception:  # nobody can make a valid one of it
        valid = False
    known.clear()
    known[source] = own, runs, valid
    return len(runs)


def judged(source, sets, target, rounds):
    """(letters, note) of a result."""
    if source not in known:
        original(source, sets, rounds)
    own, runs, valid = known[source]
    before, after = onnx.load(source), onnx.load(target)
    letters, notes = "", []

    def fault(letter, note):
        nonlocal letters
        letters += letter
        notes.append(note)

    try:
        if valid:
            checked(target)
        sessions = {level: session(target, at) for level, at in LEVELS.items()}
        for feeds, expected, moved in runs:
            for level, one in sessions.items():
                # Like names, like places: a tool that renames an output is charged for that alone.
                wrong, _ = own.what_differs(expected[level], moved, one.run(None, feeds))
                if wrong and "d" not in letters:
                    fault("d", wrong)
    except Exception as error:
        fault("i", " ".join(str(error).split())[:200])
    if names(before) != names(after):
        fault("n", f"{names(before)} became {names(after)}"[:200])
    if lost := lost_metadata(before, after):
        fault("m", "lost: " + ", ".join(lost[:3]))
    sizes = [pathlib.Path(p).stat().st_size for p in (source, target)]
    if sizes[1] > max(GROWTH[0] * sizes[0], sizes[0] + GROWTH[1]):
        fault("g", f"{sizes[0]} bytes became {sizes[1]}")
    return letters or ("=" if peers.same_model(source, target) else ""), "; ".join(notes)


# ---- run --------------------------------------------------------------------------------------------------------------


def by_rlgo(source, target, name, limit_s, args):
    sizes = [word for key, size in _models.SIZES.get(name, {}).items() if size > 1 for word in ("--size", f"{key}={size}")]
    command = [args.rlgo, "optimise", source, "-o", target, "--force", "--seconds", args.seconds, "--switches", "no", "--cost.folder", f"{target}.costs",
               "--target", "onnxruntime", "--target.python", sys.executable, *sizes]  # fmt: skip
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=limit_s)
    if done.returncode not in (0, 3):
        raise RuntimeError(f"status {done.returncode}: {' '.join((done.stdout + done.stderr).split())[-300:]}")


def result_of(tool, workers, source, sets, group, name, args):
    """(letters, note)"""
    target, limit_s = str(pathlib.Path(source).with_name(f"{tool}.onnx")), LIMIT_S[group]
    try:
        if tool == "rlgo":
            by_rlgo(source, target, name, limit_s, args)
        else:
            workers[tool].call(limit_s, peers.MAKERS[tool], source, target, None)
    except Exception as error:  # of any kind: it is this tool's result
        return "f", str(error)
    if not pathlib.Path(target).exists():
        return "=", ""
    try:
        return workers["judge"].call(limit_s, judged, source, sets, target, ROUNDS[group])
    except RuntimeError as error:
        return "i", f"ONNX Runtime with the result: {error}"


def models(groups, every):
    """(group, name, path, sets of inputs)"""
    if "public" in groups:
        for _, name, path in sorted(_models.corpus(("light", "pypi", "more"), fetch=False), key=lambda m: m[2].stat().st_size):
            yield "public", name, path, lambda path=path, name=name: [_models.feeds(onnx.load(path), name, position=k) for k in range(2)]
    if "backend" in groups:
        for case in _onnx_cases.cases()[::every]:
            yield "backend", f"{case.parent.name}/{case.name}", case / "model.onnx", lambda case=case: list(_onnx_cases.feeds_of(case, onnx.load(case / "model.onnx")))


def row_of(group, name, path, sets, workers, args):
    with tempfile.TemporaryDirectory() as folder:
        source = f"{folder}/model.onnx"
        onnx.save(with_metadata(onnx.load(path)), source)
        try:
            given = sets()
            runs = workers["judge"].call(LIMIT_S[group], original, source, given, ROUNDS[group])
        except Exception:
            runs = 0
        if runs == 0:
            return {"note": "not run: ONNX Runtime does not take the original"}
        found = {tool: result_of(tool, workers, source, given, group, name, args) for tool in TOOLS}
    row = {tool: letters for tool, (letters, _) in found.items()}
    return row | {"note": " | ".join(f"{tool}: {note}" for tool, (letters, note) in found.items() if note and (tool == "rlgo" or set(letters) & set("fidn")))[:900]}


own = threading.local()


def workers_here():
    if not hasattr(own, "workers"):
        own.workers = {tool: Worker() for tool in [*TOOLS, "judge"]}
    return own.workers


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("groups", nargs="*", default=["public", "backend"], metavar="GROUP")
    parser.add_argument("--rlgo", default=str(ROOT / "build" / "release" / "rlgo"))
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "results" / "oodte.csv")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1, help="time of each rlgo optimise")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--until-s", type=float, default=float("inf"))
    args = parser.parse_args()
    if missing := peers.missing_peers(TOOLS):
        sys.exit(f"{', '.join(missing)}: not installed: RLGO_SETUP_REFERENCES=1 launch/scripts/setup.sh")
    args.revision = revision(args.rlgo)
    rows = list(csv.DictReader(open(args.out, encoding="utf-8"))) if args.out.exists() else []
    kept = [r for r in rows if r["rlgo"] in ("", "=") or r["revision"] == args.revision]
    done = {(r["group"], r["model"]) for r in kept}
    left, late, start = [m for m in models(args.groups, args.every) if m[:2] not in done], 0, time.monotonic()
    tried = lambda model: None if time.monotonic() - start > args.until_s else row_of(*model, workers_here(), args)
    with open(args.out, "w", newline="", encoding="utf-8") as out, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(kept)
        out.flush()
        futures = {pool.submit(tried, model): model for model in left}
        for future in concurrent.futures.as_completed(futures):
            row, (group, name, *_) = future.result(), futures[future]
            if row is None:
                late += 1
                continue
            writer.writerow(row | {"group": group, "model": name, "revision": args.revision})
            out.flush()
            print(group, name, " ".join(f"{t}:{row.get(t, '')}" for t in TOOLS), row["note"][:200], flush=True)
    print(f"{late} models are left: call again" if late else "all models are tried")
    return 75 if late else 0


if __name__ == "__main__":
    sys.exit(main())
