"""--rules takes files, sets, tags and names, and takes away what stands behind a minus."""
import re

from _rlgo import SOURCE, main, rlgo


def chosen(folder, words):
    """names, by proof status"""
    text = rlgo("rules", "list", f"--rules={words}", cwd=folder).stdout
    return {line.split()[0]: line.split()[1] for line in text.splitlines()[1:-1]}


def groups(folder):
    """the table of sets and tags, and what they choose"""
    text = rlgo("rules", "list", "--groups", cwd=folder).stdout
    counts = {m[1]: (int(m[2]), int(m[3])) for m in re.finditer(r"^(\S+) +(\d+) +(\d+)", text, re.M)}
    assert {"base", "runtime", "motion", "winograd", "respell", "generated", "fuse", "conv"} <= set(counts), text
    base = chosen(folder, "base")
    assert len(base) == counts["base"][1] and set(base.values()) == {"proved"}, len(base)
    fuse = chosen(folder, "fuse")
    assert len(fuse) == counts["fuse"][1], len(fuse)
    assert len(chosen(folder, SOURCE / "configs/rules/base.rules")) == counts["base"][0]


def signs(folder):
    """words from left to right; a minus first starts from the default"""
    base, motion = chosen(folder, "base"), chosen(folder, "motion")
    default = chosen(folder, "-unproved")
    assert set(base) | set(motion) <= set(default), len(default)
    assert set(chosen(folder, "-motion")) == set(default) - set(motion)
    assert set(chosen(folder, "base,-conv")) < set(base)
    name = sorted(base)[0]
    assert set(chosen(folder, f"base,-{name}")) == set(base) - {name}
    assert set(chosen(folder, name)) == {name}
    assert set(chosen(folder, "base,tested,unproved")) >= set(base)


def parts(folder):
    """a tag within a set that is not of the default"""
    whole, part = chosen(folder, "generated"), chosen(folder, "generated:4d")
    assert part and set(part) < set(whole), (len(part), len(whole))
    assert set(chosen(folder, "base,generated:4d")) == set(chosen(folder, "base")) | set(part)
    failed = rlgo("rules", "list", "--rules", "generated:5d", cwd=folder, status=2).stderr
    assert "'generated:5d'" in failed, failed


def claims(folder):
    """what a file says of its own proofs is not believed, unless it is a shipped rule; the commands say so"""
    mine = folder / "mine.rules"
    mine.write_text("rule one\n  proof proved made-up-axiom\n  ?y = (neg ?x)\n  => ?y = (abs ?x)\n"
                    "rule two\n  proof tested\n  ?y = (relu (relu ?x))\n  => ?y = (relu ?x)\n")
    printed = rlgo("rules", "list", "--rules", mine, cwd=folder).stderr
    assert chosen(folder, mine) == {"one": "unproved", "two": "unproved"} and "2 rules (one, two) claim" in printed, printed
    assert "claim" in rlgo("search", "--graph", "toy_conv", "--methods", "greedy", "--rules", mine, cwd=folder).stderr
    base = (SOURCE / "configs/rules/base.rules").read_text()
    copy = folder / "copy.rules"
    copy.write_text("# copied\n" + base)
    assert set(chosen(folder, copy).values()) == {"proved"}
    copy.write_text(base.replace("(relu (relu ?x))", "(relu (tanh ?x))"))
    assert [n for n, status in chosen(folder, copy).items() if status == "unproved"] == ["relu-of-relu"]


def bad_input(folder):
    """one line that names the nearest word"""
    failed = rlgo("rules", "list", "--rules", "motoin", cwd=folder, status=2).stderr
    assert "no file, set, tag or rule 'motoin'" in failed and "'motion'" in failed, failed
    failed = rlgo("rules", "list", "--rules", "base,-base", cwd=folder, status=1).stderr
    assert "holds no rule" in failed, failed
    assert "missing.rules" in rlgo("rules", "list", "--rules", "missing.rules", cwd=folder, status=1).stderr


if __name__ == "__main__":
    main(groups, signs, parts, claims, bad_input)
