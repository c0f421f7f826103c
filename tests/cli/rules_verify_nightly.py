"""rlgo rules verify: every rule of the shipped files that says it is proved is proved again, by the axioms it names."""
import re

from _rlgo import SOURCE, main, rlgo


def proofs(text):
    """axioms of each proved rule of a file"""
    found = {}
    for paragraph in re.split(r"\n(?=rule )", text):
        name = re.match(r"rule (\S+)", paragraph)
        proof = re.search(r"^  proof proved((?: \S+|\n    \S+)*)", paragraph, re.M)
        if name and proof:
            found[name[1]] = set(proof[1].split())
    return found


def shipped(folder):
    """the whole of each file"""
    for name in ("base", "runtime", "motion", "winograd", "respell", "generated", "coverage"):
        file = SOURCE / f"configs/rules/{name}.rules"
        expected = proofs(file.read_text())
        out = rlgo("rules", "verify", file, cwd=folder, status=None, timeout=3000).stdout
        proved = {m[1]: set(m[2].split()) for m in re.finditer(r"^(\S+) +proved +(.*?)  \[", out, re.M)}
        assert set(expected) <= set(proved), (name, sorted(set(expected) - set(proved)))
        other = {rule for rule in expected if expected[rule] != proved[rule]}
        assert not other, (name, sorted(other)[:10])


if __name__ == "__main__":
    main(shipped)
