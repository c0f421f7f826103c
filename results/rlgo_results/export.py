"""Rollouts and metrics for other tools: CSV, Minari, TensorBoard."""
import importlib
import os
from pathlib import Path

import numpy as np
import pandas as pd

from . import store

PADDING = -1  # in arrays of graphs that are shorter than the longest


class Missing(RuntimeError):
    """An optional package is not installed; the message names it."""


def optional(module, package):
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise Missing(f"{module} is not installed ({error}): pip install {package}") from error


def csv(runs, out):
    """out/runs.csv, metrics.csv, episodes.csv, steps.csv: all runs, distinguished by the column `run`. Returns {file: rows}."""
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    tables = {"runs": pd.DataFrame([{"run": run.name, "path": str(run.path), "revision": run.revision, **run.config} for run in runs]),
              "metrics": [run.metrics for run in runs], "episodes": [], "steps": []}  # fmt: skip
    for run in runs:
        try:
            found = run.rollouts()
        except FileNotFoundError as error:
            run.problems.append(str(error))
            found = None
        for kind in ("episodes", "steps"):
            frame = getattr(found, kind) if found else pd.DataFrame()
            tables[kind].append(frame.assign(part=[Path(p).name for p in frame["part"]]) if len(frame) else frame)
    written = {}
    for kind, frames in tables.items():
        if kind != "runs":
            frames = pd.concat([frame.assign(run=run.name) for run, frame in zip(runs, frames)], ignore_index=True)
            frames.insert(0, "run", frames.pop("run"))
        frames.to_csv(out / f"{kind}.csv", index=False)
        written[out / f"{kind}.csv"] = len(frames)
    return written


# ---- Minari -----------------------------------------------------------------------------------------------------------


def _padded(arrays, fill=PADDING):
    """Arrays [n_i, ...] as one [len, max n, ...]."""
    longest = max(len(a) for a in arrays)
    out = np.full((len(arrays), longest, *arrays[0].shape[1:]), fill, dtype=arrays[0].dtype)
    for row, a in zip(out, arrays):
        row[: len(a)] = a
    return out


def _read_episodes(runs, limit, graphs):
    """(header, [(place, observations, steps)]): real episodes of all runs, `limit` at most of each."""
    header, episodes = None, []
    keep = ("counts", "globals") + (("node_op", "node_feat", "edge_src", "edge_dst", "edge_feat", "loc_node", "loc_feat", "loc_rest_end", "loc_rest") if graphs else ())
    for run in runs:
        taken = 0
        for path in store.part_paths(run.path):
            if limit and taken >= limit:
                break
            try:
                with store.Part(path) as part:
                    same = (part.attributes["spec_hash"], tuple(part.xfer_names), part.attributes["max_locations"])
                    header = header or same
                    if header != same:
                        raise ValueError(f"{path}: other rules or features than {runs[0].path}; a Minari dataset holds one kind of observation")
                    frame, steps = part.episodes(), part.steps()
                    real = frame[~frame["dream"]]
                    for _, episode in real.head(limit - taken if limit else len(real)).iterrows():
                        row = int(episode["row"])
                        seen = [part.observation(row, step) for step in range(int(episode["steps"]) + 1)]
                        episodes.append((episode, {key: [o[key] for o in seen] for key in keep}, steps[steps["row"] == row]))
                        taken += 1
            except store.Damaged as error:
                run.problems.append(str(error))
    if not episodes:
        raise ValueError("no real episode is stored")
    return header, episodes


def minari(runs, out, name=None, limit=0, graphs=False):
    """A Minari dataset under the folder `out` (a MINARI_DATASETS_PATH). Observations: {counts [xfers], globals [g]}, and with
    `graphs` the graph itself, padded with -1 to the largest. Actions: (xfer, location). Returns the dataset."""
    os.environ["MINARI_DATASETS_PATH"] = str(Path(out).resolve())  # before minari is imported: it makes the folder
    minari_module, spaces = optional("minari", "minari"), optional("gymnasium", "gymnasium").spaces
    episode_buffer = importlib.import_module("minari.data_collector").EpisodeBuffer
    header, episodes = _read_episodes(runs, limit, graphs)
    longest = {key: max(len(a) for _, seen, _ in episodes for a in seen[key]) for key in episodes[0][1]}
    buffers = []
    for number, (episode, seen, steps) in enumerate(episodes):
        observations = {}
        for key, arrays in seen.items():
            padded = _padded(arrays)
            fill = np.full((len(padded), longest[key] - padded.shape[1], *padded.shape[2:]), PADDING, padded.dtype)
            observations[key] = np.concatenate([padded, fill], axis=1)
        end = np.zeros(len(steps), bool)
        end[-1] = True
        infos = {key: np.concatenate([[episode["initial_cost_us"]] if key == "cost_us" else [0.0], steps[key]]) for key in ("cost_us", "step_us")}
        buffers.append(episode_buffer(id=number, seed=int(episode["seed"]), observations=observations, actions=steps[["xfer", "location"]].to_numpy(np.int64),
                                      rewards=steps["reward"].to_numpy(np.float64), terminations=end & bool(episode["terminal"]),
                                      truncations=end & bool(episode["truncated"]), infos=infos))  # fmt: skip
    space = spaces.Dict({key: spaces.Box(-np.inf if a.dtype.kind == "f" else np.iinfo(a.dtype).min, np.inf if a.dtype.kind == "f" else np.iinfo(a.dtype).max,
                                         a.shape[1:], a.dtype) for key, a in buffers[0].observations.items()})  # fmt: skip
    actions = spaces.MultiDiscrete([len(header[1]) + 1, header[2]])
    graph, agents = runs[0].graph, sorted({run.agent for run in runs})
    dataset = minari_module.create_dataset_from_buffers(
        name or f"rlgo/{graph}-{'-'.join(agents)}-v0", buffers, observation_space=space, action_space=actions, algorithm_name=", ".join(agents),
        description=f"Rewriting {graph} with rlgo; xfers: {', '.join(header[1])}, NO-OP")  # fmt: skip
    spec = environment_spec(runs[0])
    if spec is None:
        return dataset
    # By hand: create_dataset_from_buffers would make the environment, which not everybody who exports has installed.
    dataset.storage.update_metadata({"env_spec": spec.to_json()})
    return minari_module.load_dataset(dataset.id)


def environment_spec(run):
    """The Gymnasium environment (docs/gymnasium.md) that a run's episodes were played in, as a spec that needs the package rlgo only
    when it is made. None where the package has no such environment: measured costs and times, sizes given by options."""
    config = run.config
    if config.get("cost") != "analytic" or config.get("env.reward") in ("R4", "latency") or config.get("dim") or config.get("size"):
        return None
    if any(value != ("1" if key == "zoo.batch" else "0") for key, value in config.items() if key.startswith("zoo.")):
        return None
    weights = [float(config[f"env.weight-{part}"]) for part in ("flops", "bytes", "peak", "launches")]
    arguments = {
        "graph": run.graph, "cost": config["cost.profile"], "reward": config["env.reward"], "action": "pair", "rules": config.get("rules") or None,
        "max_steps": int(config["env.max-steps"]), "max_locations": int(config["env.max-locations"]), "weights": weights,
    }  # fmt: skip
    registration = optional("gymnasium", "gymnasium").envs.registration
    return registration.EnvSpec(id="rlgo/Rewrite-v0", entry_point="rlgo.gym.env:RewriteEnv", kwargs=arguments, disable_env_checker=True)


# ---- TensorBoard ------------------------------------------------------------------------------------------------------

SPEED = {"collect_s", "update_s", "waiting_fraction", "steps_per_s", "actors", "bytes_in", "bytes_out", "host_memory_mb", "device_memory_mb", "lag_min", "lag_mean", "lag_max", "weights_version"}


def tag(column):
    """Of a column of metrics.csv: its section in TensorBoard, and its name."""
    if column.startswith("wm_"):
        return f"world-model/{column}"
    if column.startswith(("dream", "real_", "return_gap", "epoch_dream")):
        return f"dream/{column}"
    if column in SPEED:
        return f"speed/{column}"
    if column.startswith(("episode", "epoch_", "best_", "dropped", "lost")) or column in ("steps", "seconds"):
        return f"episodes/{column}"
    return f"ppo/{column}"


SUFFIX = ".rlgo"  # of event files: others in the folder stay


def tensorboard(runs, out):
    """out/NAME/events.out.tfevents...: a scalar for each column of metrics.csv, over epochs; the options as text. Returns the number
    of scalars."""
    writer_of = optional("tensorboardX", "tensorboardX").SummaryWriter
    count = 0
    for run in runs:
        folder = Path(out) / run.name
        for old in folder.glob(f"events.out.tfevents.*{SUFFIX}"):
            old.unlink()  # of an earlier export of the same run
        begin = (run.path / "config.cfg").stat().st_mtime
        with writer_of(str(folder), filename_suffix=SUFFIX) as writer:
            writer.add_text("options", "\n".join(f"    {key} = {value}" for key, value in run.config.items()), 0, begin)
            for _, row in run.metrics.iterrows():
                for column, value in row.drop("epoch").dropna().items():
                    writer.add_scalar(tag(column), value, int(row["epoch"]), begin + row.get("seconds", 0.0))
                    count += 1
    return count
