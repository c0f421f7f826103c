"""rlgo rules axioms --mutants: of a sample's mistakes none passes but those that are none."""
import re

from _rlgo import main, rlgo


def sample(folder):
    """a convolution's pad behind the image, where no window reads it, changes nothing"""
    text = rlgo("rules", "axioms", "--mutants", "--every", "40", "--first", "5", "--tries", "500", "--instances", "60",
                cwd=folder, status=None, timeout=500).stdout
    survivors = re.findall(r"^(\S+) +survived +\d+ instances: (.*)$", text, re.M)
    assert set(survivors) <= {("conv-shift-in", "pads: 1 in place of 0")} and len(survivors) <= 2, text
    total = re.search(r"^mutants: (\d+) refuted, (\d+) survived", text, re.M)
    assert int(total[1]) >= 57 and int(total[2]) == len(survivors), text


if __name__ == "__main__":
    main(sample)
