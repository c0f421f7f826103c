"""--json: each command's document is as its schema and docs/json.md say, and says what happened."""
import copy
import hashlib
import json
import re

import onnx.parser
from _rlgo import QUICK, SMALL_NET, SOURCE, main, rlgo
from _schemas import check, read, schemas, validator
from optimise import BRIEF, fake, two_convs

RULED = [*QUICK, "--rules", SOURCE / "configs/rules/base.rules"]
TRAIN = ["--graph", "toy_conv", *QUICK, *SMALL_NET, "--epochs", 1, "--train.steps-per-epoch", 20]
LIBTORCH = ["--target", "libtorch", *BRIEF]


def schemas_are_valid(folder):
    """each is a schema of its draft; its own examples in docs/json.md satisfy it; a member too many or too few is found"""
    examples = {}
    for text in re.findall(r"```json\n(.*?)```", (SOURCE / "docs/json.md").read_text(), re.S):
        document = json.loads(text)
        examples[document["schema"].split(".")[1].split("/")[0]] = document
    for name in schemas():
        validator(name).check_schema(schemas()[name])
    documents = {name.removesuffix(".json") for name in schemas()} - {"common"}
    assert set(examples) == documents, set(examples) ^ documents
    for kind, document in examples.items():
        check(document, kind)
        more = copy.deepcopy(document) | {"surprise": 1}
        assert not validator(f"{kind}.json").is_valid(more), kind
        for member in document:
            assert not validator(f"{kind}.json").is_valid({k: v for k, v in document.items() if k != member}) or member == "options", (kind, member)


def optimise(folder):
    """rlgo optimise: verdict, hashes of both files, latency, checks, trace, options; with - people's text is on standard error"""
    two_convs(folder / "toy.onnx")
    done = rlgo("optimise", "toy.onnx", "-o", "f.onnx", "--report", "r.html", "--json", "-", *LIBTORCH, cwd=folder)
    found = check(json.loads(done.stdout), "optimise")
    assert "x faster" in done.stderr and found["verdict"]["improved"] and found["exit_status"] == 0, done.stderr
    for part, name in (("model", "toy.onnx"), ("written", "f.onnx"), ("report", "r.html")):
        content = (folder / name).read_bytes()
        assert found[part] == {"file": name, "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}, part
    latency = found["latency"]
    assert latency["ratio_low"] < latency["ratio"] < latency["ratio_high"] < 1 and latency["faster"], latency
    assert "sum-of-convs-shared-input" in [r["rule"] for r in found["rewrites"]] and {r["proof"] for r in found["rewrites"]} == {"proved"}
    assert {c["finding"] for c in found["checks"]} == {"same"} and sum(c["chosen"] for c in found["candidates"]) == 1
    assert found["options"]["seconds"] == 20 and found["options"]["method"] == "greedy" and found["options"]["rules"] == []
    assert {"name": "conv2d", "before": 2, "after": 1} in found["operators"]


def switches(folder):
    """ONNX Runtime: original and result at four levels, one thread and all cores; one usual setting; off by an option"""
    two_convs(folder / "toy.onnx")
    command = ["optimise", "toy.onnx", "-o", "f.onnx", "--target", "onnxruntime", "--json", "s.json", *BRIEF]
    done = rlgo(*command, cwd=folder)
    found = read(folder / "s.json", "optimise")["switches"]
    assert {s["level"] for s in found["settings"]} == {"all", "extended", "basic", "disable"}, found
    assert [s["usual"] for s in found["settings"]].count(True) == 1 and found["settings"][0]["before_us"] > 0 < found["settings"][0]["after_us"], found
    assert "the runtime's" in done.stdout and "load time" in done.stdout and "    conv2d " in done.stdout, done.stdout
    rlgo(*command, "--switches=no", cwd=folder)
    assert read(folder / "s.json", "optimise")["switches"] is None


def nothing_found(folder):
    """status 3: the document says so too, and nothing is written"""
    two_convs(folder / "toy.onnx")
    rlgo("optimise", "toy.onnx", "-o", "f.onnx", "--json", "o.json", "--rules", "merge-matmul-shared-lhs", *LIBTORCH, cwd=folder, status=3)
    found = read(folder / "o.json", "optimise")
    assert found["exit_status"] == 3 and not found["verdict"]["improved"] and found["latency"] is None and found["written"] is None
    assert found["rewrites"] == [] and not found["verdict"]["changed"]


def sha(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def search(folder):
    """a member for each graph and method, what was written with its checks; the curve only falls"""
    rlgo("search", "--graph", "toy_conv,toy_mlp", "--methods", "greedy,egraph", *RULED, "--out", "best", "--json", "s.json", cwd=folder)
    found = read(folder / "s.json", "search")
    assert [(s["graph"], s["method"]) for s in found["searches"]] == [(g, m) for g in ("toy_conv", "toy_mlp") for m in ("greedy", "egraph")]
    for s in found["searches"]:
        costs = [point["best_us"] for point in s["curve"]]
        assert s["after_us"] < s["before_us"] and costs == sorted(costs, reverse=True), s
        assert (s["bound_us"] is not None) == (s["method"] == "egraph")
    for written in found["written"]:
        assert written["model"]["sha256"] == sha(folder / written["model"]["file"])
        assert {c["finding"] for c in written["checks"]} == {"same"}, written


def training(folder):
    """train leaves result.json, the document of --json; inspect shows it, with the store; evaluate plays the checkpoint"""
    done = rlgo(*TRAIN, "--agent", "model-free", "--name", "r", "--json", "-", cwd=folder)
    found = check(json.loads(done.stdout), "train")
    assert found == read(folder / "runs/r/result.json", "train") and "equivalence" in done.stderr
    assert found["written"]["sha256"] == sha(folder / "runs/r/best.onnx") and found["agent"]["epochs"] == 1
    assert found["options"]["train.steps-per-epoch"] == 20 and found["cost"]["after_us"] <= found["cost"]["before_us"]
    assert len(found["rewrites"]) == len([x for x in (folder / "runs/r/best.trace").read_text().splitlines() if x[:1].isdigit()])
    assert "json" not in (folder / "runs/r/config.cfg").read_text()
    seen = check(json.loads(rlgo("inspect", "runs/r", "--json", "-", cwd=folder).stdout), "inspect")
    assert seen["result"] == found and seen["store"]["steps"] == found["agent"]["steps"], seen["store"]
    store = check(json.loads(rlgo("inspect", "runs/r/rollouts", "--json", "-", cwd=folder).stdout), "inspect")
    assert store["kind"] == "store" and store["store"]["episodes"] == found["agent"]["episodes"]
    played = check(json.loads(rlgo("evaluate", "--checkpoint", "runs/r", "--episodes", 2, "--json", "-", cwd=folder).stdout), "evaluate")
    assert [p["mode"] for p in played["played"]] == ["sampled", "greedy"] and played["gap_percent"] is None
    quiet = rlgo(*TRAIN, "--agent", "random", "--quiet", cwd=folder)
    assert not quiet.stderr and "equivalence" in quiet.stdout, quiet.stderr


def several_graphs(folder):
    """an agent of two graphs is played on each of them; the table names the graph"""
    rlgo("--graph", "toy_conv,toy_mlp", *TRAIN[2:], "--agent", "model-free", "--name", "two", cwd=folder)
    done = rlgo("evaluate", "--checkpoint", "runs/two", "--episodes", 2, "--csv", "e.csv", "--json", "e.json", cwd=folder)
    found = read(folder / "e.json", "evaluate")
    assert [g["graph"] for g in found["graphs"]] == ["toy_conv", "toy_mlp"] == re.findall(r"^(\w+), agent", done.stdout, re.M), done.stdout
    assert {key: found[key] for key in found["graphs"][0]} == found["graphs"][0]
    rows = [line.split(",") for line in (folder / "e.csv").read_text().splitlines()]
    assert [row[1] for row in rows] == ["graph", "toy_conv", "toy_conv", "toy_mlp", "toy_mlp"], rows
    one = rlgo("evaluate", "--checkpoint", "runs/two", "--graph", "toy_mlp", "--episodes", 2, "--json", "o.json", cwd=folder)
    assert "graphs" not in read(folder / "o.json", "evaluate") and one.stdout in done.stdout, one.stdout


def never_above_its_start(folder):
    """a run that hardly plays ends at the searches' best that it was given, which is not put down to the agent"""
    options = ["--graph", "squeezenet1_1", "--agent", "random", "--epochs", 1, "--train.steps-per-epoch", 10, *QUICK, "--cost.profile", "gpu",
               "--env.frontier", 0.001, "--train.polish", "no", "--name", "given"]  # fmt: skip
    done = rlgo(*options, cwd=folder, timeout=300)
    cost = read(folder / "runs/given/result.json", "train")["cost"]
    assert cost["taken"] == "search" and cost["after_us"] == cost["starts_us"] < cost["agent_us"], cost
    assert cost["agent_contribution_percent"] == 0 and "the search's is taken; the agent contributed 0.00 points" in done.stdout, done.stdout


def dream(folder):
    """what a dream does not know is null"""
    small = ["--wm.hidden", 16, "--wm.mixtures", 2, "--wm.passes", 2, "--dream.batch", 8, "--dream.steps-per-epoch", 40, "--dream.width", 16]
    rlgo(*TRAIN, *small, "--agent", "model-based", "--name", "r", cwd=folder)
    found = check(json.loads(rlgo("evaluate", "--checkpoint", "runs/r", "--episodes", 2, "--json", "-", cwd=folder).stdout), "evaluate")
    last = found["played"][-1]
    assert last["mode"] == "dream" and last["best_cost_us"] is None and isinstance(found["gap_percent"], float), found


def model(folder):
    """inspect of an ONNX file: its hash, inputs, operators, matches"""
    two_convs(folder / "toy.onnx")
    found = check(json.loads(rlgo("inspect", "toy.onnx", "--json", "-", cwd=folder).stdout), "inspect")
    assert found["kind"] == "model" and found["model"]["sha256"] == sha(folder / "toy.onnx") and found["operators"]["conv2d"] == 2
    assert [i["name"] for i in found["inputs"]] == ["x"] and "sum-of-convs-shared-input" in [m["rule"] for m in found["matches"]]


def kept(folder):
    """the time of operators that rlgo does not know: by inspect and optimise under ONNX Runtime; by count without a target"""
    node = onnx.helper.make_node
    graph = onnx.helper.make_graph([node("Relu", ["x"], ["r"]), node("Det", ["r"], ["d"], name="det"), node("Det", ["x"], ["e"]), node("Add", ["d", "e"], ["y"])], "g",
                                   [onnx.helper.make_tensor_value_info("x", 1, [2, 90, 90])], [onnx.helper.make_tensor_value_info("y", 1, [2])])
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8), folder / "det.onnx")
    done = rlgo("inspect", "det.onnx", "--json", "-", cwd=folder)
    assert check(json.loads(done.stdout), "inspect")["kept"] == {"fraction": None, "operators": [{"op": "Det", "count": 2, "fraction": None}]}, done.stdout
    done = rlgo("inspect", "det.onnx", "--target", "onnxruntime", "--json", "-", cwd=folder)
    found = check(json.loads(done.stdout), "inspect")
    assert 0.3 < found["kept"]["fraction"] <= 1 and found["target"].startswith("onnxruntime"), found["kept"]
    assert "% of its time: 2 Det" in done.stderr, done.stderr
    done = rlgo("optimise", "det.onnx", "--target", "onnxruntime", "--json", "-", *BRIEF, cwd=folder, status=None)
    assert check(json.loads(done.stdout), "optimise")["kept"]["fraction"] > 0.3 and "  kept as they are: " in done.stderr, (done.stdout, done.stderr)
    done = rlgo("inspect", "toy_conv", "--target", "onnxruntime", cwd=folder, status=2)
    assert "--target times the operators of an .onnx file" in done.stderr, done.stderr


def verified(folder):
    """one proved, one refuted: status 1 here and in the document"""
    (folder / "my.rules").write_text("rule right\n  ?y = (relu (relu ?x))\n  => ?y = (relu ?x)\n\nrule wrong\n  ?y = (relu (relu ?x))\n  => ?y = (neg ?x)\n")
    rlgo("rules", "verify", "my.rules", "--threads", 1, "--json", "v.json", cwd=folder, status=1)
    found = read(folder / "v.json", "rules-verify")
    assert found["exit_status"] == 1 and found["counts"] == {"proved": 1, "refuted": 1, "unknown": 0, "not_tried": 0}, found
    right, wrong = found["rules"]
    assert right["verdict"] == "proved" and right["axioms"] and right["scope"] and wrong["verdict"] == "refuted" and wrong["reason"], found


def bench(folder):
    """speeds are numbers; with --target the sums next to the whole models"""
    options = ["--graphs", "toy_conv", "--seconds", 0.1, *SMALL_NET, "--train.steps-per-epoch", 20, "--json", "-"]
    (graph,) = check(json.loads(rlgo("bench", *options, cwd=folder).stdout), "bench")["graphs"]
    assert graph["graph"] == "toy_conv" and min(graph["environment_steps_per_s"], graph["learner_transitions_per_s"]) > 0
    target = [*options, "--target", fake("outputs"), "--variants", 2, "--check.repeats", 3]
    (graph,) = check(json.loads(rlgo("bench", *target, cwd=folder).stdout), "bench")["graphs"]
    assert len(graph["sums_us"]) == len(graph["wholes_us"]) == 3 and graph["groups"] > 0, graph


def checks_timed(folder):
    """bench verify: a line of each model; one that is refused has a reason; status 1 where all are"""
    text = '<ir_version: 8, opset_import: ["": 17, "my.own": 1]> g (float[2] x) => (float[2] y) { y = my.own.Unheard(x) }'
    onnx.save(onnx.parser.parse_model(text), folder / "unknown.onnx")
    done = rlgo("bench", "verify", "--graphs", "toy_attention,unknown.onnx", "--target", "libtorch", "--rounds", 2, "--json", "v.json", cwd=folder, status=None)
    if done.returncode == 1:  # times of the same run differ by too much
        assert "too busy" in done.stdout and "none of 2 models was timed" in done.stderr, done.stdout + done.stderr
        return
    found = read(folder / "v.json", "bench-verify")
    assert [r["graph"] for r in found["models"]] == ["toy_attention"] and "Unheard is one that rlgo does not know" in found["refused"][0]["reason"], found
    assert "unknown.onnx: refused: " in done.stdout, done.stdout


def benches(folder):
    """bench scale, same, profile, groups, kernels, verify, rules: rows of numbers; what people read stays"""
    done = rlgo("bench", "scale", "--graph", "toy_residual", "--simulate", 2, "--scale.rate", 50, "--scale.seconds", 1, "--json", "c.json", cwd=folder)
    found = read(folder / "c.json", "bench-scale")
    assert found["of"] == "simulation" and [row["actors"] for row in found["rows"]] == [2] and "offered" in done.stdout, found
    rlgo("bench", "growth", "--families", "chain,wide", "--sizes", "30,60", "--csv", "w.csv", "--json", "w.json", cwd=folder)
    found = read(folder / "w.json", "bench-growth")
    assert [(row["family"], row["operators"], row["part"], row["status"]) for row in found["rows"]][:2] == [("chain", 30, "inspect", 0), ("chain", 30, "sweep", 0)], found
    assert len(found["rows"]) == 8 and all(row["cpu_s"] > 0 and row["peak_mib"] > 1 for row in found["rows"]), found
    assert len((folder / "w.csv").read_text().splitlines()) == 9
    rlgo("bench", "same", "--graphs", "toy_mlp", "--runs", 2, "--rounds", 16, "--seconds", 0, "--target", fake("outputs"), "--json", "s.json", cwd=folder)
    found = read(folder / "s.json", "bench-same")
    assert [m["run"] for m in found["measurements"]] == [0, 1] and found["target"]["runtime"] == "fake 1.0", found
    rlgo("bench", "profile", "--drawn", 0, "--seconds", 600, "--target", fake("outputs"), "--out", "p.cost", "--json", "p.json", cwd=folder)
    found = read(folder / "p.json", "bench-profile")
    assert found["kinds"][0]["kind"] == "all" and found["kinds"][0]["before"]["operators"] == sum(t["held_out"] for t in found["timed"]), found["kinds"]
    rlgo("search", "--graph", "toy_conv", "--cost", "analytic", "--cost.profile", "./p.cost", cwd=folder)
    rlgo("bench", "groups", "--graphs", "toy_conv,toy_mlp", "--seconds", 600, "--target", fake("outputs"), "--out", "g.tsv", "--json", "g.json", cwd=folder)
    found = read(folder / "g.json", "bench-groups")
    lines = [line.split("\t") for line in (folder / "g.tsv").read_text().splitlines() if not line.startswith("#")]
    assert [g["groups"] for g in found["graphs"]] == [sum(line[0] == name for line in lines) for name in ("toy_conv", "toy_mlp")], found
    assert all(float(line[1]) > 0 and any(x.startswith("head:") for x in line[3:]) for line in lines) and len(lines) > 4, lines
    rlgo("bench", "kernels", "--graphs", "toy_conv,toy_mlp", "--target", fake("outputs"), "--page", "k.md", "--json", "k.json", cwd=folder)
    found = read(folder / "k.json", "bench-kernels")
    assert {"conv2d", "matmul"} <= {kernel["operator"] for kernel in found["kernels"]} and "| conv2d |" in (folder / "k.md").read_text(), found
    checks_timed(folder)
    rlgo("bench", "groups", "--graphs", "toy_conv", "--target", "libtorch", "--seconds", 1, cwd=folder, status=2)
    rules = ["--parts", "prove,match", "--sets", "base", "--most", 2, "--graphs", "toy_conv", "--rewrites", 3]
    found = check(json.loads(rlgo("bench", "rules", *rules, "--json", "-", cwd=folder).stdout), "bench-rules")
    assert found["prove"][0]["rules"] == found["prove"][0]["proved"] == 2 and found["match"][0]["graph"] == "toy_conv" and found["soundness"] is None, found


def replayed(folder):
    """the trace's rewrites and checks; with --price-only the cost alone"""
    rlgo("search", "--graph", "toy_conv", "--methods", "greedy", *RULED, "--out", "best", "--json", "s.json", cwd=folder)
    trace = ["replay", "--graph", "toy_conv", *RULED, "--trace", "best/best.trace"]
    (searched,) = read(folder / "s.json", "search")["searches"]
    rlgo(*trace, "--out", "x.onnx", "--json", "r.json", cwd=folder)
    found = read(folder / "r.json", "replay")
    assert [r["rule"] for r in found["rewrites"]] == [r["rule"] for r in searched["rewrites"]] and found["nodes"] == searched["nodes"], found
    assert found["written"]["sha256"] == sha(folder / "x.onnx") and {c["finding"] for c in found["judgement"]["checks"]} == {"same"}, found
    priced = check(json.loads(rlgo(*trace, "--price-only", "--json", "-", cwd=folder).stdout), "replay")
    assert priced["judgement"] is None and priced["cost"]["after_us"] < priced["cost"]["before_us"], priced


def errors(folder):
    """a command that fails leaves what it printed, its status, and whether the command line was wrong"""
    for arguments, status, kind in ((["optimise", "none.onnx"], 1, "failed"), (["optimise", "none.onnx", "--sede", 1], 2, "usage"), (["search", "--graph", "none"], 2, "usage")):
        done = rlgo(*arguments, "--json", "e.json", cwd=folder, status=status)
        found = read(folder / "e.json", "error")
        assert found["exit_status"] == status and found["kind"] == kind and done.stderr == f"rlgo: error: {found['message']}\n", found
        done = rlgo(*arguments, "--json=-", cwd=folder, status=status)
        assert check(json.loads(done.stdout), "error")["kind"] == kind


if __name__ == "__main__":
    main(schemas_are_valid, optimise, switches, nothing_found, search, training, several_graphs, never_above_its_start, dream, model, kept, verified, bench, benches, replayed, errors)
