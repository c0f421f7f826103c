"""rlgo rules verify: what a file says is proved is proved again; of the shipped files, some rules spread evenly."""
import re
import signal

from _rlgo import SOURCE, STOP_S, main, rlgo, start, wait_until

FALSE = "rule wrong\n  tags t\n  ?y = (relu (relu ?x))\n  => ?y = ?x\n"


def shipped(folder):
    """all of those that say so, with axioms that the summary counts"""
    for name in ("base", "runtime", "motion", "winograd", "respell", "generated", "coverage"):
        text = (SOURCE / f"configs/rules/{name}.rules").read_text()
        proved = re.findall(r"^rule (\S+)\n(?:  tags .*\n|  #.*\n|  before .*\n)*  proof proved", text, re.M)
        assert proved, name
        # An awkward number: neighbours in a file are of one kind.
        chosen = proved[:: max(1, len(proved) // 37)]
        out = rlgo("rules", "verify", SOURCE / f"configs/rules/{name}.rules", "--only", ",".join(chosen), "--threads", 1,
                   cwd=folder).stdout
        assert re.search(rf"^{len(chosen)} rules: {len(chosen)} proved, 0 refuted, 0 unknown", out, re.M), out


def some(folder):
    """--sample takes rules evenly; status 1 where one is not proved"""
    file = folder / "three.rules"
    file.write_text("".join(f"rule r{k}\n  tags t\n  ?y = (relu (relu ?x))\n  => ?y = (relu ?x)\n\n" for k in range(4)) + FALSE)
    out = rlgo("rules", "verify", file, "--sample", 2, "--threads", 1, cwd=folder).stdout
    assert re.findall(r"^(r\d) +proved", out, re.M) == ["r0", "r2"], out
    out = rlgo("rules", "verify", file, "--threads", 1, cwd=folder, status=1).stdout
    assert re.search(r"^wrong +refuted", out, re.M) and "5 rules: 4 proved, 1 refuted, 0 unknown" in out, out


def identities(folder):
    """what mathematics says about single operators is proved; turned a little, it is refuted"""
    file = SOURCE / "tests/data/rules/identities.rules"
    out = rlgo("rules", "verify", file, "--threads", 1, cwd=folder).stdout
    assert re.search(r"^\d+ rules: (\d+) proved, 0 refuted, 0 unknown", out, re.M), out
    wrong = {"split-reduce-max": ("(max (reduce_max", "(add (reduce_max"), "max-over-min": ("=> ?y = (min", "=> ?y = (max"), "neg-max": ("(min (neg", "(max (neg"),
             "sigmoid-neg": ("(sub 1", "(sub 0"), "tanh-neg": ("(neg (tanh ?x))", "(tanh ?x)"), "square-of-neg": ("=> ?y = (mul ?x ?x)", "=> ?y = (neg (mul ?x ?x))")}  # fmt: skip
    rules = {text.split(None, 2)[1]: text for text in file.read_text().split("\n\n") if text.startswith("rule ")}
    made = ""
    for name, (right, turned) in wrong.items():
        assert rules[name].count(right) == 1, name
        made += rules[name].replace(right, turned) + "\n\n"
    turned = folder / "turned.rules"
    turned.write_text(made)
    out = rlgo("rules", "verify", turned, "--threads", 1, cwd=folder, status=1).stdout
    assert f"{len(wrong)} rules: 0 proved, {len(wrong)} refuted, 0 unknown" in out, out


def twice(folder):
    """a name that is defined twice in a file is an error that says where"""
    file = folder / "twice.rules"
    file.write_text(FALSE + "\n" + FALSE)
    error = rlgo("rules", "verify", file, cwd=folder, status=1).stderr
    assert f"{file}:6: rule 'wrong' is defined twice" in error, error


def stopped(folder):
    """a signal ends it: what was proved is printed, the rest is counted, the status says which signal"""
    file = folder / "many.rules"
    rule = "  tags t\n  ?y = (relu (concat ?xs... axis=?k))\n  => ?y = (concat (relu ?xs)... axis=?k)\n\n"
    file.write_text("".join(f"rule r{k}\n{rule}" for k in range(200_000)))
    process = start("rules", "verify", file, "--threads", 1, cwd=folder)
    printed = folder / "output.txt"
    wait_until("some proofs", lambda: printed.read_text().count(" proved ") >= 3, process=process)
    process.send_signal(signal.SIGTERM)
    try:
        assert process.wait(timeout=STOP_S) == 128 + signal.SIGTERM
    finally:
        process.kill()
    out = printed.read_text()
    done = len(re.findall(r"^r\d+ +proved", out, re.M))
    assert re.search(rf"^{done} rules: {done} proved, 0 refuted, 0 unknown", out, re.M), out[-500:]
    assert f"stopped by a signal: {200_000 - done} rules not tried" in out, out[-500:]


if __name__ == "__main__":
    main(shipped, some, identities, twice, stopped)
