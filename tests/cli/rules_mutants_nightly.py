"""rlgo rules axioms --mutants: of the mistakes in all axioms at least 99 % are refuted."""
import concurrent.futures
import os
import re
import time

from _rlgo import main, rlgo

PIECES = 40
LIMIT_S = 6900  # for all, below the time that ctest gives


def whole(folder):
    """in pieces, one on each core; those that time does not suffice for are counted"""
    begun = time.monotonic()

    def judge(piece):
        """(refuted, survived); nothing where the time is over"""
        left = LIMIT_S - (time.monotonic() - begun)
        if left < 60:
            return None
        # The status is of one piece, in which one survivor may be more than 1 %: only all count.
        text = rlgo("rules", "axioms", "--mutants", "--every", PIECES, "--first", piece, cwd=folder, status=None, timeout=left).stdout
        total = re.search(r"^mutants: (\d+) refuted, (\d+) survived", text, re.M)
        assert total, text
        print("\n".join(re.findall(r"^\S+ +survived .*$", text, re.M)), flush=True)
        return int(total[1]), int(total[2])

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        judged = [counts for counts in pool.map(judge, range(PIECES)) if counts is not None]
    refuted, survived = (sum(counts) for counts in zip((0, 0), *judged))
    print(f"{len(judged)} of {PIECES} pieces: {refuted} refuted, {survived} survived", flush=True)
    assert len(judged) == PIECES, "out of time"
    assert survived <= 0.01 * (refuted + survived), (refuted, survived)


if __name__ == "__main__":
    main(whole)
