"""Text files from any editor: a byte order mark and Windows' line ends are no part of the text; UTF-16 is named."""
from _rlgo import SOURCE, main, rlgo

RULES = SOURCE / "configs/rules/base.rules"
PROFILE = SOURCE / "configs/costs/cpu.cost"


def files(folder):
    """name of a file -> (its text, the command that reads it)"""
    rlgo("search", "--graph", "toy_conv", "--methods", "greedy", "--out", folder / "found", cwd=folder)
    (trace,) = (folder / "found").glob("*.trace")
    return {
        "a.rules": (RULES.read_text(), ["rules", "list", "--rules", "a.rules"]),
        "b.rules": (RULES.read_text(), ["rules", "verify", "b.rules", "--only", "relu-of-relu"]),
        "a.cost": (PROFILE.read_text(), ["search", "--graph", "toy_conv", "--methods", "greedy", "--cost", "analytic", "--cost.profile", "./a.cost"]),
        "a.cfg": ("epochs = 1\n", ["train", "--config", "a.cfg", "--graph", "toy_conv", "--agent", "random", "--train.steps-per-epoch", "4"]),
        "a.trace": (trace.read_text(), ["replay", "--graph", "toy_conv", "--trace", "a.trace", "--price-only"]),
    }


def are_read(folder):
    """what an editor on Windows writes"""
    for name, (text, command) in files(folder).items():
        (folder / name).write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
        rlgo(*command, cwd=folder)


def are_named(folder):
    """UTF-16: status 1, and what to do"""
    for name, (text, command) in files(folder).items():
        (folder / name).write_bytes(text.encode("utf-16"))
        printed = rlgo(*command, cwd=folder, status=1).stderr
        assert name in printed and "save it as UTF-8" in printed, printed


if __name__ == "__main__":
    main(are_read, are_named)
