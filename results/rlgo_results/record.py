"""All figures and tables of a folder that results/record.py made, with the commands that made them."""
import contextlib
import io
import platform
import re
from datetime import date
from pathlib import Path

from . import tables
from .claims import HYPERPARAMETERS
from .runs import Run
from .where import commit, machine

# Name of the files, and the command; {} stands for the folder.
COMMANDS = [
    ("summary", ["summary", "{}"]),
    ("fig-5.1-baselines", ["runtimes", "{}", "--figure", "5.1", "--race", "{}/race.csv"]),
    ("fig-5.2-model-free", ["runtimes", "{}", "--figure", "5.2", "--race", "{}/race.csv"]),
    ("fig-5.3-rewards", ["rewards", "{}"]),
    ("fig-5.4-model-based", ["runtimes", "{}", "--figure", "5.4", "--race", "{}/race.csv"]),
    ("fig-5.5-world-loss", ["world-loss", "{}", "--agent", "model-based"]),
    ("fig-5.6-dream-reward", ["dream-reward", "{}"]),
    ("fig-5.7-heatmap", ["heatmap", "{}", "--system", "model-based", "--system", "model-free", "--system", "taso"]),
    ("table-5.1-temperature", ["temperature", "{}/temperature"]),
    ("search-trace", ["search-trace", "{}/search-curve.csv"]),
    ("cost", ["cost", "{}", "--graph", "squeezenet1_1"]),
    ("agents", ["agents", "{}", "--graph", "squeezenet1_1"]),
    ("memory", ["memory", "{}"]),
    ("rewards-compared", ["compare", "{}/rewards", "--by", "env.reward"]),
    ("reward-network", ["compare", "{}/reward-model", "--by", "wm.reward-model"]),
    *((f"ablation-{option}", ["compare", f"{{}}/ablations/{option}", "--by", option]) for option in ("gnn.block", "env.frontier", "policy.beta", "policy.location-head")),
    *((f"hyperparameter-{option}", ["compare", f"{{}}/hyperparameters/{option}", "--by", option]) for option in HYPERPARAMETERS),
    ("long-rewards", ["rewards", "{}/long"]),
    ("options", ["options", "{}"]),
]
# Of the folder of the published agents (stage "published").
PUBLISHED = [
    ("summary", ["summary", "{}"]),
    ("rewards", ["rewards", "{}"]),
    ("dream-reward", ["dream-reward", "{}"]),
    ("world-loss", ["world-loss", "{}"]),
    *((part, ["compare", f"{{}}/{part}", "--by", option])
      for part, option in (("heads", "policy.head"), ("data", "wm.data"), ("passes", "wm.passes"), ("controllers", "dream.controller"), ("encoders", "wm.encoder"), ("rules", "rules"),
                           ("candidates", "policy.candidates"),
                           ("speed", "env.reward"))),
    ("blocks", ["elsewhere", "{}/blocks", "--by", "gnn.block"]),
    ("x-rlflow", ["summary", "{}/x-rlflow"]),
    ("options", ["options", "{}"]),
]
MAX_ROWS = 40
# Columns that a command's table has in its CSV file and not on the page.
HIDDEN = {
    "summary": {"graph", "agent", "seed", "state", "stored episodes", "parts", "before, ms", "best, ms", "end to end, ms"},
    "runtimes": {"runs", "before, ms", "after, ms", "noise, %", "against taso, %"},
    "rewards": {"seeds", "epochs", "min", "max", "variation"},
    "world-loss": {"seeds", "epochs of training", "loss, first", "loss, last", "held-out reward mse, last"},
    "dream-reward": {"seeds", "epochs", "min", "max", "best epoch", "settled at epoch", "variation"},
    "search-trace": {"seed", "before, ms", "best, ms", "candidates to 95 % of the gain"},
    "cost": {"seeds", "seconds", "before, ms", "best, ms"},
    "agents": {"graph", "epochs", "before, ms", "best, ms", "return, %", "real return, %", "dream return, %"},
    "memory": {"seeds", "peak before, MiB", "peak after, MiB", "flops, %"},
    "compare": {"seeds", "before, ms", "episodes' lowest cost, %", "steps/s", "world model: reward mse", "reward correlation"},
}  # fmt: skip
WITHOUT_PICTURE = {"summary", "agents", "compare", "elsewhere", "options"}


ELSEWHERE = {"temperature": "[world-model.md](../world-model.md)"}  # commands whose table another page shows


def shortened(text, csv_name, command):
    """Without the rows of a table beyond MAX_ROWS and the hidden columns; in parts where it is still too wide."""
    lines = text.rstrip().split("\n")
    numbers = [number for number, line in enumerate(lines) if line.startswith("|")]
    if not numbers:
        return "\n".join(lines)
    before, after = lines[: numbers[0]], lines[numbers[-1] + 1 :]
    if command in ELSEWHERE:
        return "\n".join([*before, f"The table is in {ELSEWHERE[command]}, all columns in [{csv_name}]({csv_name}).", *after])
    columns, _, *rows = ([cell.strip() for cell in re.split(r"(?<!\\)\|", lines[number])[1:-1]] for number in numbers)
    shown = [k for k, name in enumerate(columns) if name not in HIDDEN.get(command, ())]
    taken = [[cells[k] for k in shown] for cells in (columns, *rows[:MAX_ROWS])]
    more = [f"{len(rows) - MAX_ROWS} more rows"] * (len(rows) > MAX_ROWS) + [f"{len(columns) - len(shown)} more columns"] * (len(columns) > len(shown))
    note = ["", f"{' and '.join(more)} in [{csv_name}]({csv_name})."] if more else []
    return "\n".join([*before, *tables.table(taken[0], taken[1:]), *note, *after])


def record(folder, out, only, main, commands=COMMANDS, title="Figures and tables of small real runs", by="all"):
    """Runs the commands (those named in `only`, else all) by `main`; writes pictures, tables, and out/README.md. Returns what failed."""
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    sections, failed = [], []
    for name, command in commands:
        if only and name not in only:
            continue
        arguments = [part.replace("{}", str(folder)) for part in command]
        if not Path(arguments[1]).exists():
            failed.append(name)
            continue
        picture = [] if command[0] in WITHOUT_PICTURE else [f"{name}.png"]
        files = [*picture, f"{name}.csv"]
        text = io.StringIO()
        with contextlib.redirect_stdout(text):
            status = main([*arguments, *(part for file in files for part in ("--out", str(out / file)))])
        if status != 0:
            failed.append(name)
            continue
        shown = " ".join(["results/analyse", *arguments, *(f"--out {file}" for file in files)])
        sections.append(f"{shortened(text.getvalue(), name + '.csv', command[0])}\n\n```sh\n{shown}\n```\n" + "".join(f"\n![{name}]({file})\n" for file in picture))
        print(name, flush=True)
    runs = [Run(path.parent) for path in sorted(Path(folder).rglob("config.cfg"))]
    revisions = ", ".join(sorted({run.revision for run in runs}))
    epochs = [len(run.metrics) for run in runs if len(run.metrics)]
    head = (f"# {title}\n\nMade by `results/record.py` and `results/analyse {by} {folder} --out {out}` on {date.today()}; "
            f"rlgo {revisions}, analysis at {commit()}; {machine()}, Python {platform.python_version()}.\n"
            f"Small: {min(epochs, default=0)} to {max(epochs, default=0)} epochs of training, where RLFlow has 2,000. docs/analysis.md states what each command does.\n")  # fmt: skip
    (out / "README.md").write_text(head + "".join(f"\n{section}" for section in sections), encoding="utf-8")
    return f"{out}/README.md" + (f"; not recorded or failed: {', '.join(failed)}" if failed else "")
