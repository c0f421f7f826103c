"""Values that are no tensors of numbers: synthetic ones for inputs (strings, sequences, optional values, maps), and such outputs as arrays."""
import functools
import hashlib
import os

NUMBERS = ["0", "1", "2", "3"]  # strings that operators accept which parse numbers
MOST_WORDS = 16  # of a model, for one input
MOST_PARSED = 1 << 30  # bytes of a file that is searched for words
LENGTH = 2  # of a sequence
KEYS = 4  # of a map whose keys are integers


def parts_of(type_text):
    """'map(string,tensor(float))' -> ('map', ['string', 'tensor(float)'])."""
    kind, _, inner = type_text.removesuffix(")").partition("(")
    return (kind, inner.split(",", 1)) if kind == "map" else (kind, [inner])


def base_of(type_text):
    """The type inside sequences and optional values."""
    kind, inner = parts_of(type_text)
    return base_of(inner[0]) if kind in ("seq", "optional") else type_text


@functools.lru_cache
def read(path, size, changed_ns):
    """The model without its external data; None where it is too large or the package onnx is missing."""
    del changed_ns
    if size > MOST_PARSED:
        return None
    try:
        import onnx
    except ImportError:
        return None
    return onnx.load(path, load_external_data=False)


def model_of(path):
    about = os.stat(path)
    return read(path, about.st_size, about.st_mtime_ns)


def texts_of(tensor):
    return [text.decode("utf-8", "replace") for text in tensor.string_data]


def words_of(model, name):
    """Strings of the operators that read the input, or what others make of it: keys, categories, vocabularies."""
    if model is None:
        return []
    constants = {tensor.name: tensor for tensor in model.graph.initializer if tensor.string_data}
    reached, words = {name}, set()
    for node in model.graph.node:
        if not reached.intersection(node.input):
            continue
        own = [text for input_name in node.input if input_name in constants for text in texts_of(constants[input_name])]
        if node.domain not in ("", "ai.onnx") or node.op_type in ("StringNormalizer", "TfIdfVectorizer"):
            for attribute in node.attribute:
                own += [text.decode("utf-8", "replace") for text in attribute.strings] + texts_of(attribute.t)
        words.update(own)
        if not own:
            reached.update(node.output)
    return sorted(words)[:MOST_WORDS]


def declared_shape(model, name):
    """Of the tensors inside a sequence or optional value, None for an open extent; None where nothing is declared."""
    for value in model.graph.input if model is not None else []:
        if value.name != name:
            continue
        inner = value.type
        while inner.WhichOneof("value") in ("sequence_type", "optional_type"):
            inner = getattr(inner, inner.WhichOneof("value")).elem_type
        if inner.HasField("tensor_type") and inner.tensor_type.HasField("shape"):
            return [dim.dim_value if dim.HasField("dim_value") else None for dim in inner.tensor_type.shape.dim]
    return None


def strings(shape, words, generator):
    """One word for each element; drawn where there are not as many words as elements."""
    import numpy

    count = int(numpy.prod(shape, dtype=numpy.int64))
    drawn = words if len(words) == count else [words[k] for k in generator.integers(0, len(words), size=count)]
    array = numpy.empty(count, dtype=object)
    array[:] = drawn
    return array.reshape(shape)


def make(type_text, shape, words, numbers, generator):
    """A value of the type. `numbers`: makes a tensor of numbers of this type and shape."""
    kind, inner = parts_of(type_text)
    if kind == "optional":
        return make(inner[0], shape, words, numbers, generator)
    if kind == "seq":
        return [make(inner[0], shape, words, numbers, generator) for _ in range(LENGTH)]
    if kind == "map":
        keys = words if inner[0] == "string" else range(KEYS)
        return {key: make(inner[1], [], words, numbers, generator).item() for key in keys}
    if type_text == "tensor(string)":
        return strings(shape, words, generator)
    if kind == "tensor":
        return numbers(type_text, shape)
    raise ValueError(f"no synthetic value is made of type {type_text}")


def candidates(path, name, type_text, shape, others, given, numbers, generator):
    """[(value, words that were assumed or None)], the likeliest first. `shape`: of a tensor, else None; `others`: shapes of the tensors
    among the inputs; `given`: words to draw from, or None."""
    model = model_of(path)
    inner = base_of(type_text)
    has_words = inner == "tensor(string)" or inner.startswith("map(string")
    palettes = [None]
    if has_words:
        own = words_of(model, name)
        palettes = [[str(word) for word in given]] if given else [own, NUMBERS] if own else [NUMBERS]
    shapes = [shape]
    if shape is None:
        declared = declared_shape(model, name)
        shapes = [[1 if d is None else d for d in declared]] if declared is not None else [*dict.fromkeys(map(tuple, others)), (1,), (), (1, 1)]
    found = []
    for wanted in shapes:
        for words in palettes:
            state = generator.bit_generator.state  # the same draws whichever candidate is taken
            found.append((make(type_text, list(wanted), words, numbers, generator), words if has_words and not given else None))
            if len(found) < len(shapes) * len(palettes):
                generator.bit_generator.state = state
    return found


def arrays_of(name, value):
    """[(name, dtype, array of numbers)] of an output: each item of a sequence, keys and values of a map, hashes of strings."""
    import numpy

    if value is None:
        return [(f"{name} (none)", "none", numpy.zeros(0))]
    if isinstance(value, (list, tuple)):
        items = [part for k, item in enumerate(value) for part in arrays_of(f"{name}[{k}]", item)]
        return [(f"{name} (length)", "int64", numpy.asarray([len(value)])), *items]
    if isinstance(value, dict):
        keys = sorted(value)
        return [*arrays_of(f"{name} (keys)", numpy.asarray(keys, dtype=None if keys and not isinstance(keys[0], str) else object)),
                *arrays_of(f"{name} (values)", numpy.asarray([value[key] for key in keys]))]
    array = numpy.asarray(value)
    if array.dtype.kind in "OUS":
        hashes = [int.from_bytes(hashlib.sha256(str(text).encode()).digest()[:6], "little") for text in array.flat]
        return [(name, "string", numpy.asarray(hashes, dtype="f8").reshape(array.shape))]
    if array.dtype.kind not in "fiub":
        raise ValueError(f"output '{name}' holds {array.dtype}, which is not compared")
    return [(name, str(array.dtype), array)]
