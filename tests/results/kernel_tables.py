"""The tables of slow kernels: pieces of one runtime become one, models count alike, what is refused is added up."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "results"))
from rlgo_results import kernels  # noqa: E402


def run(target, models, **more):
    return {"target": target, "models": models, "runtime": f"{target} 1.0", "gflops": "100", "spread": "0.05", "refused": "", "because": "", "commit": "0123456789", "machine": "M, 2 cores"} | more


def kernel(target, models, operator, us, machine_us, fraction):
    return {"target": target, "models": models, "operator": operator, "kernel": f"{operator} (x)", "us": str(us), "machine_us": str(machine_us), "fraction": str(fraction)}


RUNS = [run("opencv", "a b c", refused="2 x gelu", because="5 x no kernel; 1 x other"), run("opencv", "d", refused="1 x gelu; 1 x erf", because="2 x other"), run("tract", "a b c d")]
KERNELS = [kernel("opencv", "a b c", "softmax", 50, 10, 0.2), kernel("opencv", "d", "softmax", 50, 10, 0.4), kernel("opencv", "d", "relu", 10, 10, 0.6), kernel("tract", "a b c d", "softmax", 20, 10, 1)]


def main():
    found = kernels.merged(RUNS, KERNELS, "opencv")
    assert round(found["softmax", "softmax (x)"][2], 9) == 0.25, found  # three models at 0.2, one at 0.4
    assert round(found["relu", "relu (x)"][2], 9) == 0.15, found
    assert [key for key, _ in kernels.slow(found)] == [("softmax", "softmax (x)")], found
    assert kernels.targets_of(RUNS) == ["opencv", "tract"]
    (line,) = kernels.refused(RUNS, KERNELS)
    assert line == "- OpenCV: erf (1), gelu (3). It states: no kernel", line
    table = kernels.operators(RUNS, KERNELS)
    assert "| softmax | 5.0, 25.0 % | 2.0, 100.0 % |" in table and not any(row.startswith("| relu") for row in table), table
    assert "| OpenCV | 4 | 2 | 100 | 1 | 25.0 % |" in kernels.summary(RUNS, KERNELS), kernels.summary(RUNS, KERNELS)
    assert "| OpenCV | `softmax (x)` | 50 | 10 | 25.00 % |" in kernels.outliers(RUNS, KERNELS)


if __name__ == "__main__":
    main()
