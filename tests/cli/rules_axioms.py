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


def false_ones(folder):
    """conventions and side conditions gone wrong"""
    file = SOURCE / "tests/data/rules/false-axioms.rules"
    text = rlgo("rules", "axioms", "--dims", "3", "--expect-false", "--rules", file, cwd=folder).stdout
    total = re.search(r"^(\d+) of (\d+) refuted", text, re.M)
    assert total[1] == total[2] and int(total[1]) >= 29, text
    failed = rlgo("rules", "axioms", "false-abs-is-relu", "--rules", file, cwd=folder, status=1).stdout
    assert re.search(r"^false-abs-is-relu +false .*\nleft: graph", failed, re.M), failed


if __name__ == "__main__":
    main(shipped, false_ones)
