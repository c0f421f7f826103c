"""Progress of long calls: a bar by tqdm where it is installed (in notebooks too), a callback, or nothing."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any, Union

# progress(text, elapsed_s, total_s)
Progress = Union[bool, None, Callable[[str, float, float], object]]


def _in_notebook() -> bool:
    shell = sys.modules.get("IPython")
    instance = shell.get_ipython() if shell and hasattr(shell, "get_ipython") else None
    return instance is not None and "IPKernelApp" in getattr(instance, "config", {})


class Bar:
    """Shows or hands on what long work says. progress: True shows a bar, False nothing, None a bar on terminals and in
    notebooks, a function gets each line."""

    def __init__(self, progress: Progress, seconds: float):
        self._begin = time.monotonic()
        self._seconds = seconds
        self._call = progress if callable(progress) else None
        self._bar: Any = None
        wanted = (sys.stderr.isatty() or _in_notebook()) if progress is None else bool(progress)
        if self._call is None and wanted:
            try:
                from tqdm.auto import tqdm
            except ImportError:
                return
            self._bar = tqdm(total=round(seconds, 1), bar_format="{l_bar}{bar}| {n:.0f}/{total:.0f} s {postfix}", leave=False)

    def show(self, text: str) -> None:
        elapsed = time.monotonic() - self._begin
        if self._call is not None:
            self._call(text, elapsed, self._seconds)
        elif self._bar is not None:
            self._bar.n = min(elapsed, self._seconds)
            # The engine's own bar and clock, which tqdm draws again, stand in front of the first and behind the last gap.
            parts = [p for p in text.split("  ") if p and not p.startswith("[") and not p.endswith(" s left")]
            self._bar.set_postfix_str("  ".join(parts), refresh=True)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
