"""Every file, folder and link that README.md, CONTRIBUTING.md and docs/ name is there, architecture.md has every module,
and the README stays short.

    tests/structure/named_files.py [FOLDER]
"""

import os
import pathlib
import re
import sys

PAGES = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", *sorted(f"docs/{p.name}" for p in pathlib.Path(
    os.environ.get("RLGO_SOURCE", "."), "docs").glob("*.md"))]
TOPS = "core|actors|replay|learner|launch|tests|docs|results|configs"
README_LINES = 80


def names_in(text):
    """What looks like a path of the repository: a link's target, or words like core/ops/op.h; FILE and * stand for any."""
    text = re.sub(r"https?://\S+", "", text)
    for match in re.finditer(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", text):
        yield "link", match.group(1)
    for match in re.finditer(rf"(?<![\w/.~-])(?:{TOPS})/[\w./*{{}},-]*", text):
        yield "path", match.group().rstrip(".,-/")


def braces(name):
    """core/ops/a.{h,cc} as its two names."""
    match = re.search(r"\{([^}]*)\}", name)
    if not match:
        return [name]
    return [n for part in match.group(1).split(",") for n in braces(name[: match.start()] + part + name[match.end():])]


def problems(root):
    root = pathlib.Path(root)
    for page in PAGES:
        text = (root / page).read_text(encoding="utf-8")
        for kind, name in names_in(text):
            if re.search(r"[A-Z]{3,}", pathlib.PurePath(name).stem) and not name.endswith(".md"):
                continue  # core/search/NAME.cc
            for one in braces(name):
                base = (root / page).parent if kind == "link" else root
                if not any(base.glob(one)) if "*" in one else not (base / one).exists():
                    yield f"{page}: {one} does not exist"
    architecture = (root / "docs/architecture.md").read_text(encoding="utf-8")
    for row in (root / "launch/modules.tsv").read_text(encoding="utf-8").splitlines():
        if row and not row.startswith("#") and f"| `{row.split()[0]}` |" not in architecture:
            yield f"docs/architecture.md: no row for the module {row.split()[0]}"
    lines = len((root / "README.md").read_text(encoding="utf-8").splitlines())
    if lines >= README_LINES:
        yield f"README.md: {lines} lines; fewer than {README_LINES}"


def main():
    found = sorted(set(problems(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("RLGO_SOURCE", "."))))
    print("\n".join(found) or "every file that the pages name is there")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
