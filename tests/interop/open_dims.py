"""1,000 applications of shipped rules in models with open dimensions (_open_pairs.py); 0 differences."""
import sys

import _open_pairs

APPLICATIONS = 1000
BATCH = 250


def main():
    counts, first = _open_pairs.Counts(), 0
    while sum(counts.applied.values()) < APPLICATIONS and first < 4 * APPLICATIONS:
        _open_pairs.run_batch(1, first, BATCH, counts)
        first += BATCH
    print(counts.summary())
    if counts.wrong or sum(counts.applied.values()) < APPLICATIONS or counts.compared < 2 * APPLICATIONS:
        sys.exit(1)


main()
