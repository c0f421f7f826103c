"""A run in a terminal while it continues: what it has found, how fast it is, and its curves as lines of blocks."""
import csv
import io
import math
import shutil
import time
from pathlib import Path

BLOCKS = "▁▂▃▄▅▆▇█"
# column of metrics.csv: (what it is called here, factor, unit)
CURVES = {
    "best_cost_us": ("best cost", 1e-3, "ms"),
    "episode_cost_mean_us": ("mean cost at an episode's end", 1e-3, "ms"),
    "episode_reward_mean": ("reward of an episode", 1, "%"),
    "episode_length_mean": ("length of an episode", 1, "steps"),
    "policy_loss": ("policy loss", 1, ""),
    "value_loss": ("value loss", 1, ""),
    "entropy": ("entropy", 1, "nats"),
    "wm_loss": ("world model's loss", 1, ""),
    "steps_per_s": ("speed", 1, "steps/s"),
}


def read(folder):
    """Rows of metrics.csv as dicts of numbers; a last line that is being written is left out."""
    path = Path(folder) / "metrics.csv"
    if not path.is_file():
        return []
    text = path.read_text(encoding="utf-8", errors="replace")
    text = text[: text.rfind("\n") + 1]

    def number(cell):
        try:
            return float(cell)
        except (TypeError, ValueError):
            return math.nan

    return [{name: number(cell) for name, cell in row.items() if name} for row in csv.DictReader(io.StringIO(text))]


def sparkline(values, width):
    """The finite values as blocks, averaged into `width` columns."""
    known = [v for v in values if math.isfinite(v)]
    if not known:
        return ""
    count = min(width, len(known))
    cuts = [round(k * len(known) / count) for k in range(count + 1)]
    means = [sum(known[a:b]) / (b - a) for a, b in zip(cuts, cuts[1:])]
    low, high = min(means), max(means)
    return "".join(BLOCKS[int((v - low) / (high - low) * (len(BLOCKS) - 1) + 0.5) if high > low else 0] for v in means)


def draw(folder, width=80):
    """The picture as text, and whether the run has ended."""
    folder = Path(folder)
    rows = read(folder)
    ended = (folder / "summary.txt").is_file()
    lines = [f"{folder}: {'ended' if ended else 'continuing' if rows else 'no epoch is done yet'}"]
    if rows:
        last = rows[-1]
        lines.append(f"epoch {last.get('epoch', math.nan):.0f}, {last.get('steps', math.nan):.0f} steps in {last.get('episodes', math.nan):.0f} episodes, "
                     f"{last.get('seconds', math.nan):.0f} s")  # fmt: skip
    for column, (name, factor, unit) in CURVES.items():
        values = [row[column] * factor for row in rows if column in row]
        known = [v for v in values if math.isfinite(v)]
        if known:
            lines.append(f"{name:<30} {known[-1]:>11.4g} {unit:<8}{sparkline(known, max(8, width - 52))}")
    if ended:
        lines += ["", (folder / "summary.txt").read_text(encoding="utf-8").rstrip()]
    return "\n".join(line[:width] if not ended else line for line in lines), ended


def watch(folder, seconds=2.0, once=False, out=None, sleep=time.sleep):
    """Draws again and again until the run has ended or Ctrl-C; into a file or a pipe once."""
    import sys

    out = out or sys.stdout
    if not (Path(folder) / "config.cfg").is_file():
        raise ValueError(f"{folder}: is no run folder (it has no config.cfg)")
    terminal = out.isatty()
    try:
        while True:
            text, ended = draw(folder, shutil.get_terminal_size().columns if terminal else 100)
            out.write(("\033[H\033[2J" if terminal else "") + text + "\n")
            out.flush()
            if once or ended or not terminal:
                return
            sleep(seconds)
    except KeyboardInterrupt:
        return
