"""What a caller may give as a model: a path, the name of a zoo graph, an onnx.ModelProto, or its bytes."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

from . import _core
from ._kinds import TEXT, WHOLE

if TYPE_CHECKING:
    import onnx

ModelLike = Union[str, "os.PathLike[str]", bytes, "onnx.ModelProto"]
Sizes = Mapping[str, int]
_WEIGHTS = "rlgo-weights.bin"  # of messages that protobuf cannot write as one


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
            _refuse_unloaded(path, "give the model's path")
        elif hasattr(model, "SerializeToString"):
            _write_proto(model, path)
            _refuse_unloaded(path, "give the model's path, or load it with onnx.load(path), which reads them")
        else:
            raise TypeError(f"model: expected a path, a zoo graph's name, an onnx.ModelProto or its bytes, got {type(model).__name__}")
        yield str(path)


def _write_proto(model: onnx.ModelProto, path: Path) -> None:
    """protobuf ends at 2 GiB: weights of a larger model go to a file next to it."""
    if model.ByteSize() < 2**31 - 2**20:
        path.write_bytes(model.SerializeToString())
        return
    import onnx

    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    onnx.save(copy, str(path), save_as_external_data=True, all_tensors_to_one_file=True, location=_WEIGHTS)


def _refuse_unloaded(path: Path, remedy: str) -> None:
    """A message may refer to files next to the one that it was read from, which is not known here."""
    others = [name for name in _core.external_data_of(str(path)) if name != _WEIGHTS]
    if others:
        raise _core.UsageError(f"model: its weights lie in another file ({', '.join(others[:3])}) and are not loaded; {remedy}")


def read_proto(path: str) -> onnx.ModelProto:
    """The whole model. onnx.load refuses weights behind links, as the cache of the Hugging Face hub has them."""
    import onnx
    from onnx.external_data_helper import ExternalDataInfo, _get_all_tensors, uses_external_data

    model = onnx.load(path, load_external_data=False)
    for tensor in filter(uses_external_data, _get_all_tensors(model)):
        info = ExternalDataInfo(tensor)
        beside = Path(path).parent / info.location
        with open(beside if beside.exists() else Path(path).resolve().parent / info.location, "rb") as file:
            file.seek(info.offset or 0)
            tensor.raw_data = file.read(info.length or -1)
        tensor.ClearField("external_data")
        tensor.data_location = onnx.TensorProto.DEFAULT
    return model


def mapping_of(given: Mapping[str, Any] | None, what: str) -> dict[str, Any]:
    """The same as a dictionary, checked: by strings."""
    if not isinstance(given or {}, Mapping):
        raise TypeError(f"{what}: expected a dictionary, got {type(given).__name__}")
    for name in given or {}:
        TEXT.check(f"name in {what}", name)
    return dict(given or {})


def sizes_of(sizes: Sizes | None, what: str) -> dict[str, int]:
    """Sizes by name, checked: whole numbers."""
    given = mapping_of(sizes, what)
    for name, size in given.items():
        WHOLE.check(f"{what}[{name!r}]", size)
    return {name: int(size) for name, size in given.items()}


def words_of(words: str | Sequence[str] | None) -> list[str]:
    """"a,b" or ["a", "b"] as a list; None as none."""
    if words is None:
        return []
    return [w for w in words.split(",") if w] if isinstance(words, str) else [str(w) for w in words]
