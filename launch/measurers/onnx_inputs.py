"""What a model file declares, for runtimes that do not report it themselves or read another format: the package onnx reads it."""
import contextlib
import os
import re
import tempfile

import protocol


def import_or_raise(module, *packages):
    """`module` and onnx, or ImportError with the remedy: `packages` are what PyPI calls them, as arguments of pip."""
    try:
        import onnx
        return __import__(module), onnx
    except ImportError as error:
        raise ImportError(f"{error}; {protocol.how_to_install(' '.join([*packages, 'onnx']))}") from None


def declared(path, shapes):
    """([(name, shape, numpy dtype)] of inputs, {name: extents} of outputs). `shapes`: see protocol.shape_of. Weights that old files list as inputs are left out.
    Extents of outputs are None where they are open; a list of them is None where the file declares no shape."""
    import onnx

    graph = onnx.load(path, load_external_data=False).graph
    weights = {tensor.name for tensor in graph.initializer}
    inputs = []
    for value in graph.input:
        if value.name in weights:
            continue
        if not value.type.HasField("tensor_type"):
            raise ValueError(f"input '{value.name}' is no tensor")
        tensor = value.type.tensor_type
        inputs.append((value.name, protocol.shape_of(value.name, extents_of(tensor), shapes), onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)))
    return inputs, {value.name: extents_of(value.type.tensor_type) if value.type.tensor_type.HasField("shape") else None for value in graph.output}


def extents_of(tensor):
    """None where one is open: without a number, or with one below 0 as Paddle's exporter writes it."""
    return [d.dim_value if d.HasField("dim_value") and d.dim_value >= 0 else None for d in tensor.shape.dim]


def with_shapes(path, inputs, copy):
    """Writes the model to `copy` with the shapes of `inputs`, as of declared(), in place of open ones; its weights are in the same file."""
    import onnx

    model = onnx.load(path)
    shapes = {name: shape for name, shape, _ in inputs}
    for value in model.graph.input:
        for extent, dim in zip(shapes.get(value.name, ()), value.type.tensor_type.shape.dim):
            dim.dim_value = extent
    onnx.save(model, copy)


@contextlib.contextmanager
def printed():
    """What libraries print meanwhile, also from C++: a list that has the text as its one element at the end."""
    text = []
    with tempfile.TemporaryFile() as file:
        kept = [(fd, os.dup(fd)) for fd in (1, 2)]
        for fd, _ in kept:
            os.dup2(file.fileno(), fd)
        try:
            yield text
        finally:
            for fd, copy in kept:
                os.dup2(copy, fd)
                os.close(copy)
            file.seek(0)
            text.append(re.sub(r"\x1b\[[0-9;]*m", "", file.read().decode(errors="replace")))


def reason(text, pattern):
    """The first line of `text` that `pattern` fits, else its last one."""
    lines = [re.sub(r"^\[[\d:]+\] :\d+: ", "", line.strip()) for line in text.splitlines() if line.strip()]  # MNN writes time and line first
    return next((line for line in lines if re.search(pattern, line)), lines[-1] if lines else "it gives no reason")
