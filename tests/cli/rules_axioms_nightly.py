"""rlgo rules axioms --dims 3: every axiom as an identity of polynomials (or of order, by Z3) at extents up to 3."""
import re

from _rlgo import SOURCE, main, rlgo


def dims_3(folder):
    """all hold, none is left open"""
    text = rlgo("rules", "axioms", "--dims", "3", cwd=folder, timeout=3000).stdout
    total = re.search(r"^(\d+) of (\d+) hold within extents <= 3", text, re.M)
    assert total[1] == total[2] and int(total[1]) >= 392, total[0]
    assert "seen neither" not in text and "unknown" not in text


def false_ones(folder):
    """with as many combinations again, none of the false ones passes"""
    file = SOURCE / "tests/data/rules/false-axioms.rules"
    text = rlgo("rules", "axioms", "--dims", "3", "--tries", "8000", "--expect-false", "--rules", file, cwd=folder,
                timeout=3000).stdout
    total = re.search(r"^(\d+) of (\d+) refuted", text, re.M)
    assert total[1] == total[2] and int(total[1]) >= 29, text


if __name__ == "__main__":
    main(dims_3, false_ones)
