"""The rollout store (schema: docs/store.md) as data frames, while it is being written or after a crash.

Parts are written whole and renamed, so every part in the folder is complete unless the disk or a copy damaged it. What cannot be
read is left out and named in `problems`; `.tmp-` files are a part that is being written, or one that a killed run left behind.
"""
import re
from pathlib import Path

import h5py
import numpy as np
import pandas as pd

from .observations import DECODERS

FORMAT = "rlgo-rollouts"
CHECKSUM_BYTES = 512
PART_NAME = re.compile(r"part-(\d{3,})-(\d{6,})(?:-(\d{6,}))?\.h5")
FLAGS = ("terminal", "truncated", "dream")


class Damaged(ValueError):
    """A part that cannot be read; the message names it and says why."""


def parts_folder(path):
    path = Path(path)
    return path / "rollouts" if (path / "rollouts").is_dir() else path


def part_paths(path):
    """Part files that a path means (a part, a folder of parts, a run folder), in order, without those that a merged part covers."""
    path = Path(path)
    if path.is_file():
        return [path]
    path = parts_folder(path)
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


def unfinished_parts(path):
    """Temporaries of parts: being written now, or left by a killed run."""
    folder = parts_folder(path)
    return sorted(folder.glob("*.tmp-*")) if folder.is_dir() else []


def verify_checksum(path):
    """Throws Damaged where the file is not a part, or not as long as it was when it was written."""
    size = path.stat().st_size
    with open(path, "rb") as file:
        head = file.read(CHECKSUM_BYTES)
    if not head.startswith(b"rlgo "):
        raise Damaged(f"{path}: not a part of a rollout store (its checksum is missing)")
    found = re.search(rb"\nbytes (\d+)\n", head)
    if not found or int(found[1]) != size:
        raise Damaged(f"{path}: truncated or altered: {size} bytes, written with {int(found[1]) if found else 'an unknown number'}")


class Part:
    """One part file. Arrays are read when they are asked for. Throws Damaged."""

    def __init__(self, path):
        self.path = Path(path)
        verify_checksum(self.path)
        try:
            self.file = h5py.File(self.path, "r")
        except OSError as error:
            raise Damaged(f"{path}: {error}") from error
        try:
            self._open()
        except (KeyError, OSError) as error:
            self.file.close()
            raise Damaged(f"{path}: {error}") from error
        except Damaged:
            self.file.close()
            raise

    def _open(self):
        self.attributes = {name: _plain(value) for name, value in self.file.attrs.items()}
        if self.attributes.get("format") != FORMAT:
            raise Damaged(f"{self.path}: format {self.attributes.get('format')!r}, not {FORMAT!r}")
        coding = (self.attributes.get("version"), self.attributes.get("coding"))
        if coding not in DECODERS:
            known = ", ".join(f"{version} ({name})" for version, name in DECODERS)
            raise Damaged(f"{self.path}: version {coding[0]} (coding {coding[1]!r}) of the format; this package reads {known}")
        self.xfer_names = [name.decode() for name in self.file["xfer_names"][:]]
        self.rule_names = [name.decode() for name in self.file["rule_names"][:]]
        self.step_offset = self.file["episodes/step_offset"][:]
        self.decoder = DECODERS[coding](self.file, self.step_offset)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()

    def __len__(self):
        """Number of episodes."""
        return len(self.step_offset) - 1

    def episodes(self):
        """DataFrame: the datasets of /episodes, with the row in this part, steps and return (sum of rewards)."""
        return pd.DataFrame(self.episode_columns())

    def steps(self):
        """DataFrame: the datasets of /steps, with the rule's name, the episode's row in this part, and the step's number."""
        return pd.DataFrame(self.step_columns())

    def episode_columns(self):
        """As episodes(): {name: array}."""
        columns = {"row": np.arange(len(self))} | {name: self._array(f"episodes/{name}") for name in self.file["episodes"] if not name.endswith("_offset")}
        for flag in FLAGS:
            columns[flag] = columns[flag].astype(bool)
        lengths = np.diff(self.step_offset)
        # Each episode's own sum, first step first: the same bits whatever stands next to it in the part (differences of running sums are not).
        returns = np.bincount(np.repeat(np.arange(len(self)), lengths), weights=self._array("steps/reward"), minlength=len(self))
        return columns | {"steps": lengths, "return": returns}

    def step_columns(self):
        """As steps(): {name: array}."""
        lengths = np.diff(self.step_offset)
        step = np.arange(self.step_offset[-1]) - np.repeat(self.step_offset[:-1], lengths)
        columns = {"row": np.repeat(np.arange(len(self)), lengths), "step": step} | {name: self._array(f"steps/{name}") for name in self.file["steps"]}
        names = np.array(self.rule_names + [""], dtype=object)  # -1, no rule, is the last one
        return columns | {"rule": names[columns["rule"]]}

    def observation(self, episode, step):
        """Arrays of one observation: the one before `step` of the part's `episode`-th episode; step = steps: the final one."""
        if not 0 <= episode < len(self):
            raise IndexError(f"{self.path}: episode {episode} of {len(self)}")
        steps = self.step_offset[episode + 1] - self.step_offset[episode]
        if not 0 <= step <= steps:
            raise IndexError(f"{self.path}: step {step} of an episode of {steps} steps")
        try:
            return self.decoder.read(int(episode), int(step))
        except (KeyError, OSError) as error:
            raise Damaged(f"{self.path}: observation {step} of episode {episode}: {error}") from error

    def _array(self, name):
        try:
            return self.file[name][:]
        except (KeyError, OSError) as error:
            raise Damaged(f"{self.path}: {name}: {error}") from error


class Rollouts:
    """Episodes of one or many stores. `episodes`: a row each, `steps`: a row each; `part` (a path) and `row` name the episode in
    both. `problems`: a line for each file that was left out."""

    def __init__(self, episodes, steps, problems):
        self.episodes, self.steps, self.problems = episodes, steps, problems

    def observation(self, index, step):
        """Arrays (see Part.observation) of the episode in row `index` of `episodes`."""
        place = self.episodes.iloc[index]
        with Part(place["part"]) as part:
            return part.observation(place["row"], step)


def load(paths, steps=True):
    """Rollouts of paths (parts, folders of parts, run folders); one path may be given as it is. steps=False: episodes alone, which
    is quick. Throws FileNotFoundError where nothing is there."""
    paths = [paths] if isinstance(paths, (str, Path)) else list(paths)
    tables, problems, seen = {"episodes": [], "steps": []}, [], set()
    for path in paths:
        for file in _parts_now(path, problems):
            if file.resolve() in seen:
                continue
            seen.add(file.resolve())
            try:
                with Part(file) as part:
                    read = {"episodes": part.episode_columns()} | ({"steps": part.step_columns()} if steps else {})
            except Damaged as error:
                problems.append(str(error))
                continue
            for kind, columns in read.items():
                tables[kind].append((str(file), columns))
        problems += [f"{file}: being written, or left by a killed run: not read" for file in unfinished_parts(path)]
    if not tables["episodes"]:
        raise FileNotFoundError("; ".join([f"{', '.join(map(str, paths))}: no rollout parts (part-*.h5)", *problems]))
    return Rollouts(_frame(tables["episodes"]), _frame(tables["steps"]), problems)


def _parts_now(path, problems):
    """Parts in order. One that compaction merges into a wider one while we read is read there, and not twice."""
    files = part_paths(path)
    if any(not file.exists() for file in files):
        files = part_paths(path)
    if not files and Path(path).is_dir():
        problems.append(f"{path}: no finished part yet")
    return files


def _frame(tables):
    """A data frame of [(part, {name: array})], with the column `part` in front. A column that some parts do not have is missing there."""
    lengths = [len(columns["row"]) for _, columns in tables]
    names = dict.fromkeys(name for _, columns in tables for name in columns)
    missing = [np.full(length, np.nan) for length in lengths]
    frame = {name: np.concatenate([columns.get(name, gap) for (_, columns), gap in zip(tables, missing)]) for name in names}
    parts = pd.Categorical.from_codes(np.repeat(np.arange(len(tables)), lengths), [part for part, _ in tables])
    return pd.DataFrame({"part": parts} | frame)


def _plain(value):
    return value.decode() if isinstance(value, bytes) else value.item() if isinstance(value, np.generic) else value
