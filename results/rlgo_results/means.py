"""Geometric means of ratios, and how sure they are."""
import numpy as np


def geometric_mean(values):
    return float(np.exp(np.mean(np.log(values)))) if len(values) else float("nan")


def interval(values):
    """95 % interval of the geometric mean over models: bootstrap, 2,000 draws of a fixed seed."""
    values = np.asarray(values)
    random = np.random.default_rng(0)
    means = [geometric_mean(random.choice(values, len(values))) for _ in range(2000)]
    return float(np.quantile(means, 0.025)), float(np.quantile(means, 0.975))


def mean_cell(values):
    """"0.936 [0.912, 0.958]"."""
    if not len(values):
        return "-"
    low, high = interval(values)
    return f"{geometric_mean(values):.3f} [{low:.3f}, {high:.3f}]"
