"""Gives names to sizes of a model's inputs, as many as its operators allow: what an exporter leaves open, and NNSmith does not."""
import itertools

import numpy as np
import onnx

MOST_NAMES = 3


def dims_of(model):
    return [(v.name, axis, dim) for v in model.graph.input for axis, dim in enumerate(v.type.tensor_type.shape.dim)]


def feeds_at(feeds, places, size):
    """`feeds` with other extents at (input, axis): the same numbers, in turns."""
    taken = dict(feeds)
    for name, axis in places:
        taken[name] = np.take(taken[name], range(size), axis, mode="wrap")
    return taken


def opened(model, feeds, load, rng):
    """(model, {name: [(input, axis)]}): dimensions that run at other sizes have a name. `load` makes a session of a model, or raises."""
    closed, names = model, {}
    model = onnx.ModelProto.FromString(model.SerializeToString())
    del model.graph.value_info[:]
    for output in model.graph.output:
        for dim in output.type.tensor_type.shape.dim:
            dim.Clear()
    places = [(name, axis) for name, axis, _ in dims_of(model)]
    by_size = [[p for p in places if feeds[p[0]].shape[p[1]] == size] for size in sorted({feeds[n].shape[a] for n, a in places})]
    groups = [g for g in by_size if len(g) > 1] + [[p] for p in places]
    rng.shuffle(groups)
    for group in groups:
        if len(names) == MOST_NAMES:
            break
        if any(p in itertools.chain(*names.values()) for p in group):
            continue
        trial, name = onnx.ModelProto.FromString(model.SerializeToString()), f"size{len(names)}"
        for key, axis, dim in dims_of(trial):
            if (key, axis) in group:
                dim.dim_param = name
        size = feeds[group[0][0]].shape[group[0][1]]
        try:
            onnx.checker.check_model(trial, full_check=True)
            session = load(trial)
            for other in (size, size + 1, 2 * size + 1):
                session.run(None, feeds_at(feeds, group, other))
        except Exception:  # the size stands in an operator, too
            continue
        model, names = trial, names | {name: group}
    return (model, names) if names else (closed, names)


def sizes_to_try(feeds, names, rng):
    """[feeds]: NNSmith's own sizes, then others; 1 is among them."""
    tried = [feeds]
    for sizes in (lambda size: 1, lambda size: size + 1, lambda size: int(rng.integers(1, 3 * size + 2))):
        one = feeds
        for places in names.values():
            one = feeds_at(one, places, sizes(feeds[places[0][0]].shape[places[0][1]]))
        tried.append(one)
    return tried if names else [feeds]
