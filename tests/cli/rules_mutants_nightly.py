"""rlgo rules axioms --mutants: of the mistakes in all axioms at least 99 % are refuted."""
from _rlgo import main, rlgo


def whole(folder):
    """the status says whether they are"""
    rlgo("rules", "axioms", "--mutants", cwd=folder, timeout=7000)


if __name__ == "__main__":
    main(whole)
