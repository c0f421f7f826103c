#!/usr/bin/env python3
"""Draws what `rlgo bench scale --scale.csv FILE` measured.

    python results/scale_plot.py results/scale-random.csv [more.csv ...] -o results/scale.svg [--table]

One column of pictures per file: steps/s with what the cores allow, what a step costs in bytes, memory and idle CPU.
--table prints the numbers as Markdown, too; docs/scale.md explains them.
"""
import argparse
import sys

import pandas as pd

from rlgo_results.columns import RENAMED
from rlgo_results.plot import legend, markdown, new_figure, save


def axis_of(axes, row, column, title, label):
    axis = axes[row][column]
    axis.set(title=title, ylabel=label)
    axis.set_xscale("log", base=2)
    return axis


def draw(frames, out):
    figure, axes = new_figure(4, len(frames), width=5 * len(frames), height=13)
    for column, frame in enumerate(frames):
        n, cores = frame["actors"], int(frame["cores"].iloc[0])
        agent = frame["agent"].iloc[0]
        axis = axis_of(axes, 0, column, f"{frame['graph'].iloc[0]}, agent {agent}, {cores} cores", "steps/s, all actors")
        axis.plot(n, frame["steps_per_s"], "o-", label="run")
        axis.plot(n, frame["env_per_s"] * n.clip(upper=cores), "--", label="bare environment x min(N, cores)")
        axis.plot(n, frame["loop_per_s"] * n.clip(upper=cores), ":", label="environment and policy x min(N, cores)")
        axis.set_ylim(bottom=0)
        legend(axis)
        axis = axis_of(axes, 1, column, "rate(N) / (N rate(first))", "share")
        axis.plot(n, frame["efficiency"], "o-", label="run")
        axis.plot(n, frame["cores_allow"] / frame["cores_allow"].iloc[0], "--", label="cores allow: min(N, cores) / N")
        axis.plot(n, frame["waiting_fraction"], "s:", label="learner's waiting fraction")
        axis.set_ylim(0, 1.1)
        legend(axis)
        axis = axis_of(axes, 2, column, "bytes a step", "bytes")
        axis.plot(n, frame["message_bytes"], "o-", label="messages")
        axis.plot(n, frame["store_bytes"], "s-", label="store")
        axis.axhline(1024, color="gray", linestyle="--", linewidth=1, label="1 KB")
        axis.set_ylim(bottom=0)
        legend(axis)
        axis = axis_of(axes, 3, column, "an actor", "MiB")
        axis.plot(n, frame["actor_resident_mib"], "o-", label="resident")
        axis.plot(n, frame["actor_private_mib"], "s-", label="private")
        axis.set_ylim(bottom=0)
        axis.set_xlabel("actors")
        other = axis.twinx()
        other.plot(n, 100 * frame["idle_cpu"], "^:", color="tab:red", label="CPU while waiting")
        other.set_ylabel("% of a core")
        other.set_ylim(0, max(4, 110 * frame["idle_cpu"].max()))
        lines = axis.get_lines() + other.get_lines()
        legend(axis, handles=lines)
    save(figure, out)


def table(frame):
    percent = ["of_env", "of_loop", "of_loop_by_cpu", "actor_sleeps", "efficiency", "cores_allow", "waiting_fraction", "idle_cpu"]
    shown = frame[[c for c in ["actors", "learners", "env_per_s", "loop_per_s", "steps_per_s", *percent[:-1], "update_us", "lag_mean", "message_bytes",
                               "store_bytes", "actor_resident_mib", "actor_private_mib", "idle_cpu"] if c in frame]].copy()  # fmt: skip
    for column in percent:
        if column in shown:
            shown[column] *= 100
    return markdown(shown.rename(columns={c: f"{c}, %" for c in percent}), 3)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("csv", nargs="+", help="files of rlgo bench scale --scale.csv")
    parser.add_argument("-o", "--out", required=True, help="picture (.svg, .png)")
    parser.add_argument("--table", action="store_true", help="print the numbers as Markdown")
    options = parser.parse_args(arguments)
    try:
        frames = [pd.read_csv(path).rename(columns=RENAMED) for path in options.csv]
        draw(frames, options.out)
        if options.table:
            print("\n\n".join(table(frame) for frame in frames))
    except (OSError, KeyError, ValueError) as error:
        print(f"scale_plot.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
