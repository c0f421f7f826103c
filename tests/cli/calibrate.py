"""rlgo calibrate: prices learned under a measurer that times nothing, used where they hold and nowhere else; what it refuses."""
import json

from _rlgo import main, rlgo
from _schemas import check
from bad_input import misused, refused, valid_model
from optimise import fake

GRAPHS = ["--graphs", "toy_conv,toy_mlp,toy_attention,toy_residual"]


def calibrated(folder, *wrongs, options=(), status=0):
    done = rlgo("calibrate", *GRAPHS, "--seconds", 40, "--target", fake("outputs", *wrongs), "--cost.folder", "costs", "--json", "c.json", *options, cwd=folder, status=status)
    return done.stdout, check(json.loads((folder / "c.json").read_text()), "calibrate" if status == 0 else "error")


def learned(folder, *options, costs="costs"):
    """What `optimise` names as the source of its estimates."""
    rlgo("optimise", "m.onnx", "--seconds", 3, "--target", fake("outputs"), "--cost.folder", costs, "--json", "o.json", *options, cwd=folder, status=None)
    return check(json.loads((folder / "o.json").read_text()), "optimise")["cost"]


def kept_and_used(folder):
    """nearer prices are kept and used by optimise of the same runtime and processor; --cost.learned no leaves them out"""
    valid_model(folder / "m.onnx")
    text, found = calibrated(folder)
    (file,) = (folder / "costs").glob("*.trees")
    assert found["kept"] and 1 <= found["after"] < found["before"] and found["lost"] == {} and f"written: {file.relative_to(folder)}" in text, found
    assert file.name.startswith("measured-fake-1.0-1t-") and found["groups"] >= 200 and {"formula"} < {one["base"] for one in found["tried"]}, found
    cost = learned(folder)
    assert cost["estimates"] == "learned prices" and "calibrated here" in cost["learned_on"], cost
    for cost in (learned(folder, "--cost.learned", "no"), learned(folder, costs="elsewhere")):
        assert cost["estimates"] == "a formula" and cost["learned_on"] == "", cost
    # A file that holds for two threads is not taken for one, whatever its name is.
    file.write_text(file.read_text().replace("\nthreads 1\n", "\nthreads 2\n"))
    refused(folder, ["optimise", "m.onnx", "--target", fake("outputs"), "--cost.folder", "costs"], file.name, "2 threads, not for", "run rlgo calibrate again")
    file.write_text("features a\ntree 0\n")
    refused(folder, ["optimise", "m.onnx", "--target", fake("outputs"), "--cost.folder", "costs"], f"{file.name}:2: ", "remove it, or run rlgo calibrate again")
    _, again = calibrated(folder)
    assert again["kept"] and "calibrated here" in learned(folder)["learned_on"]


def same_groups_same_prices(folder):
    """groups that are timed already give the same prices at each call; those of another runtime are refused"""
    rlgo("bench", "groups", *GRAPHS, "--seconds", 10, "--target", fake("outputs"), "--out", "g.tsv", cwd=folder)
    for name in ("a", "b"):
        rlgo("calibrate", "--groups", "g.tsv", "--target", fake("outputs"), "--out", f"{name}.trees", cwd=folder)
    assert (folder / "a.trees").read_text() == (folder / "b.trees").read_text() and not (folder / "costs").exists()
    lines = (folder / "g.tsv").read_text()
    (folder / "other.tsv").write_text(lines.replace("# runtime fake 1.0", "# runtime fake 1.1"))
    refused(folder, ["calibrate", "--groups", "other.tsv", "--target", fake("outputs"), "--out", "c.trees"], "other.tsv", "not a file of groups timed under fake 1.0")
    (folder / "bad.tsv").write_text(lines + "toy_conv\t1.5\n")
    refused(folder, ["calibrate", "--groups", "bad.tsv", "--target", fake("outputs"), "--out", "c.trees"], f"bad.tsv:{len(lines.splitlines()) + 1}: ", "model, us, spread_us")
    (folder / "noisy.tsv").write_text("\n".join("\t".join([*line.split("\t")[:2], "1e9", *line.split("\t")[3:]]) if not line.startswith("#") else line for line in lines.splitlines()))
    refused(folder, ["calibrate", "--groups", "noisy.tsv", "--target", fake("outputs"), "--out", "c.trees"], "0 groups timed", "samples too far apart")


def lost_timings(folder):
    """groups that the runtime refuses are counted and not learned from; a target that dies leaves nothing"""
    text, found = calibrated(folder, "fail=Softmax")
    assert found["lost"].get("unsupported operator", 0) > 0 and "lost: " in text and "x unsupported operator" in text, found
    for wrong, reason in (("crash=n", "too much for me"), ("nan", "timings lost: ")):
        failed = rlgo("calibrate", *GRAPHS, "--seconds", 20, "--target", fake("outputs", wrong), "--out", "x.trees", cwd=folder, status=1).stderr
        assert "0 groups timed, 200 are needed" in failed and reason in failed and not (folder / "x.trees").exists(), failed


def refusals(folder):
    """a place that cannot be written, before anything is timed; a runtime without groups; one graph alone"""
    (folder / "requests").write_text("")
    target = ["--target", fake("outputs", "log=requests")]
    refused(folder, ["calibrate", *target, "--out", "no/such/x.trees"], "no/such")
    (folder / "file").write_text("")
    refused(folder, ["calibrate", *target, "--cost.folder", "file/costs"], "file/costs")
    assert "measure" not in (folder / "requests").read_text()
    misused(folder, ["calibrate", "--target", fake("outputs"), "--cost.folder", ""], "--out or --cost.folder")
    failed = rlgo("calibrate", "--graphs", "toy_attention", "--seconds", 20, "--target", fake("outputs"), "--out", "x.trees", cwd=folder, status=1).stderr
    assert "--graphs" in failed and len(failed.splitlines()) == 1 and not (folder / "x.trees").exists(), failed


if __name__ == "__main__":
    main(kept_and_used, same_groups_same_prices, lost_timings, refusals)
