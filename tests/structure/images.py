"""The images and set-up install the same packages: those of launch/packages.txt, and no others. What an installed rlgo links is
among them; what the recipes copy is there; their commands are valid shell; who uses images names them.

    tests/structure/images.py [FOLDER]
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

RECIPES = {"launch/images/Dockerfile": 2, "launch/images/rlgo.def": 2, "launch/images/wheel.Dockerfile": 1}  # their stages
NAMED_BY = {"launch/scripts/mpijob.yaml": "launch/images/Dockerfile", "launch/scripts/slurm-train.sh": "launch/images/in-image.sh"}
IN_EVERY_IMAGE = {"libc6", "libgcc-s1"}
INSTALL = re.compile(r"apt-get install ([^&|;\n]*)")


def groups(root):
    found = {}
    for line in (root / "launch/packages.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            group, *packages = line.split()
            found.setdefault(group, []).extend(packages)
    return found


def shell_of(path, text):
    """The commands that a recipe runs, a script each."""
    if path.endswith("Dockerfile"):
        return re.findall(r"^RUN ((?:.*\\\n)*.*)$", text, re.M)
    return re.findall(r"^%(?:post|test|runscript|environment)\n((?:    .*\n|\n)*)", text, re.M)


def copied(path, text):
    """Files of the sources that a recipe copies."""
    if path.endswith("Dockerfile"):
        for line in re.findall(r"^COPY (?!--from|dist/)(.*)$", text, re.M):
            yield from line.split()[:-1]
    else:
        for block in re.findall(r"^%files from build\n((?:    .*\n)*)", text, re.M):
            yield from (line.split()[0].removeprefix("/src/") for line in block.splitlines() if line.strip().startswith("/src/"))


def installs(path, text, known):
    for arguments in INSTALL.findall(text):
        words = re.sub(r"\$\(\S*packages\.sh ([^)]*)\)", "", arguments).split()
        for word in words:
            if not word.startswith("-"):
                yield f"{path}: installs {word}, which is not from launch/packages.txt"
        asked = " ".join(re.findall(r"packages\.sh ([^)]*)\)", arguments)).split()
        if not asked:
            yield f"{path}: an apt-get install that does not ask launch/scripts/packages.sh"
        for group in asked:
            if group not in known:
                yield f"{path}: no group {group} in launch/packages.txt"


def problems(root):
    known = groups(root)
    for group, packages in known.items():
        for package in sorted({p for p in packages if packages.count(p) > 1}):
            yield f"launch/packages.txt: {package} stands twice in {group}"
        reported = subprocess.run([root / "launch/scripts/packages.sh", group], capture_output=True, text=True, env={"PATH": "/usr/bin:/bin"}).stdout
        if reported.split() != packages:
            yield f"launch/scripts/packages.sh {group} prints other packages than the list has"
    for path, stages in RECIPES.items():
        text = (root / path).read_text(encoding="utf-8")
        yield from installs(path, text, known)
        if len(INSTALL.findall(text)) != stages:
            yield f"{path}: expected one apt-get install in each stage"
        scripts = shell_of(path, text)
        if not scripts:
            yield f"{path}: runs nothing"
        for script in scripts:
            checked = subprocess.run(["bash", "-n"], input=script, capture_output=True, text=True)
            if checked.returncode != 0:
                yield f"{path}: {checked.stderr.strip()}"
            for name in re.findall(r"(?<![\w/])launch/\S+?\.sh", script):
                if not os.access(root / name, os.X_OK):
                    yield f"{path}: runs {name}, which is no program"
        for name in copied(path, text):
            if not (root / name).exists():
                yield f"{path}: copies {name}, which is not there"
    if "packages.sh" not in (root / "launch/scripts/setup.sh").read_text(encoding="utf-8"):
        yield "launch/scripts/setup.sh: does not read launch/packages.txt"
    for path, name in NAMED_BY.items():
        if name not in (root / path).read_text(encoding="utf-8"):
            yield f"{path}: does not name {name}"
    yield from unmet(known.get("run", []))


def unmet(packages):
    """Libraries that the program links directly and no package of the list brings. Nothing where there is no program or dpkg."""
    program = os.environ.get("RLGO_BINARY", "")
    if not os.path.exists(program) or not shutil.which("dpkg-query"):
        return
    needed = set(re.findall(r"NEEDED.*\[(.*)\]", subprocess.run(["readelf", "-d", program], capture_output=True, text=True).stdout))
    for line in subprocess.run(["ldd", program], capture_output=True, text=True).stdout.splitlines():
        words = line.split()
        if len(words) < 3 or words[0] not in needed or not words[2].startswith(("/lib", "/usr/lib")):
            continue
        owner = ""
        for path in {words[2], os.path.realpath(words[2]), "/usr" + words[2], os.path.realpath(words[2]).removeprefix("/usr")}:
            owner = owner or subprocess.run(["dpkg-query", "-S", path], capture_output=True, text=True).stdout.split(":")[0]
        if owner and owner not in packages and owner not in IN_EVERY_IMAGE:
            yield f"launch/packages.txt: rlgo links {words[0]}, of {owner}, which is not in group run"


def main():
    found = list(problems(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("RLGO_SOURCE", "."))))
    print("\n".join(found) or "images and set-up install the packages of the list")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
