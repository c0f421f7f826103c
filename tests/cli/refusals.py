"""What a refused or stopped call leaves: models, rules and tables as they were; one bad rule does not end a file's proofs."""
import shutil

from _rlgo import SOURCE, main, rlgo

RULES = """rule bad-stride
  ?y = (max_pool ?x kernel=[2, 2] strides=[0, 0])
  => ?y = ?x
rule never-fits
  ?y = (reduce_sum ?x axes=[0] keepdims=1)
  => ?y = (reduce_sum ?x axes=[0] keepdims=0)
rule good
  ?y = (relu (relu ?x))
  => ?y = (relu ?x)
"""


def unchanged(file, *arguments, status):
    before = file.read_bytes()
    done = rlgo(*arguments, cwd=file.parent, status=status)
    assert file.read_bytes() == before, f"{arguments}: {file.name} was overwritten"
    return done.stderr


def models_and_rules(folder):
    """--json, --report, --csv that name what is read are refused, and get no error document"""
    model, rules = folder / "in.onnx", folder / "in.rules"
    rlgo("search", "--graph", "toy_conv", "--methods", "greedy", "--cost", "analytic", "--seconds", 1, "--out", "found", cwd=folder)
    shutil.copy(folder / "found/best.onnx", model)
    shutil.copy(SOURCE / "configs/rules/base.rules", rules)
    for arguments, status in ((["optimise", model, "--json", model], 1),
                              (["optimise", model, "--bogus", 1, "--json", model], 1),
                              (["optimise", model, "--report", model, "--json", model], 1),
                              (["search", "--graph", model, "--methods", "greedy", "--seconds", 1, "--csv", model], 1),
                              (["inspect", model, "--json", model], 1)):
        unchanged(model, *arguments, status=status)
    assert "is the file that is read itself" in unchanged(rules, "rules", "verify", rules, "--json", rules, status=1)


def one_bad_rule(folder):
    """a rule that cannot be, or never fits, is unknown; the others are proved; names that are none are refused"""
    (folder / "some.rules").write_text(RULES)
    done = rlgo("rules", "verify", "some.rules", cwd=folder, status=1)
    lines = {line.split()[0]: line for line in done.stdout.splitlines() if line.strip()}
    assert "unknown" in lines["bad-stride"] and "conditions never hold" in lines["bad-stride"], done.stdout
    assert "unknown" in lines["never-fits"] and "differ in type" in lines["never-fits"], done.stdout
    assert "proved" in lines["good"], done.stdout
    assert "no rule 'other'" in rlgo("rules", "verify", "some.rules", "--only", "good,other", cwd=folder, status=1).stderr
    (folder / "empty.rules").write_text("# nothing\n")
    assert "holds no rule" in rlgo("rules", "verify", "empty.rules", cwd=folder, status=1).stderr


if __name__ == "__main__":
    main(models_and_rules, one_bad_rule)
