#!/usr/bin/env python3
"""Reads the rollout store of a run (schema: replay/README.md).

As a program:
    python results/rollouts.py runs/NAME                  # a summary
    python results/rollouts.py runs/NAME --plot out.png   # and a picture: return and best cost over episodes

As a module:
    episodes = load_episodes("runs/NAME")                 # a row per episode
    steps = load_steps("runs/NAME")                       # a row per step
    with Part(path) as part:                              # one part file, lazily
        seen = part.observation(episode=3, step=0)        # its arrays
"""
import argparse
import re
import sys
from pathlib import Path

import h5py
import numpy as np
import pandas as pd

FORMAT, VERSION, CODING = "rlgo-rollouts", 1, "full"
PART_NAME = re.compile(r"part-(\d{3,})-(\d{6,})(?:-(\d{6,}))?\.h5")


def part_paths(path):
    """Part files that a path means (a part, a folder of parts, a run folder), in order, without those that a merged part
    covers."""
    path = Path(path)
    if path.is_file():
        return [path]
    if (path / "rollouts").is_dir():
        path = path / "rollouts"
    if not path.is_dir():
        raise FileNotFoundError(f"{path}: no such file or folder")
    parts = []
    for entry in path.iterdir():
        if match := PART_NAME.fullmatch(entry.name):
            writer, first, last = match.groups()
            parts.append((int(writer), int(first), -int(last or first), entry))
    parts.sort()
    kept = []
    for writer, first, minus_last, entry in parts:
        if kept and kept[-1][0] == writer and -minus_last <= -kept[-1][2]:
            continue
        kept.append((writer, first, minus_last, entry))
    return [entry for *_, entry in kept]


class Part:
    """One part file. Arrays are read when they are asked for."""

    def __init__(self, path):
        self.path = Path(path)
        self.file = h5py.File(self.path, "r")
        attributes = {name: _plain(value) for name, value in self.file.attrs.items()}
        found = (attributes.get("format"), attributes.get("version"), attributes.get("coding"))
        if found != (FORMAT, VERSION, CODING):
            self.file.close()
            raise ValueError(f"{path}: format, version, coding are {found}, this module reads {(FORMAT, VERSION, CODING)}")
        self.attributes = attributes
        self.xfer_names = [name.decode() for name in self.file["xfer_names"][:]]
        self.rule_names = [name.decode() for name in self.file["rule_names"][:]]
        self.step_offset = self.file["episodes/step_offset"][:]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()

    def __len__(self):
        """Number of episodes."""
        return len(self.step_offset) - 1

    def episodes(self):
        """DataFrame: the datasets of /episodes, with steps and return (sum of rewards)."""
        frame = pd.DataFrame({name: data[:] for name, data in self.file["episodes"].items() if name != "step_offset"})
        for flag in ("terminal", "truncated", "dream"):
            frame[flag] = frame[flag].astype(bool)
        frame["steps"] = np.diff(self.step_offset)
        # The sum over each episode as a difference of running sums; float64, as rewards are float32.
        running = np.concatenate([[0.0], np.cumsum(self.file["steps/reward"][:], dtype=np.float64)])
        frame["return"] = running[self.step_offset[1:]] - running[self.step_offset[:-1]]
        return frame

    def steps(self):
        """DataFrame: the datasets of /steps, with the rule's name, the episode's row in this part, and the step's number."""
        frame = pd.DataFrame({name: data[:] for name, data in self.file["steps"].items()})
        names = np.array(self.rule_names + [""], dtype=object)  # -1, no rule, is the last one
        frame["rule"] = names[frame["rule"]]
        lengths = np.diff(self.step_offset)
        frame.insert(0, "row", np.repeat(np.arange(len(self)), lengths))
        frame.insert(1, "step", np.arange(len(frame)) - np.repeat(self.step_offset[:-1], lengths))
        return frame

    def observation(self, episode, step):
        """Arrays of one observation: the one before `step` of the part's `episode`-th episode; step = steps: the final one.

        node_op [n], node_feat [n, F], edge_src and edge_dst [e], edge_feat [e, G], globals [g], counts [xfers],
        loc_node [locations]; locations 0 .. counts[x]-1 of xfer x are legal, grouped by xfer in loc_node."""
        if not 0 <= episode < len(self):
            raise IndexError(f"{self.path}: episode {episode} of {len(self)}")
        first, last = self.step_offset[episode], self.step_offset[episode + 1]
        if not 0 <= step <= last - first:
            raise IndexError(f"{self.path}: step {step} of an episode of {last - first} steps")
        row = first + step + episode

        def ragged(offsets, *names):
            start, end = self.file[f"observations/{offsets}"][row : row + 2]
            return [self._rows(name, start, end) for name in names]

        node_op, node_feat = ragged("node_offset", "nodes/op", "nodes/features")
        edge_src, edge_dst, edge_feat = ragged("edge_offset", "edges/src", "edges/dst", "edges/features")
        (loc_node,) = ragged("location_offset", "locations/node")
        return {
            "node_op": node_op, "node_feat": node_feat, "edge_src": edge_src, "edge_dst": edge_dst, "edge_feat": edge_feat,
            "globals": self._rows("observations/globals", row, row + 1).reshape(-1),
            "counts": self._rows("observations/counts", row, row + 1).reshape(-1), "loc_node": loc_node,
        }  # fmt: skip

    def _rows(self, name, start, end):
        if name in self.file:
            return self.file[name][start:end]
        return np.zeros((end - start, 0), dtype=np.int32 if name == "observations/counts" else np.float32)  # width 0: not stored


def _plain(value):
    return value.decode() if isinstance(value, bytes) else value.item() if isinstance(value, np.generic) else value


def _load(run, read):
    frames = []
    for path in part_paths(run):
        with Part(path) as part:
            frame = read(part)
            frame.insert(0, "part", path.name)
            frames.append(frame)
    if not frames:
        raise FileNotFoundError(f"{run}: no rollout parts (part-*.h5) in it")
    return pd.concat(frames, ignore_index=True)


def load_episodes(run):
    """All episodes of a run, a row each: see Part.episodes; `part` is the file, `row` the episode's place in it."""

    def read(part):
        frame = part.episodes()
        frame.insert(0, "row", np.arange(len(part)))
        return frame

    return _load(run, read)


def load_steps(run):
    """All steps of a run, a row each: see Part.steps; (part, row) names the episode as in load_episodes."""
    return _load(run, Part.steps)


def summary(run):
    """A text like that of `rlgo inspect`, made by other means."""
    episodes, steps = load_episodes(run), load_steps(run)
    uses = steps.loc[steps["rule"] != "", "rule"].value_counts()
    lines = [
        f"parts      {episodes['part'].nunique()}",
        f"episodes   {len(episodes)} ({int(episodes['terminal'].sum())} terminal, {int(episodes['truncated'].sum())} truncated)",
        f"steps      {len(steps)}",
        f"return     min {episodes['return'].min():.4g}, mean {episodes['return'].mean():.4g}, max {episodes['return'].max():.4g}",
        f"best cost  {episodes['best_cost_us'].min():.6g} us, from {episodes['initial_cost_us'].iloc[0]:.6g} us",
    ]
    lines += [f"rule       {count:8} {rule}" for rule, count in uses.items()]
    return "\n".join(lines)


def plot(run, out):
    """Return and best cost of each episode in the order of arrival, with running means, as a picture."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    episodes = load_episodes(run)
    window = max(1, len(episodes) // 50)
    figure, axes = plt.subplots(2, 1, sharex=True, figsize=(8, 6))
    for axis, column, label in ((axes[0], "return", "return"), (axes[1], "best_cost_us", "lowest cost in the episode, us")):
        axis.plot(episodes[column], ".", markersize=2, alpha=0.4)
        axis.plot(episodes[column].rolling(window, min_periods=1).mean(), label=f"mean of {window}")
        axis.set_ylabel(label)
        axis.legend()
    axes[1].axhline(episodes["initial_cost_us"].iloc[0], color="gray", linestyle="--", linewidth=1)
    axes[1].set_xlabel("episode")
    figure.suptitle(str(run))
    figure.tight_layout()
    figure.savefig(out)
    plt.close(figure)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("run", help="a run folder, a folder of parts, or a part")
    parser.add_argument("--plot", metavar="FILE", help="write a picture of return and best cost")
    options = parser.parse_args(arguments)
    try:
        print(summary(options.run))
        if options.plot:
            plot(options.run, options.plot)
    except BrokenPipeError:  # the reader of our output has seen enough
        sys.stderr.close()
        return 1
    except (OSError, ValueError) as error:
        print(f"rollouts.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
