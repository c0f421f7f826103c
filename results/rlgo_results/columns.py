"""Columns and members that had another name in earlier versions of rlgo: recorded files are read with today's names."""

RENAMED = {"waiting_share": "waiting_fraction", "opaque_share": "opaque_fraction", "illegal_share": "illegal_fraction", "share": "fraction",
           "counts_wrong_share": "counts_wrong_fraction", "said": "reported", "said_low": "reported_low", "said_high": "reported_high"}  # fmt: skip; old names


def renamed(row):
    """A row or a member of a document with today's names."""
    return {RENAMED.get(name, name): value for name, value in row.items()}
