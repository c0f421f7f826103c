"""Models that draw random numbers, with seeds, so that two files can be compared: without one a runtime draws by the operator's place in its file."""
import functools
import mmap
import os
import zlib

RANDOM = ("Bernoulli", "Dropout", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike")
NAMED = (b"Bernoulli", b"Dropout", b"Multinomial", b"Random")  # one of these is in each of these names
DROPOUT_SINCE = 12  # the operator set since which it has a seed, and can be on
MOST_BYTES = 1 << 30  # of a file with its weights


def graphs_of(model):
    """[nodes] of the graph, of bodies, and of local functions."""
    waiting = [model.graph, *model.functions]
    while waiting:
        graph = waiting.pop()
        yield graph.node
        for node in graph.node:
            for attribute in node.attribute:
                waiting += [attribute.g] if attribute.HasField("g") else attribute.graphs


def add_seeds(model):
    """Gives each such operator that has none a seed by the name of its output, which rewriting keeps. How many it gave."""
    since = next((o.version for o in model.opset_import if o.domain in ("", "ai.onnx")), 0)
    given = 0
    for nodes in graphs_of(model):
        for node in nodes:
            unseeded = node.op_type in RANDOM and node.domain in ("", "ai.onnx") and all(a.name != "seed" for a in node.attribute)
            if not unseeded or (node.op_type == "Dropout" and since < DROPOUT_SINCE):
                continue
            number, seed = zlib.crc32(node.output[0].encode()) % (1 << 23), node.attribute.add()  # which a float holds exactly
            seed.name = "seed"
            if node.op_type == "Dropout":
                seed.type, seed.i = seed.INT, number
            else:
                seed.type, seed.f = seed.FLOAT, number
            given += 1
    return given


def bytes_of(model, path):
    """Of the file and of weights that lie in others."""
    lengths = (int(entry.value) for tensor in model.graph.initializer for entry in tensor.external_data if entry.key == "length")
    return os.path.getsize(path) + sum(lengths)


def read_weights(model, folder):
    """From the files next to it. The package onnx refuses links, as the cache of the Hugging Face hub has them; rlgo has checked where they lead."""
    from onnx.external_data_helper import ExternalDataInfo, _get_all_tensors, uses_external_data

    for tensor in filter(uses_external_data, _get_all_tensors(model)):
        info = ExternalDataInfo(tensor)
        with open(os.path.join(folder, info.location), "rb") as file:
            file.seek(info.offset or 0)
            tensor.raw_data = file.read(info.length or -1)
        tensor.ClearField("external_data")
        tensor.ClearField("data_location")


@functools.lru_cache
def may_draw(path, size, changed_ns):
    """Whether the file names such an operator. Large files take a second, and the original of a check is asked for again and again: an answer holds
    as long as the file is as large and as old."""
    del changed_ns
    if size == 0:
        return False
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        return any(data.find(name) >= 0 for name in NAMED)


def seeded(path, folder):
    """`path`, or a copy in `folder` with seeds where the model draws random numbers without. Very large models, and all where the package onnx is
    missing, stay as they are."""
    about = os.stat(path)
    if not may_draw(path, about.st_size, about.st_mtime_ns):
        return path
    try:
        import onnx
    except ImportError:
        return path
    model = onnx.load(path, load_external_data=False)
    if bytes_of(model, path) > MOST_BYTES or not add_seeds(model):
        return path
    read_weights(model, os.path.dirname(os.path.abspath(path)))
    copy = os.path.join(folder, "seeded.onnx")
    onnx.save(model, copy)
    return copy
