"""rlgo rules axioms: every axiom holds at extents up to 2, every false one is refuted, and a wrong file fails."""
import re

from _rlgo import SOURCE, main, rlgo


def shipped(folder):
    """all of them, with nothing left open; equalities of order by Z3"""
    text = rlgo("rules", "axioms", "--dims", "2", "--tries", "1000", cwd=folder).stdout
    total = re.search(r"^(\d+) of (\d+) hold .* (\d+) of them equal as exact polynomials, (\d+) proved equal by Z3", text, re.M)
    assert total[1] == total[2] and int(total[1]) >= 290 and int(total[4]) > 0, total[0]
    assert re.search(r"^sqrt-square +holds .* proved by Z3$", text, re.M), text
    assert "seen neither" not in text and "unknown" not in text
    few = [line for line in text.splitlines() if (n := re.search(r" (\d+) instances", line)) and int(n[1]) < 200]
    assert not few, few  # each axiom at 200 places at least


def false_ones(folder):
    """conventions and side conditions gone wrong"""
    file = SOURCE / "tests/data/rules/false-axioms.rules"
    text = rlgo("rules", "axioms", "--dims", "3", "--expect-false", "--rules", file, cwd=folder).stdout
    total = re.search(r"^(\d+) of (\d+) refuted", text, re.M)
    assert total[1] == total[2] and int(total[1]) >= 40, text
    failed = rlgo("rules", "axioms", "false-abs-is-relu", "--rules", file, cwd=folder, status=1).stdout
    assert re.search(r"^false-abs-is-relu +false .*\nleft: graph", failed, re.M), failed


def used_by(folder):
    """how often axioms stand in proofs, which in none; a name that is no axiom fails"""
    rules = folder / "two.rules"
    rules.write_text("rule one\n  proof proved relu-relu commutativity\n  ?y = (relu (relu ?x))\n  => ?y = (relu ?x)\n\n"
                     "rule two\n  proof proved relu-relu add-zero\n  ?y = (relu (relu (add ?x 0)))\n  => ?y = (relu ?x)\n")
    text = rlgo("rules", "axioms", "--used-by", rules, cwd=folder).stdout
    assert re.search(r"^relu-relu +2$", text, re.M) and re.search(r"^add-zero +1$", text, re.M), text
    assert re.search(r"^in no proof: .*\bmatmul-associate\b", text, re.M), text
    assert re.search(r"^2 of \d+ axioms stand in the 2 proofs of 1 files", text, re.M), text
    rules.write_text(rules.read_text().replace("add-zero", "add-nought"))
    failed = rlgo("rules", "axioms", "--used-by", rules, cwd=folder, status=1).stdout
    assert "two.rules:6: the proof of 'two' names 'add-nought', which is no axiom" in failed, failed


def shipped_proofs(folder):
    """the proofs of the shipped files name axioms of today"""
    files = [SOURCE / f"configs/rules/{name}.rules" for name in ("base", "runtime", "motion", "winograd", "generated", "coverage")]
    rlgo("rules", "axioms", "--used-by", ",".join(map(str, files)), cwd=folder)


if __name__ == "__main__":
    main(shipped, false_ones, used_by, shipped_proofs)
