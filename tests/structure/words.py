"""Pages, settings, help and comments say what is meant: no word that points at papers which a reader does not have, and none
of names that were given up.

    tests/structure/words.py [FOLDER]
"""

import os
import pathlib
import re
import sys

TOPS = ("core", "actors", "replay", "learner", "launch", "tests", "configs", "docs", "results")
ENDINGS = {".cc", ".h", ".def", ".py", ".sh", ".md", ".cfg", ".cmake", ".txt", ".tsv", ".rules"}
PAGES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "CMakeLists.txt")

# In all text. Papers are cited by their authors and year.
POINTERS = re.compile(r"\b[Ss]pecification\b|\b(SPEC|DESIGN|HOUSE|SOUNDNESS|LEARNING|RESEARCH|RULEGEN|STYLE)(\.md|\b(?= \d))")
# In C++, also as a part of a longer name: what replaced it. Words in file formats and in quotes stay.
REPLACED = {
    "Lin": "ExtentId", "LinPool": "ExtentPool", "lins": "extents", "LiftStyle": "RuleStyle", "LeafPlan": "InputValues",
    "Proposer": "RandomAttributes", "ForeignRule": "TasoRule", "ForeignTerm": "TasoTerm", "Guard": "Condition",
    "guards": "conditions", "brain": "algorithm", "oracle": "cost server", "story": "result", "sight": "check coverage",
    "seal": "checksum", "roster": "actor registry", "ranker": "policy prior", "xfer": "rule", "price_us": "cost_us",
}


def texts(root):
    for top in TOPS:
        for path in sorted((root / top).rglob("*")):
            if path.suffix in ENDINGS and "__pycache__" not in path.parts:
                yield path.relative_to(root).as_posix(), path.read_text(encoding="utf-8", errors="replace")
    for page in PAGES:
        yield page, (root / page).read_text(encoding="utf-8")


def problems(root):
    replaced = re.compile(r"\b(" + "|".join(REPLACED) + r")\b")
    for path, text in texts(pathlib.Path(root)):
        if path == "tests/structure/words.py":
            continue
        code = path.endswith((".cc", ".h", ".def"))
        for number, line in enumerate(text.splitlines(), 1):
            for match in POINTERS.finditer(line):
                yield f"{path}:{number}: `{match.group()}`: say what is meant, or cite the paper"
            for match in replaced.finditer(re.sub(r'"(?:\\.|[^"\\])*"', '""', line) if code else ""):
                yield f"{path}:{number}: `{match.group()}` is called {REPLACED[match.group()]}"


def main():
    found = list(problems(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("RLGO_SOURCE", ".")))
    print("\n".join(found) or "no word points at what a reader does not have")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
