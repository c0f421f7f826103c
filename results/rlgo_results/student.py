"""95 % intervals of a mean by Student's t, of one number a seed. Nothing but the standard library, so that any Python runs it."""
import math
import statistics

# Two-sided 95 % quantiles by degrees of freedom; beyond them the normal distribution's.
T95 = [math.nan, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228]
NORMAL_95 = 1.96


def half_width(values):
    """Half of the interval's width; nan for one value, which shows no spread."""
    if len(values) < 2:
        return math.nan
    degrees = len(values) - 1
    t = T95[degrees] if degrees < len(T95) else NORMAL_95
    return t * statistics.stdev(values) / math.sqrt(len(values))
