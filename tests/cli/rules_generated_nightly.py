"""rlgo rules generate: the shipped generated set is what the command in its header makes, rule for rule."""
import re
import shlex
import shutil

from _rlgo import SOURCE, main, rlgo

SHIPPED = "configs/rules/generated.rules"


def content(text):
    """the hash of the rules, as the header has it"""
    return re.search(r"^# content ([0-9a-f]{16})$", text, re.M)[1]


def made_anew(folder):
    """the command is run as it stands there, next to copies of the files that it reads"""
    shipped = (SOURCE / SHIPPED).read_text()
    words = shlex.split(re.search(r"^#   rlgo (rules generate .*)$", shipped, re.M)[1])
    shutil.copytree(SOURCE / "configs/rules", folder / "configs/rules")
    (folder / SHIPPED).unlink()
    rlgo(*words, cwd=folder, timeout=6000)
    made = (folder / SHIPPED).read_text()
    assert content(made) == content(shipped), (content(made), content(shipped))
    assert made == shipped


if __name__ == "__main__":
    main(made_anew)
