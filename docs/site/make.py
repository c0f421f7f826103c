#!/usr/bin/env python3
"""The documentation site: docs/site/make.py FOLDER [--rlgo PROGRAM]. Needs mkdocs-material; a broken link or anchor is an error.

Pages are those of the repository, where they stand. Made here: the options of each command, from `rlgo COMMAND --help-all`, and the
Python API, from the docstrings of the package in the program's build tree.
"""

import argparse
import ast
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = ["CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "docs/*.*", "docs/rules/*.svg", "examples/*.*", "results/**/*.md", "results/**/*.svg", "results/**/*.png", "results/**/*.csv", "results/**/*.tsv"]


def gather(stage):
    for pattern in PAGES:
        for path in ROOT.glob(pattern):
            target = stage / path.relative_to(ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
    shutil.copyfile(ROOT / "README.md", stage / "index.md")
    for page in stage.rglob("*.md"):
        text = page.read_text()
        up = os.path.relpath(stage, page.parent)
        page.write_text(re.sub(r"\]\((\.\./)+README\.md", f"]({up}/index.md", text))


def command(program, *words):
    return subprocess.run([program, *words], capture_output=True, text=True, check=True).stdout


def commands_page(program):
    names = re.findall(r"^  (\w+) +\S", command(program, "--help").partition("\ncommands:\n")[2].partition("\n\n")[0], re.M)
    out = ["# Commands and options", "", "What each command prints with `--help-all`. What results look like: [the command line](../docs/cli.md).", ""]
    for name in names:
        out += [f"## rlgo {name}", "", "```text", command(program, name, "--help-all").rstrip(), "```", ""]
    return "\n".join(out)


def documented(body, prefix=""):
    """(heading, signature, docstring) of public classes and functions, in the order of the file."""
    for node in body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and not node.name.startswith("_") and ast.get_docstring(node):
            if isinstance(node, ast.ClassDef):
                fields = [ast.unparse(n) for n in node.body if isinstance(n, ast.AnnAssign) and not ast.unparse(n.target).startswith("_")]
                yield prefix + node.name, "\n".join([f"class {node.name}:", *(f"    {f}" for f in fields)]) if fields else f"class {node.name}", ast.get_docstring(node)
                yield from documented(node.body, f"{prefix}{node.name}.")
            else:
                returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
                yield prefix + node.name, f"{node.name}({ast.unparse(node.args)}){returns}", ast.get_docstring(node)


def python_page():
    package = ROOT / "launch" / "python" / "rlgo"
    out = ["# Python API", "", "Made of the package's docstrings. A tour with examples: [the Python package](../docs/python.md).", ""]
    for file in sorted(package.rglob("*.py")):
        tree = ast.parse(file.read_text())
        items = list(documented(tree.body))
        if not items:
            continue
        module = ".".join(["rlgo", *(p for p in file.relative_to(package).with_suffix("").parts if not p.startswith("_"))])
        for name, signature, text in items:
            out += [f"## {module}.{name}", "", "```python", signature, "```", "", "```text", text, "```", ""]
    return "\n".join(out)


def results_page(stage):
    out = ["# Results", "", "Every page of recorded results; each names the command that made it.", ""]
    for page in sorted((stage / "results").rglob("*.md")):
        title = next((line[2:] for line in page.read_text().splitlines() if line.startswith("# ")), page.stem)
        out.append(f"- [{title}](../{page.relative_to(stage)})")
    return "\n".join(out) + "\n"


def left_out():
    """Pages of docs/ that the navigation does not name."""
    named = (ROOT / "docs/site/mkdocs.yml").read_text()
    return [path.name for path in sorted((ROOT / "docs").glob("*.md")) if f" docs/{path.name}\n" not in named]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path, help="where the site is written")
    parser.add_argument("--rlgo", default=str(ROOT / "build/release/rlgo"), help="the program whose options are listed")
    options = parser.parse_args()
    if not os.access(options.rlgo, os.X_OK):
        sys.exit(f"{options.rlgo}: no such program; build rlgo, or name one with --rlgo")
    if missing := left_out():
        sys.exit(f"docs/site/mkdocs.yml: its navigation lacks {', '.join(missing)}")
    with tempfile.TemporaryDirectory() as folder:
        stage = pathlib.Path(folder) / "pages"
        stage.mkdir()
        gather(stage)
        (stage / "reference").mkdir()
        (stage / "reference/commands.md").write_text(commands_page(options.rlgo))
        (stage / "reference/python.md").write_text(python_page())
        (stage / "reference/results.md").write_text(results_page(stage))
        config = pathlib.Path(folder) / "mkdocs.yml"
        config.write_text((ROOT / "docs/site/mkdocs.yml").read_text() + f"docs_dir: {stage}\nsite_dir: {options.folder.resolve()}\n")
        environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
        return subprocess.run([sys.executable, "-m", "mkdocs", "build", "--strict", "--config-file", config], env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
