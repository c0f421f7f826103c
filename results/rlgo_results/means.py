"""Geometric means of ratios, and how sure they are."""
import numpy as np


def geometric_mean(values):
    return float(np.exp(np.mean(np.log(values)))) if len(values) else float("nan")


def interval(values):
    """95 % interval of the geometric mean over models: bootstrap, 10,000 draws of a fixed seed. The order of the values has no effect."""
    logs = np.sort(np.log(np.asarray(values, dtype=float)))
    means = np.exp(np.random.default_rng(0).choice(logs, (10000, len(logs))).mean(axis=1))
    return float(np.quantile(means, 0.025)), float(np.quantile(means, 0.975))


def mean_cell(values):
    """"0.936 [0.912, 0.958]"."""
    if not len(values):
        return "-"
    low, high = interval(values)
    return f"{geometric_mean(values):.3f} [{low:.3f}, {high:.3f}]"
