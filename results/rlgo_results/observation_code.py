"""Observations as the rollout store codes them (docs/store.md): one is bytes that refer to another one, its base.

    seen = decode(code, base)       # base: what decode gave for it, or None

An observation is a dictionary of arrays: node_op [n], node_feat [n, F], edge_src and edge_dst [e], edge_feat [e, G],
globals [g], counts [xfers], loc_node [locations], loc_feat [locations, H], loc_rest_end [locations] or empty, loc_rest. This mirrors core/codec/observation_decode.cc; a test compares the two.
"""
import struct

import numpy as np

NEXT, MOVED, AGAIN, CHANGED = range(4)  # runs of rows
SAME_NEXT, SAME_MOVED, OTHER, EARLIER, NOTHING = range(5)  # what a changed row refers to
EDGE_PLACE, EDGE_SOURCE, EDGE_AGAIN, EDGE_OTHER, EDGE_NOTHING = range(5)  # what an edge refers to


class CodeError(ValueError):
    """The bytes are no code of an observation against this base."""


class _Bytes:
    def __init__(self, data):
        self.data, self.at = bytes(data), 0

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def unsigned(self):
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7

    def signed(self):
        value = self.unsigned()
        return (value >> 1) ^ -(value & 1)

    def number(self, form):
        (value,) = struct.unpack_from(form, self.data, self.at)
        self.at += struct.calcsize(form)
        return value

    def array(self, dtype, count=None):
        """Of `count` items, or of as many as a 64-bit number before them says."""
        count = self.number("<Q") if count is None else count
        values = np.frombuffer(self.data, dtype, count, self.at).copy()
        self.at += values.nbytes
        return values

    def changes(self, mask, row):
        """Reads the values of the columns in `mask` into a row of float32."""
        column = 0
        while mask:
            if mask & 1:
                row[column] = self.array("<f4", 1)[0]  # not through a Python float: a NaN keeps its bits
            mask >>= 1
            column += 1


def decode(code, base=None):
    """The observation; raises CodeError on bytes that are none."""
    data = _Bytes(code)
    try:
        kind = data.byte()
        if kind in (0, 2):
            seen = _whole(data, kind == 2)
        elif kind in (1, 3):
            seen = _difference(data, base, kind == 3)
        else:
            raise CodeError(f"observation code of kind {kind}; known are 0 to 3")
    except (IndexError, struct.error, ValueError, OverflowError) as error:
        raise error if isinstance(error, CodeError) else CodeError(f"damaged observation code: {error}") from error
    if data.at != len(data.data):
        raise CodeError(f"damaged observation code: {len(data.data) - data.at} bytes left over")
    return seen


def _whole(data, detailed):
    kinds = {"node_op": "<i4", "node_feat": "<f4", "edge_src": "<i4", "edge_dst": "<i4", "edge_feat": "<f4", "globals": "<f4", "counts": "<i4",
             "loc_node": "<i4"}  # fmt: skip
    details = {"loc_feat": "<f4", "loc_rest_end": "<i4", "loc_rest": "<i4"}
    seen = {name: data.array(dtype) for name, dtype in kinds.items()}
    seen |= {name: data.array(dtype) if detailed else np.zeros(0, dtype) for name, dtype in details.items()}
    for feature, rows in (("node_feat", "node_op"), ("edge_feat", "edge_src"), ("loc_feat", "loc_node")):
        count = len(seen[rows])
        if count == 0 or len(seen[feature]) % count == 0:
            seen[feature] = seen[feature].reshape(count, -1 if count and len(seen[feature]) else 0)
    return seen


def _difference(data, base, detailed):
    nodes, node_width, edges, edge_width, global_width, xfers = (data.unsigned() for _ in range(6))
    details = data.unsigned() if detailed else 0
    base = _usable(base, nodes, node_width, edge_width, global_width, xfers)
    derived = [_derived(data) for _ in range(data.unsigned())]
    op, features, same = _rows(data, base, nodes, node_width)
    for column in derived:
        _fill(data, features, *column)
    to = np.full(len(base["node_op"]), -1, np.int32)
    to[same[same >= 0]] = np.flatnonzero(same >= 0)
    src, dst, edge_feat = _edges(data, base, nodes, edges, edge_width, same, to)
    counts, locations = _locations(data, base, nodes, xfers, to, details >> 1, details & 1)
    values = base["globals"].copy()
    data.changes(data.unsigned(), values)
    return {"node_op": op, "node_feat": features, "edge_src": src, "edge_dst": dst, "edge_feat": edge_feat, "globals": values, "counts": counts,
            **locations}  # fmt: skip


def _usable(base, nodes, node_width, edge_width, global_width, xfers):
    """The base, or, where it has other widths or is not in order, one without anything."""
    if base is not None:
        widths = (base["node_feat"].shape[1], base["edge_feat"].shape[1], len(base["globals"]), len(base["counts"]))
        ordered = np.all(np.diff(base["edge_dst"]) >= 0) and (nodes == 0 or base["counts"].sum() == len(base["loc_node"]))
        if widths == (node_width, edge_width, global_width, xfers) and ordered and (len(base["node_op"]) > 0) == (nodes > 0):
            return base
    none = np.zeros(0, np.int32)
    return {"node_op": none, "node_feat": np.zeros((0, node_width), np.float32), "edge_src": none, "edge_dst": none,
            "edge_feat": np.zeros((0, edge_width), np.float32), "globals": np.zeros(global_width, np.float32),
            "counts": np.zeros(xfers, np.int32), "loc_node": none, "loc_feat": np.zeros((0, 0), np.float32), "loc_rest_end": none,
            "loc_rest": none}  # fmt: skip


def _derived(data):
    column, kind = data.unsigned(), data.byte()
    if kind == 1:
        return column, None, None
    if kind != 2:
        raise CodeError(f"a derived column of kind {kind}")
    return column, data.unsigned(), data.number("<d")


def _rows(data, base, nodes, width):
    op, features = np.zeros(nodes, np.int32), np.zeros((nodes, width), np.float32)
    same = np.full(nodes, -1, np.int32)  # the base's row that stands for the same node
    row = cursor = 0
    while row < nodes:
        head = data.unsigned()
        kind, length = head & 3, head >> 2
        if kind == CHANGED:
            cursor = _changed(data, base, length, op, features, same, row, cursor)
            row += 1
            continue
        if not 0 < length <= nodes - row:
            raise CodeError(f"a run of {length} nodes where {nodes - row} are left")
        if kind == AGAIN:
            distance = data.unsigned()
            for k in range(row, row + length):  # one by one: a run may repeat itself
                op[k], features[k] = op[k - distance], features[k - distance]
        else:
            cursor += data.signed() if kind == MOVED else 0
            op[row : row + length] = base["node_op"][cursor : cursor + length]
            features[row : row + length] = base["node_feat"][cursor : cursor + length]
            same[row : row + length] = np.arange(cursor, cursor + length)
            cursor += length
        row += length
    return op, features, same


def _changed(data, base, reference, op, features, same, row, cursor):
    if reference in (SAME_NEXT, SAME_MOVED):
        cursor += data.signed() if reference == SAME_MOVED else 0
        op[row], features[row], same[row] = base["node_op"][cursor], base["node_feat"][cursor], cursor
        cursor += 1
    elif reference == OTHER:
        other = data.unsigned()
        op[row], features[row] = base["node_op"][other], base["node_feat"][other]
    elif reference == EARLIER:
        distance = data.unsigned()
        op[row], features[row] = op[row - distance], features[row - distance]
    elif reference != NOTHING:
        raise CodeError(f"a row with reference {reference}")
    mask = data.unsigned()
    if mask & 1:
        op[row] = data.signed()
    data.changes(mask >> 1, features[row])
    return cursor


def _fill(data, features, column, source, ratio):
    rows = len(features)
    if source is None:  # position: row / rows
        features[:, column] = np.arange(rows, dtype=np.float32) / np.float32(rows)
        return
    bits = np.ascontiguousarray(features[:, source]).view(np.uint32)
    _, first, group = np.unique(bits, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")  # values in the order of their first appearance
    codes = np.zeros(len(order), np.int64)
    for k in range(len(order)):
        if k % 4 == 0:
            byte = data.byte()
        codes[k] = byte >> 2 * (k % 4) & 3
    residuals = np.array([(0, 1, -1)[code] if code < 3 else data.signed() for code in codes], np.int64)
    values = (features[first[order], source].astype(np.float64) * ratio).astype(np.float32)
    ranks = values.view(np.int32).astype(np.int64)  # floats as integers in their order
    ranks = np.where(ranks >= 0, ranks, -(ranks & 0x7FFFFFFF) - 1) + residuals
    values = np.where(ranks >= 0, ranks, -(ranks + 1) | 0x80000000).astype(np.uint32).view(np.float32)
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    features[:, column] = values[place[group.reshape(-1)]]


def _edges(data, base, nodes, edges, width, same, to):
    src, dst, features = [], [], []
    first = np.searchsorted(base["edge_dst"], np.arange(len(base["node_op"]) + 1))
    others = data.unsigned()
    node, last = 0, {}

    def as_before(start, end):
        for k in range(start, end):
            b = same[k]
            if b < 0:
                continue
            for e in range(first[b], first[b + 1]):
                add(to[base["edge_src"][e]], k, base["edge_feat"][e])

    def add(source, target, row):
        if not 0 <= source < nodes:
            raise CodeError(f"an edge from node {source} of {nodes}")
        last[source] = len(src)
        src.append(source)
        dst.append(target)
        features.append(row)

    def reference(kind, place, source):
        if kind == EDGE_PLACE:
            return base["edge_feat"][first[same[node]] + place]
        if kind == EDGE_SOURCE:
            if source in last:
                return features[last[source]]
            return base["edge_feat"][np.flatnonzero(base["edge_src"] == same[source])[0]]
        if kind == EDGE_AGAIN:
            return features[len(features) - data.unsigned()]
        if kind == EDGE_OTHER:
            return base["edge_feat"][data.unsigned()]
        if kind == EDGE_NOTHING:
            return np.zeros(width, np.float32)
        raise CodeError(f"an edge with reference {kind}")

    for _ in range(others):
        start = node
        node += data.unsigned()
        as_before(start, node)
        for place in range(data.unsigned()):
            source = node - 1 - data.signed()
            head = data.unsigned()
            row = np.array(reference(head & 7, place, source))
            data.changes(head >> 3, row)
            add(source, node, row)
        node += 1
    as_before(node, nodes)
    if len(src) != edges:
        raise CodeError(f"{len(src)} edges, not {edges}")
    return np.array(src, np.int32), np.array(dst, np.int32), np.array(features, np.float32).reshape(edges, width)


class _Location:
    """A match: its root, its other nodes, its features."""

    def __init__(self, node, rest, features):
        self.node, self.rest, self.features = node, rest, features

    def moved(self, to):
        """Where its nodes are now; None where one of them is gone."""
        node, rest = to[self.node], [to[other] for other in self.rest]
        return None if node < 0 or any(other < 0 for other in rest) else _Location(node, rest, self.features)


def _locations_of(seen, nodes, width, has_rest):
    """Those of a base, by xfer; none where they say less or more than is asked for."""
    counts, ends = seen["counts"], seen["loc_rest_end"]
    if not nodes or (seen["loc_feat"].shape[1], len(ends) > 0) != (width, bool(has_rest)):
        return None if nodes else [[] for _ in counts]
    found, at = [], 0
    for count in counts:
        places = range(at, at + int(count))
        found.append([_Location(seen["loc_node"][k], seen["loc_rest"][ends[k - 1] if k else 0 : ends[k]] if has_rest else [], seen["loc_feat"][k]) for k in places])
        at += int(count)
    return found


def _locations(data, base, nodes, xfers, to, width, has_rest):
    before = _locations_of(base, nodes, width, has_rest)
    counts = base["counts"].copy() if before is not None else np.zeros(xfers, np.int32)
    before = before or [[] for _ in range(xfers)]
    lists, xfer = {}, 0
    for _ in range(data.unsigned()):
        xfer += data.unsigned()
        counts[xfer] += data.signed()
        if nodes:
            alive = [place for place in (old.moved(to) for old in before[xfer]) if place is not None]
            lists[xfer] = _list(data, alive, int(counts[xfer]), width, has_rest)
        xfer += 1
    places = [place for xfer in range(xfers) for place in lists.get(xfer) or ([] if xfer in lists else [old.moved(to) for old in before[xfer]])]
    if any(place is None for place in places):
        raise CodeError("a location is at a node that is gone")
    features = np.array([place.features for place in places], np.float32).reshape(len(places), width)
    rest = [list(place.rest) for place in places] if has_rest else []
    return counts, {
        "loc_node": np.array([place.node for place in places], np.int32),
        "loc_feat": features if places else np.zeros((0, 0), np.float32),
        "loc_rest_end": np.cumsum([len(nodes) for nodes in rest], dtype=np.int32) if rest else np.zeros(0, np.int32),
        "loc_rest": np.array(sum(rest, []), np.int32),
    }


def _list(data, before, count, width, has_rest):
    found, at = [], 0
    while len(found) < count:
        copies = data.unsigned()
        found.extend(before[at : at + copies])
        at += copies
        if len(found) >= count:
            break
        at += data.unsigned()
        for _ in range(data.unsigned()):
            found.append(_new_location(data, found[-1] if found else None, width, has_rest))
    if len(found) != count:
        raise CodeError(f"{len(found)} locations, not {count}")
    return found


def _new_location(data, previous, width, has_rest):
    node = (previous.node if previous else 0) + data.signed()
    rest = [node + data.signed() for _ in range(data.unsigned())] if has_rest else []
    features = np.array(previous.features if previous else np.zeros(width), np.float32)
    if width:
        data.changes(data.unsigned(), features)
    return _Location(node, rest, features)
