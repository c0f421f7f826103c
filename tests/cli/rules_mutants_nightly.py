"""rlgo rules axioms --mutants: of the mistakes in all axioms at least 99 % are refuted."""
import concurrent.futures
import os
import re
import threading
import time

from _rlgo import main, rlgo

PIECES = 40
LIMIT_S = 6900  # for all, below the time that ctest gives


def whole(folder):
    """in pieces, one on each core; those that time does not suffice for are counted"""
    begun, counts, lock = time.monotonic(), {"refuted": 0, "survived": 0, "pieces": 0}, threading.Lock()

    def judge(piece):
        left = LIMIT_S - (time.monotonic() - begun)
        if left < 60:
            return
        # The status is of one piece, in which one survivor may be more than 1 %: only all count.
        text = rlgo("rules", "axioms", "--mutants", "--every", PIECES, "--first", piece, cwd=folder, status=None, timeout=left).stdout
        total = re.search(r"^mutants: (\d+) refuted, (\d+) survived", text, re.M)
        assert total, text
        with lock:
            counts["refuted"] += int(total[1])
            counts["survived"] += int(total[2])
            counts["pieces"] += 1
            print("\n".join(re.findall(r"^\S+ +survived .*$", text, re.M)), flush=True)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(judge, range(PIECES)))
    print(f"{counts['pieces']} of {PIECES} pieces: {counts['refuted']} refuted, {counts['survived']} survived", flush=True)
    assert counts["pieces"] == PIECES, "out of time"
    assert counts["survived"] <= 0.01 * (counts["refuted"] + counts["survived"]), counts


if __name__ == "__main__":
    main(whole)
