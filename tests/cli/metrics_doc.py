"""Every column of a real run's metrics.csv is explained in docs/metrics.md, and nothing else is."""
import re

from _rlgo import QUICK, RANDOM, SMALL_NET, SOURCE, main, metrics, rlgo

DREAM = [*QUICK, *SMALL_NET, "--epochs", 6, "--wm.random-fraction", 0.4, "--wm.hidden", 16, "--wm.passes", 1, "--evaluate.every", 1, "--dream.batch", 8,
         "--dream.steps-per-epoch", 40, "--agent"]


def columns_are_explained(folder):
    """all agents' columns against the tables"""
    tables = [line for line in (SOURCE / "docs/metrics.md").read_text().splitlines() if line.startswith("| `")]
    explained = [name for line in tables for name in re.findall(r"`([a-z_0-9]+)`", line.split("|")[1])]
    assert len(explained) == len(set(explained)), "a column is explained twice"
    found = set()
    for name, options in (("random", RANDOM), ("learning", [*QUICK, *SMALL_NET]), ("dreaming", [*DREAM, "model-based"]), ("both", [*DREAM, "hybrid"]),
                          ("timed", [*RANDOM, "--env.reward", "latency", "--cost.repeats", 1])):
        rlgo("--graph", "toy_conv", *options, *(["--epochs", 1] if "--epochs" not in options else []), "--train.steps-per-epoch", 20, "--name", name, cwd=folder)
        found |= set(metrics(folder / "runs" / name)[0])
    assert len(found) > 30, found
    assert found == set(explained), f"not explained: {sorted(found - set(explained))}; not there: {sorted(set(explained) - found)}"
    print(f"  {len(found)} columns")


if __name__ == "__main__":
    main(columns_are_explained)
