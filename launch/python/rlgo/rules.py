"""Rewrite rules: which there are, where they fit, and proofs that they hold.

    rlgo.rules.list()                              # name, proof, tags of the rules that are used
    fusing = rlgo.rules.load("base")               # a set: see load()
    fusing.matches(rlgo.load("resnet50"))          # {rule: places where it fits}
    rlgo.rules.verify("my.rules")                  # proves each rule again, for all sizes
"""

from __future__ import annotations

import builtins
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from . import _core
from ._core import Graph, Rule, RuleSet
from ._kinds import PATH, TEXT, WHOLE, WORDS, takes
from ._model import words_of

__all__ = ["Proof", "Rule", "RuleSet", "list", "load", "parse", "replay", "sets", "verify"]


def sets() -> dict[str, str]:
    """The shipped sets: {name: what it is}."""
    return dict(_core.rule_sets())


@takes(words=WORDS)
def load(words: str | Sequence[str] | None = None) -> RuleSet:
    """Rules by words, taken from left to right: a .rules file (all of it, proved or not), a set ("base", "generated:4d"),
    a tag, "proved", a rule's name; "-WORD" takes away. None: the proved rules that searches use by default.

    Raises rlgo.UsageError or rlgo.Error (naming file, line and what is wrong) where a word is unknown or a file does not
    parse.
    """
    return _core.choose_rules(words_of(words))


@takes(text=TEXT, name=TEXT)
def parse(text: str, name: str = "<text>") -> RuleSet:
    """Rules from text, in the language of .rules files. Raises rlgo.Error "NAME:LINE: reason"."""
    return _core.parse_rules(text, name)


def list(words: str | Sequence[str] | None = None) -> builtins.list[Rule]:  # noqa: A001
    """The rules of load(words), in order. A rule has name, proof ("proved", "tested", "unproved"), scope, axioms, tags,
    text, file and line."""
    rules = load(words)
    return [rules[index] for index in range(len(rules))]


def replay(rules: RuleSet, graph: Graph, trace: Iterable[tuple[str, int]]) -> Graph:
    """The graph at the end of a trace of (rule, location). Raises rlgo.Error naming the step that does not apply."""
    return rules.replay(graph, [(rules[name].index, location) for name, location in trace])


@dataclass(frozen=True)
class Proof:
    """What trying to prove one rule came to."""

    rule: str
    verdict: str  # "proved", "refuted", "unknown"
    scope: str  # proved: for what ("floats, ranks to 6, lists of any length")
    axioms: builtins.list[str]  # that the derivation starts from
    reason: str  # refuted: a counterexample; unknown: why
    cases: int  # ranks, list lengths, axes for which it was derived

    @property
    def proved(self) -> bool:
        return self.verdict == "proved"


@takes(source=PATH.or_a(RuleSet), only=WORDS, threads=WHOLE, instances=WHOLE, seed=WHOLE)
def verify(
    source: str | os.PathLike[str] | RuleSet, *, only: Sequence[str] = (), threads: int = 1, instances: int = 12, seed: int = 1
) -> builtins.list[Proof]:
    """Proves rules: a derivation from the axioms for all sizes, confirmed by Z3, then an exact check at random places.

    source: a .rules file, the name of a shipped set, or a RuleSet. only: names; all where empty.
    threads: rules that are proved at a time, >= 1. instances: random places that are checked, >= 1; seed: of them.
    Ctrl-C raises KeyboardInterrupt.
    """
    from . import _prove

    if isinstance(source, RuleSet):
        text, name = source.to_text(), "<rules>"
    else:
        name = os.fspath(source)
        if name in sets():
            name = _core.rule_set_file(name)
        try:
            text = Path(name).read_text(encoding="utf-8")
        except OSError as error:
            raise _core.Error(f"{name}: {error.strerror or error}; shipped sets: {', '.join(sets())}") from None
    if threads < 1 or instances < 1:
        raise _core.UsageError("threads and instances are at least 1")
    return [Proof(**proof) for proof in _prove.verify(text, name, builtins.list(only), int(threads), int(instances), int(seed))]
