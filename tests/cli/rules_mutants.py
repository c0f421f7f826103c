"""rlgo rules axioms --mutants: of a sample's mistakes none passes but those that are none."""
import re

from _rlgo import main, rlgo


def sample(folder):
    """those that pass are listed as true, with the reason, beside the axioms"""
    text = rlgo("rules", "axioms", "--mutants", "--every", "40", "--first", "5", "--tries", "500", "--instances", "60",
                cwd=folder, timeout=500).stdout
    total = re.search(r"^mutants: (\d+) refuted, (\d+) survived .*; (\d+) are true by hand", text, re.M)
    assert int(total[1]) >= 45 and int(total[2]) == 0 and int(total[3]) >= 2, text


if __name__ == "__main__":
    main(sample)
