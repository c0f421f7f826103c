"""What a caller may give as a model: a path, the name of a zoo graph, an onnx.ModelProto, or its bytes."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Union

from . import _core

if TYPE_CHECKING:
    import onnx

ModelLike = Union[str, "os.PathLike[str]", bytes, "onnx.ModelProto"]
Sizes = Mapping[str, int]


@contextlib.contextmanager
def model_file(model: ModelLike, zoo_as_file: bool = False) -> Iterator[str]:
    """A path (or, unless `zoo_as_file`, a zoo graph's name) that stands for `model` while the context lasts."""
    is_zoo = zoo_as_file and isinstance(model, str) and model in _core.zoo() and not os.path.exists(model)
    if isinstance(model, (str, os.PathLike)) and not is_zoo:
        yield os.fspath(model)
        return
    with tempfile.TemporaryDirectory(prefix="rlgo-model-") as folder:
        path = Path(folder) / "model.onnx"
        if is_zoo:
            _core.load_graph(model, {}, {}, 1, 0, 0, 0, 0, True).save(str(path))
        elif isinstance(model, (bytes, bytearray, memoryview)):
            path.write_bytes(model)
        elif hasattr(model, "SerializeToString"):
            _write_proto(model, path)
        else:
            raise TypeError(f"a model is a path, a zoo graph's name, an onnx.ModelProto or its bytes, not {type(model).__name__}")
        yield str(path)


def _write_proto(model: onnx.ModelProto, path: Path) -> None:
    """protobuf ends at 2 GiB: weights of a larger model go to a file beside it."""
    if model.ByteSize() < 2**31 - 2**20:
        path.write_bytes(model.SerializeToString())
        return
    import onnx

    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    onnx.save(copy, str(path), save_as_external_data=True, all_tensors_to_one_file=True, location="weights.bin")


def sizes_of(sizes: Sizes | None, what: str) -> dict[str, int]:
    """Sizes by name, checked: whole numbers."""
    out = {}
    for name, size in (sizes or {}).items():
        if isinstance(size, bool) or int(size) != size:
            raise TypeError(f"{what}[{name!r}]: expected a whole number, got {size!r}")
        out[str(name)] = int(size)
    return out


def words_of(words: str | Sequence[str] | None) -> list[str]:
    """"a,b" or ["a", "b"] as a list; None as none."""
    if words is None:
        return []
    return [w for w in words.split(",") if w] if isinstance(words, str) else [str(w) for w in words]
