"""What arguments may be. One of a wrong type is a TypeError that names it."""

from __future__ import annotations

import functools
import inspect
import numbers
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class Kind:
    what: str  # "a number"
    fits: Callable[[Any], bool]

    def or_a(self, other: type) -> Kind:
        return Kind(f"{self.what} or a {other.__name__}", lambda value: isinstance(value, other) or self.fits(value))

    def check(self, name: str, value: Any) -> None:
        if not self.fits(value):
            raise TypeError(f"{name}: expected {self.what}, got {value!r:.80} ({type(value).__name__})")


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool) or getattr(value, "dtype", None) == bool


def _is_list_of_text(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray)) and all(isinstance(one, str) for one in value)


NUMBER = Kind("a number", _is_number)
WHOLE = Kind("a whole number", lambda value: _is_number(value) and value == value // 1)
FLAG = Kind("True or False", _is_flag)
TEXT = Kind("a string", lambda value: isinstance(value, str))
PATH = Kind("a path (a string or os.PathLike)", lambda value: isinstance(value, (str, os.PathLike)))
WORDS = Kind("a string or a list of strings", _is_list_of_text)
PROGRESS = Kind("True, False, None or a function", lambda value: _is_flag(value) or callable(value))


def list_of(kind: Kind) -> Kind:
    return Kind(f"a list, each {kind.what}", lambda value: hasattr(value, "__len__") and all(map(kind.fits, value)))


def takes(**kinds: Kind) -> Callable[[Function], Function]:
    """Checks arguments by name before the function is called. None passes where it is the default."""

    def wrap(function: Function) -> Function:
        signature = inspect.signature(function)

        @functools.wraps(function)
        def checked(*args: Any, **named: Any) -> Any:
            for name, value in signature.bind(*args, **named).arguments.items():
                if name in kinds and not (value is None and signature.parameters[name].default is None):
                    kinds[name].check(name, value)
            return function(*args, **named)

        return checked  # type: ignore[return-value]

    return wrap
