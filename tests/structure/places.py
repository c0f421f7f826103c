"""What adding a search, a reward, ... touches is what CONTRIBUTING.md says: its table "Add a ..." is checked by an example.

Each row shows one that is there. The sources that name it, by the pattern below, must be exactly the files of the row.
    tests/structure/places.py [FOLDER]
"""

import os
import pathlib
import re
import sys

# By kind: what names the example in sources (of any language), and in which files the example is text of its own.
PATTERNS = {
    "search": r'\bbeam\(|"beam"',
    "option of a search": r"\bbeam_width\b",
    "reward": r"\bR2\b|\bfinal_only\b",
    "agent": r'"model-free"|\bAgent::model_free\b|\bPpoAlgorithm\b',
    "runtime": r"(?i)openvino",
    "rule set": r'"motion(\.rules)?"',
    "operator of one element": r"\bmish\b|\bmish_(kernel|spec)\b",
    "operator of its own shape": r"\btrilu\b|\btrilu_(kernel|spec)\b|\b(convert|write|eval)_trilu\b",
    "zoo graph": r"\bmake_inception_v3\b|RLGO_GRAPH\(inception_v3\)",
    "subcommand": r"\brun_replay\b",
}
# Those whose number of files README's last row of "And then" says: "a search is in 3 files, a reward in 2, ...".
IN_README = ("search", "reward", "agent", "runtime", "rule set")
TOPS = ("core", "actors", "replay", "learner", "launch")


def rows(root):
    """{kind: files} of the table below "Add a ..."."""
    text = (root / "CONTRIBUTING.md").read_text(encoding="utf-8").split("## Add a", 1)[1]
    found = {}
    for line in text.splitlines():
        cells = [c.strip() for c in line.strip("|").split("|")]
        if line.startswith("|") and len(cells) == 3 and cells[0] in PATTERNS:
            found[cells[0]] = set(re.findall(r"`([^`]+)`", cells[2]))
    return found


def sources(root):
    for top in TOPS:
        for path in sorted((root / top).rglob("*")):
            if path.suffix in (".cc", ".h", ".def", ".py", ".txt"):
                yield path.relative_to(root).as_posix(), path.read_text(encoding="utf-8")


def without_comments(path, text):
    cpp = path.endswith((".cc", ".h", ".def"))
    return re.sub(r"//[^\n]*|/\*.*?\*/" if cpp else r"(?m)^\s*#[^\n]*", "", text, flags=re.S if cpp else 0)


def problems(root):
    root = pathlib.Path(root)
    reported = rows(root)
    for kind in sorted(PATTERNS.keys() - reported.keys()):
        yield f'CONTRIBUTING.md: no row "{kind}" in the table of "Add a ..."'
    texts = {path: without_comments(path, text) for path, text in sources(root)}
    for kind, files in reported.items():
        named = {path for path, text in texts.items() if re.search(PATTERNS[kind], text)}
        own = {f for f in files if not re.search(PATTERNS[kind], texts.get(f, ""))}
        for path in sorted(own):
            if path in texts or not (root / path).exists():
                yield f"CONTRIBUTING.md: a {kind} does not touch {path}, or it is gone"
        for path in sorted(named - files):
            yield f"{path}: a {kind} is named here too; CONTRIBUTING.md does not say so"
    readme = (root / "README.md").read_text(encoding="utf-8")
    for kind in IN_README:
        if not re.search(rf"\ban? {kind} (is )?in {len(reported.get(kind, ()))}\b", readme):
            yield f'README.md: "{kind}" is in {len(reported.get(kind, ()))} files; it does not say so'


def main():
    found = list(problems(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("RLGO_SOURCE", ".")))
    print("\n".join(found) or "adding touches what CONTRIBUTING.md says")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
