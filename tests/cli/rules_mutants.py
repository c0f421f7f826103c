"""rlgo rules axioms --mutants: of a sample's mistakes none passes but those that are none."""
import re

from _rlgo import main, rlgo


def sample(folder):
    """those that pass are listed as true, with the reason, next to the axioms"""
    totals, texts = [0, 0, 0], ""
    for first in (5, 7):
        text = rlgo("rules", "axioms", "--mutants", "--every", "40", "--first", first, "--tries", "500", "--instances", "60",
                    cwd=folder, timeout=500).stdout
        found = re.search(r"^mutants: (\d+) refuted, (\d+) survived .*; (\d+) are true by hand", text, re.M)
        totals, texts = [a + int(b) for a, b in zip(totals, found.groups())], texts + text
    refuted, survived, by_hand = totals
    assert refuted >= 80 and survived == 0 and by_hand >= 2, texts


if __name__ == "__main__":
    main(sample)
