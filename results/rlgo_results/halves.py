"""The two halves of the corpus of public models (tests/interop/_models.py). Rules are made while looking at the seen half only."""
import hashlib

LOOKED_AT = ("light", "pypi", "torch", "more")  # groups of the first 70 models, which rules have been made with
PARTS = 4


def half(group, model):
    """"seen" or "unseen". Of the models that came later, SHA-256 of the name draws three of four for the unseen half."""
    drawn = int(hashlib.sha256(model.encode()).hexdigest()[:8], 16) % PARTS
    return "seen" if group in LOOKED_AT or drawn == 0 else "unseen"
