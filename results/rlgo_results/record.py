"""All figures and tables of a folder that results/record.py made, with the commands that made them."""
import contextlib
import io
import platform
from datetime import date
from pathlib import Path

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
WITHOUT_PICTURE = {"summary", "agents", "compare", "elsewhere", "options"}


def shortened(text, csv_name):
    """Without the rows of a table beyond MAX_ROWS."""
    lines = text.rstrip().split("\n")
    rows = [number for number, line in enumerate(lines) if line.startswith("|")]
    if len(rows) <= MAX_ROWS + 2:
        return "\n".join(lines)
    cut = rows[MAX_ROWS + 2]
    return "\n".join([*lines[:cut], "", f"{len(rows) - MAX_ROWS - 2} more rows in [{csv_name}]({csv_name}).", *lines[rows[-1] + 1 :]])


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
        sections.append(f"{shortened(text.getvalue(), name + '.csv')}\n\n```sh\n{shown}\n```\n" + "".join(f"\n![{name}]({file})\n" for file in picture))
        print(name, flush=True)
    runs = [Run(path.parent) for path in sorted(Path(folder).rglob("config.cfg"))]
    revisions = ", ".join(sorted({run.revision for run in runs}))
    epochs = [len(run.metrics) for run in runs if len(run.metrics)]
    head = (f"# {title}\n\nMade by `results/record.py` and `results/analyse {by} {folder} --out {out}` on {date.today()}; "
            f"rlgo {revisions}, analysis at {commit()}; {machine()}, Python {platform.python_version()}.\n"
            f"Small: {min(epochs, default=0)} to {max(epochs, default=0)} epochs of training, where RLFlow has 2,000. docs/analysis.md states what each command does.\n")  # fmt: skip
    (out / "README.md").write_text(head + "".join(f"\n{section}" for section in sections), encoding="utf-8")
    return f"{out}/README.md" + (f"; not recorded or failed: {', '.join(failed)}" if failed else "")
