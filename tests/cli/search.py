"""rlgo search: every method, equal limits, tables, curves, determinism, Ctrl-C, memory, one line for bad input."""
import csv

import numpy as np
import onnx
from _rlgo import SMALL_NET, SOURCE, assert_same_model, interrupt, main, rewrites, rlgo, start, wait_until

BASE = ["--cost", "analytic", "--rules", SOURCE / "configs/rules/base.rules"]
SQUEEZENET = ["--graph", "squeezenet1_1", *BASE]
COLUMNS = ("graph,method,cost,seed,threads,before_us,after_us,change_percent,candidates,refused,duplicates,built,walks,dropped,graphs_per_s,"
           "best_after_s,seconds,measuring_s,ended_by,rewrites,nodes_before,nodes_after,bound_us,optimal,clock").split(",")
TIMES = ("graphs_per_s", "best_after_s", "seconds", "measuring_s")


def table(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def without_times(rows):
    return [{k: v for k, v in row.items() if k not in TIMES} for row in rows]


def save_model(path):
    """conv(x) + conv(x), then a Relu: one rule gets it cheaper."""
    helper, rng = onnx.helper, np.random.default_rng(0)
    weights = [onnx.numpy_helper.from_array((rng.standard_normal((8, 8, 3, 3)) * 0.1).astype("float32"), w) for w in ("w1", "w2")]
    nodes = [helper.make_node("Conv", ["x", "w1"], ["a"], pads=[1] * 4), helper.make_node("Conv", ["x", "w2"], ["b"], pads=[1] * 4),
             helper.make_node("Add", ["a", "b"], ["c"]), helper.make_node("Relu", ["c"], ["y"])]
    x, y = (helper.make_tensor_value_info(name, 1, [1, 8, 16, 16]) for name in "xy")
    onnx.save(helper.make_model(helper.make_graph(nodes, "toy", [x], [y], weights), opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def methods_side_by_side(folder):
    """equal budgets and costs; the columns of the CSV; what is printed; curves that only fall"""
    budget = 3000
    text = rlgo("search", *SQUEEZENET, "--methods", "taso,greedy,beam,random", "--budget", budget, "--csv", "out.csv", "--curve", "curve.csv", cwd=folder).stdout
    rows = table(folder / "out.csv")
    assert list(rows[0]) == COLUMNS
    by_method = {row["method"]: row for row in rows}
    assert list(by_method) == ["taso", "greedy", "beam", "random"]
    assert len({(row["before_us"], row["cost"], row["seed"], row["nodes_before"]) for row in rows}) == 1
    for row in rows:
        tried = int(row["candidates"]) + int(row["refused"])
        assert 0 < tried <= budget and (row["ended_by"] == "budget") == (tried == budget), row
        assert 0 < float(row["after_us"]) < float(row["before_us"]) and int(row["rewrites"]) > 0, row
        change = 100 * (float(row["after_us"]) / float(row["before_us"]) - 1)
        assert abs(float(row["change_percent"]) - change) < 1e-3 and f"{change:.2f} %" in text, (row, text)
    assert by_method["greedy"]["ended_by"] == "finished"
    best = {m: float(row["after_us"]) for m, row in by_method.items()}
    assert best["taso"] <= best["greedy"] < best["random"], best
    for method, row in by_method.items():
        curve = [p for p in table(folder / "curve.csv") if p["method"] == method]
        costs = [float(p["best_us"]) for p in curve]
        assert curve[0]["candidates"] == "0" and costs[0] == float(row["before_us"]) and costs[-1] == float(row["after_us"]), method
        assert all(a > b for a, b in zip(costs, costs[1:])) and len(costs) > 3, (method, costs)


def same_seed_same_result(folder):
    """one thread and a seed: the same table but for the times; two threads: the same from call to call; another seed: another walk"""
    for seed, threads, name in ((1, 1, "a"), (1, 1, "b"), (2, 1, "c"), (1, 2, "d"), (1, 2, "e")):
        methods = "taso,beam,random" if threads == 1 else "taso,beam"
        rlgo("search", *SQUEEZENET, "--methods", methods, "--budget", 1500, "--seed", seed, "--threads", threads, "--csv", name, "--curve", name + "-curve", cwd=folder)
    a, b, c, d, e = (without_times(table(folder / name)) for name in "abcde")
    assert a == b and d == e
    curves = [[(p["method"], p["candidates"], p["best_us"]) for p in table(folder / f"{name}-curve")] for name in "abc"]
    assert curves[0] == curves[1]
    assert curves[0] != curves[2] and [p for p in curves[0] if p[0] != "random"] == [p for p in curves[2] if p[0] != "random"]
    assert {row["seed"] for row in a} == {"1"} and {row["seed"] for row in c} == {"2"} and {row["threads"] for row in d} == {"2"}


def several_graphs_and_files(folder):
    """ONNX files next to zoo graphs; --out writes the best of each, checked and replayable"""
    save_model(folder / "toy.onnx")
    text = rlgo("search", "--graph", "toy.onnx,toy_conv", *BASE, "--methods", "greedy,taso", "--budget", 300, "--csv", "out.csv", "--out", "result", cwd=folder).stdout
    assert [(row["graph"], row["method"]) for row in table(folder / "out.csv")] == [(g, m) for g in ("toy.onnx", "toy_conv") for m in ("greedy", "taso")]
    assert text.count("best by ") == 2 and text.count("in double precision, 4 inputs") == 2, text
    assert_same_model(folder / "toy.onnx", folder / "result/toy/best.onnx")
    assert rewrites(folder / "result/toy/best.trace")
    rlgo("replay", "--graph", "toy.onnx", *BASE[2:], "--trace", "result/toy/best.trace", "--out", "again.onnx", cwd=folder)
    assert_same_model(folder / "result/toy/best.onnx", folder / "again.onnx", tolerance=0)


def interrupted(folder):
    """Ctrl-C: the best so far is in the table and in --out, status 0, the methods to come are left out"""
    process = start("search", "--graph", "resnet18", *BASE, "--methods", "random,taso", "--budget", 10**9, "--csv", "out.csv", "--out", "result", "--check.repeats", 3,
                    "--check.seeds", 1, cwd=folder)
    wait_until("the search", lambda: "resnet18 random: " in (folder / "output.txt").read_text(), process=process)
    status = interrupt(process)
    text = (folder / "output.txt").read_text()
    (row,) = table(folder / "out.csv")
    assert status == 0 and row["method"] == "random" and row["ended_by"] == "stopped" and "stopped" in text, text
    assert float(row["after_us"]) <= float(row["before_us"]) and int(row["candidates"]) > 0
    assert len(rewrites(folder / "result/best.trace")) == int(row["rewrites"])
    onnx.checker.check_model(str(folder / "result/best.onnx"), full_check=True)


def limits(folder):
    """--seconds ends a method with its best; --expansions counts graphs taken from the queue, the first one too"""
    rlgo("search", "--graph", "squeezenet1_1", *BASE, "--method", "random", "--seconds", 0.5, "--budget", 10**9, "--csv", "a.csv", cwd=folder)
    rlgo("search", *SQUEEZENET, "--expansions", 7, "--alpha", 1, "--csv", "b.csv", cwd=folder)
    rlgo("search", *SQUEEZENET, "--method", "greedy", "--cpu-time", "--csv", "c.csv", cwd=folder)
    (timed,), (counted,), (thread,) = (table(folder / name) for name in ("a.csv", "b.csv", "c.csv"))
    assert (timed["clock"], thread["clock"]) == ("wall", "cpu") and 0 < float(thread["seconds"]) < 60, thread
    assert timed["ended_by"] == "stopped" and 0.4 <= float(timed["seconds"]) < 30, timed
    assert counted["method"] == "taso" and counted["built"] == "6" and counted["ended_by"] == "budget", counted


def memory_is_bounded(folder):
    """--memory: the worst graphs are dropped, and how many is said; without it none is"""
    arguments = ["search", *SQUEEZENET, "--method", "taso", "--alpha", 1.3, "--budget", 4000, "--csv", "out.csv"]
    free_text = rlgo(*arguments, cwd=folder).stdout
    (free,) = table(folder / "out.csv")
    text = rlgo(*arguments, "--memory", 1, cwd=folder).stdout
    (bound,) = table(folder / "out.csv")
    assert free["dropped"] == "0" and "dropped" not in free_text
    assert int(bound["dropped"]) > 0 and f"{bound['dropped']} graphs dropped for want of memory" in text, text
    assert float(bound["after_us"]) < float(bound["before_us"])


def cost_profiles(folder):
    """shipped profiles and files are other prices for the same graphs; the table names them"""
    (folder / "mine.cost").write_text("[machine]\nlaunch_us = 100\n")
    for profile, name in (("cpu", "analytic"), ("gpu", "analytic:gpu"), ("./mine.cost", "analytic:mine")):
        rlgo("search", "--graph", "toy_conv", *BASE, "--cost.profile", profile, "--method", "greedy", "--csv", "out.csv", cwd=folder)
        [row] = table(folder / "out.csv")
        assert row["cost"] == name, row
    # 5 kernels of 100 us before, and next to nothing next to them
    assert 500 < float(row["before_us"]) < 505, row


def egraph(folder):
    """a proved optimum with what it holds for; a checked model without a trace; that of an earlier search stays as it was"""
    arguments = ["search", "--graph", "toy_mlp", *BASE, "--cost.profile", "gpu", "--out", "best", "--csv", "out.csv", "--outcome.repeats", 3]
    rlgo(*arguments, "--method", "greedy", cwd=folder)
    trace = (folder / "best/best.trace").read_text()
    done = rlgo(*arguments, "--method", "egraph", cwd=folder)
    [row] = table(folder / "out.csv")
    assert row["optimal"] == "1" and 0 < float(row["bound_us"]) <= float(row["after_us"]) + 1e-3 < float(row["before_us"]), row
    assert "saturated" in done.stdout and "proved optimum" in done.stdout and "equivalence" in done.stdout, done.stdout
    assert (folder / "best/best.onnx").exists() and (folder / "best/best.trace").read_text() == trace


def bad_input(folder):
    """one line that names what is wrong and what would be right, status 2 (1: a file or folder is at fault), nothing written"""
    cases = {
        ("--method", "tasso"): "did you mean 'taso'",
        ("--methods", "greedy,randm"): "did you mean 'random'",
        ("--methods", "greedy", "--method", "taso"): "exclude one another",
        ("--method", "policy-taso"): "removed: a trained agent did not improve a search (results/agents.md); revision 438c83b",
        ("--agent.file", "my.agent"): "revision 438c83b is the last that has it",
        ("--graph", "resnet19"): "resnet18",
        ("--graph", "none.onnx"): "none.onnx",
        ("--graph", ","): "no graph is given",
        ("--budget", "0"): "budget",
        ("--alpha", "0.9"): "alpha",
        ("--beam-widht", "3"): "did you mean 'beam-width'",
        ("toy_conv",): "--graph",
        ("--cost.profile", "tpu"): "--cost.profile: no profile is named 'tpu'",
        ("--cost.profile", "./none.cost"): "none.cost",
    }
    for arguments, word in cases.items():
        graph = [] if "--graph" in arguments else ["--graph", "toy_conv"]
        status = 1 if arguments[-1] in ("nowhere", "none.onnx", "./none.cost") else 2
        done = rlgo("search", *graph, *BASE, *arguments, "--csv", "out.csv", cwd=folder, status=status)
        errors = done.stderr.strip().splitlines()
        assert len(errors) == 1 and word in errors[0], (arguments, done.stderr)
        assert not list(folder.iterdir()), arguments


if __name__ == "__main__":
    main(methods_side_by_side, same_seed_same_result, several_graphs_and_files, interrupted, limits, memory_is_bounded, cost_profiles, egraph, bad_input)
