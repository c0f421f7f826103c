"""How observations are stored: the one place that decodes them (docs/store.md has the format).

A decoder is made for an open part; read(episode, step) gives the arrays of one observation:
node_op [n], node_feat [n, F], edge_src and edge_dst [e], edge_feat [e, G], globals [g], counts [xfers], loc_node [locations],
loc_feat [locations, H], loc_rest_end [locations] or empty, loc_rest (other matched nodes; H is 0 and they are empty before version 3).
Locations 0 .. counts[x]-1 of xfer x are legal; loc_node is grouped by xfer in order.
"""
from functools import cached_property

import numpy as np

from .observation_code import decode


class Full:
    """Coding "full", version 1: each observation whole."""

    def __init__(self, file, step_offset):
        self.file, self.step_offset = file, step_offset

    def read(self, episode, step):
        row = self.step_offset[episode] + step + episode
        node_op, node_feat = self._ragged("node_offset", row, "nodes/op", "nodes/features")
        edge_src, edge_dst, edge_feat = self._ragged("edge_offset", row, "edges/src", "edges/dst", "edges/features")
        (loc_node,) = self._ragged("location_offset", row, "locations/node")
        return {
            "node_op": node_op, "node_feat": node_feat, "edge_src": edge_src, "edge_dst": edge_dst, "edge_feat": edge_feat,
            "globals": self._rows("observations/globals", row, row + 1).reshape(-1),
            "counts": self._rows("observations/counts", row, row + 1).reshape(-1), "loc_node": loc_node,
            "loc_feat": np.zeros((len(loc_node), 0), np.float32), "loc_rest_end": np.zeros(0, np.int32), "loc_rest": np.zeros(0, np.int32),
        }  # fmt: skip

    def _ragged(self, offsets, row, *names):
        start, end = self.file[f"observations/{offsets}"][row : row + 2]
        return [self._rows(name, start, end) for name in names]

    def _rows(self, name, start, end):
        if name in self.file:
            return self.file[name][start:end]
        return np.zeros((end - start, 0), dtype=np.int32 if name == "observations/counts" else np.float32)  # width 0: not stored


class Difference:
    """Coding "difference", versions 2 to 4: each observation as its differences from an earlier one."""

    HELD = 64  # observations that are kept; one takes some tens of others at most, mostly the one before

    def __init__(self, file, step_offset):
        self.file, self.step_offset = file, step_offset
        self.held = {}  # by row

    @cached_property
    def base(self):  # read when first asked for: most parts are opened for their episodes and steps alone
        return self.file["observations/base"][:]

    @cached_property
    def offset(self):
        return self.file["observations/code_offset"][:]

    def read(self, episode, step):
        seen = self._row(int(self.step_offset[episode] + step + episode))
        return {name: np.array(values) for name, values in seen.items()}

    def _row(self, row):
        rows = []
        while row >= 0 and row not in self.held:
            rows.append(row)
            if self.base[row] >= row:
                raise OSError(f"observations/base is {self.base[row]} in row {row}")
            row = int(self.base[row])
        seen = self.held.get(row)
        for row in reversed(rows):
            code = self.file["observations/code"][self.offset[row] : self.offset[row + 1]]
            try:
                seen = self.held[row] = decode(code.tobytes(), seen)
            except ValueError as error:
                raise OSError(f"row {row}: {error}") from error
        for old in [row for row in self.held if row > 0][: -self.HELD]:  # many refer to row 0
            del self.held[old]
        return seen


DECODERS = {(1, "full"): Full} | {(version, "difference"): Difference for version in (2, 3, 4, 5)}
