"""--json: each command's document is as its schema and docs/json.md say, and says what happened."""
import copy
import hashlib
import json
import re

from _rlgo import SOURCE, main, rlgo
from _schemas import check, read, schemas, validator
from optimise import BRIEF, two_convs

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


def nothing_found(folder):
    """status 3: the document says so too, and nothing is written"""
    two_convs(folder / "toy.onnx")
    rlgo("optimise", "toy.onnx", "-o", "f.onnx", "--json", "o.json", "--rules", "merge-matmul-shared-lhs", *LIBTORCH, cwd=folder, status=3)
    found = read(folder / "o.json", "optimise")
    assert found["exit_status"] == 3 and not found["verdict"]["improved"] and found["latency"] is None and found["written"] is None
    assert found["rewrites"] == [] and not found["verdict"]["changed"]


def errors(folder):
    """a command that fails leaves what it printed, its status, and whether the command line was wrong"""
    for arguments, status, kind in ((["optimise", "none.onnx"], 1, "failed"), (["optimise", "none.onnx", "--sede", 1], 2, "usage"), (["search", "--graph", "none"], 2, "usage")):
        done = rlgo(*arguments, "--json", "e.json", cwd=folder, status=status)
        found = read(folder / "e.json", "error")
        assert found["exit_status"] == status and found["kind"] == kind and done.stderr == f"rlgo: error: {found['message']}\n", found
        done = rlgo(*arguments, "--json=-", cwd=folder, status=status)
        assert check(json.loads(done.stdout), "error")["kind"] == kind


if __name__ == "__main__":
    main(schemas_are_valid, optimise, nothing_found, errors)
