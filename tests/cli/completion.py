"""rlgo completion and rlgo man: every command and option is in them, with the values of those that have a choice."""
import functools
import re
import shutil
import subprocess

from _rlgo import main, rlgo

WORDS = {"rules": ("list", "show", "axioms", "generate", "fires", "check", "verify", "import", "cover", "soundness", "bench"), "bench": ("scale", "growth", "same", "profile", "groups", "kernels", "verify", "rules")}


def commands(folder):
    names = re.findall(r"^  ([a-z]+) +\S", rlgo("help", cwd=folder).stdout.split("commands:")[1], re.M)
    return [name for name in names if name != "rules"] + [f"{name} {sub}" for name, subs in WORDS.items() for sub in subs]


@functools.cache
def options(command):
    """names as --help-all prints them, and the choices of those that have some"""
    text = rlgo(*command.split(), "--help-all", cwd="/").stdout
    found = {}
    for line in text.splitlines():
        if not line.startswith("  --"):
            continue
        names = re.match(r"  ((?:--[a-z.-]+(?:, )?)+)", line)[1].split(", ")
        choice = re.search(r"\[([a-z0-9_A-Z-]+(?: \| [a-z0-9_A-Z-]+)+)\]", line)
        found |= {name: choice[1].split(" | ") if choice else [] for name in names}
    return found


def completes(script, folder, line):
    """What bash offers behind `line`."""
    call = f"source {script}; COMP_WORDS=({' '.join(repr(w) for w in line)}); COMP_CWORD={len(line) - 1}; _rlgo; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    done = subprocess.run(["bash", "-c", call], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return set(done.stdout.split())


def bash(folder):
    """bash offers commands, subcommands, every option of the command, and the values of a choice"""
    script = folder / "rlgo.bash"
    script.write_text(rlgo("completion", "bash", cwd=folder).stdout)
    assert {"train", "optimise", "man", "rules"} <= completes(script, folder, ["rlgo", ""])
    assert completes(script, folder, ["rlgo", "opt"]) == {"optimise"}
    for name, subs in WORDS.items():
        assert completes(script, folder, ["rlgo", name, ""]) == set(subs), name
    checked = 0
    for command in commands(folder):
        shown = options(command)
        offered = completes(script, folder, ["rlgo", *command.split(), "--"])
        assert set(shown) | {"--help", "--help-all"} <= offered, (command, sorted(set(shown) - offered))
        for option in [o for o, choices in shown.items() if choices][:2]:
            assert set(shown[option]) == completes(script, folder, ["rlgo", *command.split(), option, ""]), (command, option)
            checked += 1
    assert checked > 10
    assert "--budget" in completes(script, folder, ["rlgo", "optimize", "--bud"])
    assert completes(script, folder, ["rlgo", "--agent", "model-b"]) == {"model-based"}  # without a command: train
    assert completes(script, folder, ["rlgo", "completion", ""]) == {"bash", "zsh"}


def zsh(folder):
    """the script for zsh has every option of each command in that command's case; zsh reads it where there is one"""
    text = rlgo("completion", "zsh", cwd=folder).stdout
    assert text.startswith("#compdef rlgo\n")
    for command in commands(folder):
        case = next(line for line in text.splitlines() if line.startswith(f"    '{command}') options="))
        for option in options(command):
            assert f"'{option}:" in case, (command, option)
    (folder / "_rlgo").write_text(text)
    if shutil.which("zsh"):
        subprocess.run(["zsh", "-n", "_rlgo"], cwd=folder, check=True)


def man(folder):
    """the page has every command and option, and groff has nothing to complain of"""
    text = rlgo("man", cwd=folder).stdout
    for command in commands(folder):
        begin = text.index(f".SS rlgo {command}\n".replace("-", "\\-"))
        section = text[begin : text.find("\n.SS ", begin + 1)]
        for option in options(command):
            assert f"\\fB{option}\\fR".replace("-", "\\-") in section, (command, option)
    assert "/root" not in text and "EXIT STATUS" in text
    if shutil.which("groff"):
        done = subprocess.run(["groff", "-man", "-Tutf8", "-ww"], input=text, capture_output=True, text=True)
        assert done.returncode == 0 and not done.stderr, done.stderr


def wrong_words(folder):
    """one line, status 2"""
    assert "bash or zsh" in rlgo("completion", "fish", cwd=folder, status=2).stderr
    assert "unexpected 'x'" in rlgo("man", "x", cwd=folder, status=2).stderr


if __name__ == "__main__":
    main(bash, zsh, man, wrong_words)
