"""What training did: from the metrics of runs. Each function makes the Result of one command."""
import math

import numpy as np
import pandas as pd

from .plot import PERCENT, Result, change_percent, color, draw_over_seeds, legend, min_max, new_figure, over_epochs, over_seeds, seeds_text
from .runs import parse_csv
from .student import half_width


def ms_text(times):
    """Latency before and after, in ms, of runs.end_to_end."""
    if not times:
        return ""
    return f"{times['before_us'] / 1e3:.2f} -> {times['after_us'] / 1e3:.2f}" if times["threads"] else "unchanged"


def groups(runs, key=lambda run: (run.graph, run.agent)):
    """Runs that differ by seed alone: {key: runs}, in order of appearance."""
    found = {}
    for run in runs:
        if len(run.metrics):
            found.setdefault(key(run), []).append(run)
    if not found:
        raise ValueError("no run has an epoch in its metrics.csv yet")
    return found


def by_epoch(run, column):
    return pd.Series(run.column(column).to_numpy(), index=run.metrics["epoch"].to_numpy(), dtype=float)


def label(key, keys):
    """Of a group: the graph, or the agent, or both, as far as they differ."""
    graphs, agents = {k[0] for k in keys}, {k[1] for k in keys}
    if len(agents) == 1:
        return key[0]
    return key[1] if len(graphs) == 1 else f"{key[0]}, {key[1]}"


def curve_table(curves, keys, value):
    rows = [frame.reset_index(names="epoch").assign(series=label(key, keys)) for key, frame in curves.items()]
    table = pd.concat(rows, ignore_index=True)
    return table[["series", "epoch", "mean", "low", "high", "deviation", "seeds"]].rename(columns={"mean": value})


def colours(keys):
    keys = list(keys)
    graphs, agents = {k[0] for k in keys}, {k[1] for k in keys}
    return {key: color(key[0] if len(agents) == 1 else key[1] if len(graphs) == 1 else "", index) for index, key in enumerate(keys)}


def settled_at(values, window=0.05, near=0.05):
    """Epoch from which on a running mean over `window` of the epochs stays within `near` of its range from the mean of the last tenth; nan where it never does."""
    smooth = values.rolling(max(5, round(window * len(values))), min_periods=1).mean()
    off = np.flatnonzero((smooth - values.iloc[-max(1, len(values) // 10):].mean()).abs() > near * (smooth.max() - smooth.min()))
    after = off[-1] + 1 if len(off) else 0
    return int(values.index[after]) if after < len(values) else math.nan


def normalised(found, column):
    """({key: mean and spread by epoch}, table of what was normalised): min-max over all epochs and seeds of a group."""
    curves, rows = {}, []
    for key, runs in found.items():
        series = [by_epoch(run, column).dropna() for run in runs]
        values = pd.concat(series)
        if values.empty:
            continue
        low, high = float(values.min()), float(values.max())
        curves[key] = over_seeds([min_max(s, low, high) for s in series])
        raw = over_seeds(series)["mean"]
        rows.append({"graph": key[0], "agent": key[1], "seeds": len(runs), "epochs": len(raw), "min": low, "max": high,
                     "first epochs": raw.iloc[:5].mean(), "last epochs": raw.iloc[-5:].mean(), "best epoch": int(raw.idxmax()),
                     "settled at epoch": settled_at(raw), "variation": np.mean([min_max(s, low, high).iloc[len(s) // 2:].std(ddof=0) for s in series])})  # fmt: skip
    if not curves:
        raise ValueError(f"no run has a value of '{column}' in its metrics.csv")
    return curves, pd.DataFrame(rows)


def rewards(runs, column="episode_reward_mean", raw=False):
    """Figure 5.3: reward of the real environment over epochs, min-max normalised per graph."""
    found = groups(runs)
    curves, table = normalised(found, column)
    if raw:
        curves = {key: over_seeds([by_epoch(run, column) for run in found[key]]) for key in curves}
    figure, axes = new_figure()
    paint = colours(curves)
    for key, frame in curves.items():
        draw_over_seeds(axes[0, 0], frame, f"{label(key, curves)} ({seeds_text(found[key])})", paint[key])
    over_epochs(axes[0, 0], ylabel=f"{column}, %" if raw else "epoch reward, min-max normalised")
    legend(axes[0, 0])
    figure.suptitle("Reward in the real environment during training")
    notes = ["r' = (r - min) / (max - min); min and max over all epochs and seeds of a graph and agent, in percent of the unmodified graph's cost.",
             f"r: {column} of an epoch; lines: mean over seeds, bands: lowest and highest seed; first and last epochs: mean of five;",
             "settled: from then on a running mean over a twentieth of the epochs stays within 5 % of its range from the mean of the last tenth."]  # fmt: skip
    return Result("Reward during training (figure 5.3)", table, notes, figure), curve_table(curves, curves, "value")


def world_loss(runs):
    """Figure 5.5: log-likelihood loss of the world models, and what it is worth on held-out episodes."""
    found = {key: runs for key, runs in groups(runs).items() if any(run.column("wm_latent_loss").notna().any() for run in runs)}
    if not found:
        raise ValueError("no run trained a world model (--agent model-based or hybrid)")
    figure, axes = new_figure(1, 2, width=10)
    paint, curves, rows = colours(found), {}, []
    for key, group in found.items():
        curves[key] = over_seeds([by_epoch(run, "wm_latent_loss") for run in group])
        draw_over_seeds(axes[0, 0], curves[key], f"{label(key, found)} ({seeds_text(group)})", paint[key])
        held = {name: over_seeds([by_epoch(run, name) for run in group]) for name in ("wm_nll", "wm_nll_no_change", "wm_nll_unconditional")}
        if len(held["wm_nll"]):
            draw_over_seeds(axes[0, 1], held["wm_nll"], None, paint[key])
            axes[0, 1].plot(held["wm_nll_no_change"]["mean"], ":", color=paint[key], linewidth=1.1)
        last = lambda name: np.nanmean([s.dropna().iloc[-1] if len(s.dropna()) else math.nan for s in (run.column(name) for run in group)])  # noqa: E731
        rows.append({"graph": key[0], "agent": key[1], "seeds": len(group), "epochs of training": len(curves[key]),
                     "loss, first": curves[key]["mean"].iloc[0], "loss, last": curves[key]["mean"].iloc[-1]}
                    | {f"held-out {what}, last": last(name) for what, name in (("nll", "wm_nll"), ("nll of no change", "wm_nll_no_change"),
                       ("reward mse", "wm_reward_mse"), ("reward correlation", "wm_reward_correlation"), ("mask f1", "wm_mask_f1"))})  # fmt: skip
    over_epochs(axes[0, 0], ylabel="loss, nats per latent dimension", title="training: -log likelihood of the next latent")
    over_epochs(axes[0, 1], ylabel="nats per latent dimension", title="held-out episodes (dotted: \"nothing changes\")")
    legend(axes[0, 0])
    figure.suptitle("World models")
    notes = ["loss: negative log-likelihood of the next latent per dimension (wm_latent_loss); lines: mean over seeds, bands: lowest and highest.",
             "mse in %^2 of the unmodified graph's cost; a model is worth something where its held-out nll is below that of no change."]  # fmt: skip
    return Result("Log-likelihood loss of world models (figure 5.5)", pd.DataFrame(rows), notes, figure), curve_table(curves, curves, "loss")


def dream_reward(runs):
    """Figure 5.6: reward that the world model predicts while the controller trains in it."""
    found = {key: runs for key, runs in groups(runs).items() if any(run.column("dream_epoch_reward").notna().any() for run in runs)}
    if not found:
        raise ValueError("no run dreamed (--agent model-based or hybrid)")
    curves, table = normalised(found, "dream_epoch_reward")
    figure, axes = new_figure(1, 2, width=10)
    paint = colours(curves)
    for key, frame in curves.items():
        draw_over_seeds(axes[0, 0], frame, f"{label(key, curves)} ({seeds_text(found[key])})", paint[key])
        for name, style in (("dream_return", "--"), ("real_return", "-")):
            compared = over_seeds([by_epoch(run, name) for run in found[key]])
            axes[0, 1].plot(compared["mean"], style, color=paint[key], marker=".")
    last = {name: [np.nanmean([run.column(name).dropna().iloc[-3:].mean() for run in found[key]]) for key in curves] for name in ("real_return", "dream_return")}
    table["real return"], table["dream return"] = last["real_return"], last["dream_return"]
    over_epochs(axes[0, 0], ylabel="epoch reward, min-max normalised", title="predicted by the world model")
    over_epochs(axes[0, 1], ylabel="return, % of the unmodified cost", title="the same policy: dream (dashed) and real (solid)")
    legend(axes[0, 0])
    figure.suptitle("Training in the dream")
    notes = ["r' = (r - min) / (max - min); min and max over all epochs and seeds of a graph; reward = predicted decrease of cost, % of the unmodified graph's.",
             "real and dream return: sums of rewards of whole episodes under the same weights, mean of each run's last three comparisons."]  # fmt: skip
    return Result("Predicted reward while training in the world model (figure 5.6)", table, notes, figure), curve_table(curves, curves, "value")


def best_so_far(runs, x, points=200):
    """Best cost in percent of the unmodified graph's over `x` (steps or seconds), on a grid that all runs reach."""
    ends = [run.metrics[x].iloc[-1] for run in runs]
    grid = np.linspace(0, min(ends), points)
    series = []
    for run in runs:
        reached = np.concatenate([[0.0], run.metrics[x]])
        cost = np.concatenate([[run.initial_cost_us], run.metrics["best_cost_us"]])
        at = np.searchsorted(reached, grid, side="right") - 1
        series.append(pd.Series(change_percent(run.initial_cost_us, cost[at]), index=grid))
    return over_seeds(series)


def cost(runs):
    """Best cost against interactions with the real environment, and against wall-clock."""
    found = groups(runs)
    graphs = list(dict.fromkeys(key[0] for key in found))
    figure, axes = new_figure(len(graphs), 2, width=10, height=1.2 + 2.6 * len(graphs))
    rows = []
    for row, graph in enumerate(graphs):
        for index, (key, group) in enumerate((k, g) for k, g in found.items() if k[0] == graph):
            for column, x in enumerate(("steps", "seconds")):
                draw_over_seeds(axes[row, column], best_so_far(group, x), f"{key[1]} ({seeds_text(group)})", color(key[1], index))
            ends = [run.metrics.iloc[-1] for run in group]
            before, after = np.mean([run.initial_cost_us for run in group]), [end["best_cost_us"] for end in ends]
            rows.append({"graph": graph, "agent": key[1], "seeds": len(group), "real steps": np.mean([end["steps"] for end in ends]),
                         "seconds": np.mean([end["seconds"] for end in ends]), "before, ms": before / 1e3, "best, ms": np.mean(after) / 1e3,
                         "change, %": change_percent(before, np.mean(after)), "lowest, %": change_percent(before, min(after)),
                         "highest, %": change_percent(before, max(after))})  # fmt: skip
        axes[row, 0].set(ylabel=f"{graph}\nbest cost, change in %", xlabel="steps in the real environment")
        axes[row, 1].set(xlabel="training time, s (all of it: world model and dreams too)")
        legend(axes[row, 0])
    figure.suptitle("Best cost that an agent met")
    notes = [f"{PERCENT}; cost: estimated runtime, summed over operators; lines: mean over seeds, bands: lowest and highest, up to where the shortest run ends."]
    return Result("Cost against interactions and wall-clock", pd.DataFrame(rows), notes, figure), None


def mean(values):
    values = [v for v in values if not math.isnan(v)]
    return sum(values) / len(values) if values else math.nan


def agents(runs, at_steps=None):
    """Runs side by side, also at equal interactions."""
    runs = [run for run in runs if len(run.metrics)]
    if not runs:
        raise ValueError("no run has an epoch in its metrics.csv yet")
    at = at_steps or int(min(run.metrics["steps"].iloc[-1] for run in runs))
    rows = []
    for run in runs:
        last = run.metrics.iloc[-1]
        before = run.metrics.loc[run.metrics["steps"] <= at, "best_cost_us"]
        compared = run.metrics.loc[run.column("real_return").notna()].tail(3)
        played = run.metrics.loc[run.column("epoch_episodes") > 0, "episode_reward_mean"].tail(5)
        rows.append({"graph": run.graph, "agent": run.agent, "seed": run.seed, "epochs": len(run.metrics), "real steps": int(last["steps"]),
                     "s": last["seconds"], "before, ms": run.initial_cost_us / 1e3, "best, ms": last["best_cost_us"] / 1e3,
                     "best, %": change_percent(run.initial_cost_us, last["best_cost_us"]),
                     f"best at {at} steps, %": change_percent(run.initial_cost_us, before.iloc[-1]) if len(before) else math.nan,
                     "return, %": mean(played), "real return, %": mean(compared.get("real_return", [])), "dream return, %": mean(compared.get("dream_return", []))})  # fmt: skip
    notes = [f"{PERCENT}; return: sum of an episode's rewards in percent of the unmodified cost, last five epochs with real episodes;",
             "real and dream return: mean of the last three comparisons of a world-model agent."]  # fmt: skip
    return Result("Agents side by side", pd.DataFrame(rows), notes), None


def compare(runs, by):
    """Runs grouped by an option of theirs (env.reward, wm.reward-model, ppo.lr, ...): mean and deviation over seeds."""
    unknown = [run.name for run in runs if by not in run.config]
    if unknown:
        raise ValueError(f"{unknown[0]}: no option '{by}' in its config.cfg")
    found = groups(runs, lambda run: (run.graph, run.agent, run.config[by]))
    rows = []
    for (graph, agent, value), group in found.items():
        best = [change_percent(run.initial_cost_us, run.metrics["best_cost_us"].iloc[-1]) for run in group]
        ended = [change_percent(run.initial_cost_us, mean(run.column("episode_cost_mean_us").dropna().tail(5))) for run in group]
        times = [run.end_to_end for run in group if run.end_to_end]
        last = lambda name: mean([run.column(name).dropna().iloc[-1] for run in group if run.column(name).notna().any()])  # noqa: E731
        rows.append({"graph": graph, "agent": agent, by: value, "seeds": len(group), "before, ms": np.mean([r.initial_cost_us for r in group]) / 1e3,
                     "best, %": mean(best), "best, sd": np.std(best, ddof=1) if len(best) > 1 else math.nan, "episodes' lowest cost, %": mean(ended),
                     "end to end, %": mean([100 * (t["ratio"] - 1) for t in times]), "steps/s": mean([r.metrics["steps"].iloc[-1] / r.metrics["seconds"].iloc[-1] for r in group]),
                     "world model: reward mse": last("wm_reward_mse"), "reward correlation": last("wm_reward_correlation")})  # fmt: skip
    table = pd.DataFrame(rows).dropna(axis=1, how="all")
    notes = [f"{PERCENT}; best: cheapest graph met, summed over operators; episodes' lowest cost: mean over episodes, last five epochs;",
             "end to end: whole model, measured, paired rounds; sd: sample deviation over seeds."]  # fmt: skip
    return Result(f"Runs compared by {by}", table, notes), None


def elsewhere(runs, by):
    """Play on graphs that runs were not trained on (RUN.csv of rlgo evaluate, next to each run), by an option of theirs."""
    found = groups(runs, lambda run: run.config[by])
    rows = []
    for value, group in found.items():
        played = pd.concat([parse_csv(run.path.with_name(f"{run.name}.csv")) for run in group])
        for graph, of_graph in played.groupby("graph", sort=False):
            sampled, greedy = (-of_graph.loc[of_graph["mode"] == mode, "return_mean"].to_numpy() for mode in ("sampled", "greedy"))
            rows.append({"graph": graph, by: value, "seeds": len(sampled), "sampled, %": sampled.mean(), "sampled, half-width": half_width(list(sampled)), "greedy, %": greedy.mean()})
    notes = ["change of cost by an episode on a graph that the agent was not trained on; negative is faster; mean over seeds and half of the 95 % t-interval."]
    return Result(f"Graphs that runs were not trained on, by {by}", pd.DataFrame(rows), notes), None


def options(runs, prefixes=("gnn.", "policy.", "ppo.", "wm.", "dream.", "hybrid.", "env.", "train.")):
    """Options behind runs (GNN, PPO, world model, ...): one value where all agree, else a value for each."""
    names = list(dict.fromkeys(name for run in runs for name in run.config if name.startswith(tuple(prefixes))))
    rows = []
    for name in names:
        values = {}
        for run in runs:
            values.setdefault(run.config.get(name, ""), []).append(run.name)
        text = next(iter(values)) if len(values) == 1 else "; ".join(f"{value} ({len(owners)} runs)" for value, owners in values.items())
        rows.append({"option": name, "value": text})
    return Result("Options of the runs", pd.DataFrame(rows, columns=["option", "value"]), [f"{len(runs)} runs"]), None


def summary(runs):
    """One line a run, and what could not be read."""
    rows = []
    for run in runs:
        try:
            episodes = run.rollouts(steps=False).episodes
        except FileNotFoundError as error:
            episodes = None
            run.problems.append(str(error))
        last = run.metrics.iloc[-1] if len(run.metrics) else {}
        best = last.get("best_cost_us", math.nan)
        times = run.end_to_end or {}
        rows.append({"run": run.name, "graph": run.graph, "agent": run.agent, "seed": run.seed, "state": run.state, "epochs": len(run.metrics),
                     "real steps": last.get("steps", math.nan), "s": last.get("seconds", math.nan),
                     "stored episodes": 0 if episodes is None else len(episodes), "parts": 0 if episodes is None else episodes["part"].nunique(),
                     "before, ms": run.initial_cost_us / 1e3, "best, ms": best / 1e3, "best, %": change_percent(run.initial_cost_us, best),
                     "end to end, ms": ms_text(times),
                     "end to end, %": 100 * (times["ratio"] - 1) if times else math.nan})  # fmt: skip
    notes = [f"{PERCENT}; best: cheapest graph that the agent met, estimated, summed over operators; end to end: whole model, measured."]
    return Result("Runs", pd.DataFrame(rows), notes), None
