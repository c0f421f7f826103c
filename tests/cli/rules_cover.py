"""rlgo rules import and cover: TASO's rules as text are read, judged, and the unsound ones refuted."""
import re

from _rlgo import SOURCE, main, rlgo

TASO = SOURCE / "tests/data/rules/taso-133.txt"
# Unsound as TASO applies them: sums with broadcasts, channels merged in spite of groups.
UNSOUND = ["taso-060", "taso-099", "taso-125", "taso-130"]
SOUND = ["taso-000", "taso-022", "taso-064", "taso-070", "taso-083", "taso-117"]


def cover(folder):
    """a sample of both kinds, from the text and from the imported rules"""
    text = rlgo("rules", "import", TASO, "--out", "taso.rules", cwd=folder).stdout
    assert re.search(r"wrote taso.rules: 135 rules \(4 of them from right to left\), 0 left out", text), text
    for file in (TASO, "taso.rules"):
        only = [word for name in SOUND for word in ("--only", name)]
        text = rlgo("rules", "cover", file, *only, cwd=folder).stdout
        assert re.search(r"^6 rules against \d+ proved ones: .* 0 refuted, 0 unknown", text, re.M), text
        only = [word for name in UNSOUND for word in ("--only", name)]
        text = rlgo("rules", "cover", file, *only, cwd=folder, status=1).stdout
        assert "4 refuted" in text and text.count("left: graph") == 4, text


def protobuf(folder):
    """matmul(matmul(i1, i4), i5) => matmul(i1, matmul(i4, i5)) as TASO's generator stores it"""
    def varint(value):
        value &= (1 << 64) - 1
        out = b""
        while value >= 0x80:
            out, value = out + bytes([value & 0x7F | 0x80]), value >> 7
        return out + bytes([value])

    def number(field, value):
        return varint(field << 3) + varint(value)

    def message(field, data):
        return varint(field << 3 | 2) + varint(len(data)) + data

    def matmul(*inputs):
        operands = b"".join(message(2, number(1, op) + number(2, 0)) for op in inputs)
        return number(1, 18) + operands + message(3, number(1, 9) + number(2, 0))

    left = [matmul(-1, -4), matmul(0, -5)]
    right = [matmul(-4, -5), matmul(-1, 0)]
    rule = b"".join([message(1, op) for op in left] + [message(2, op) for op in right])
    rule += message(3, number(1, 1) + number(2, 1) + number(3, 0) + number(4, 0))
    (folder / "graph_subst.pb").write_bytes(message(1, rule))
    text = rlgo("rules", "import", "graph_subst.pb", "--out", "pb.rules", cwd=folder).stdout
    assert "wrote pb.rules: 1 rules" in text, text
    text = rlgo("rules", "cover", "graph_subst.pb", cwd=folder).stdout
    assert re.search(r"contained +taso-000 +matmul\(matmul\(i1, i4\), i5\)  =>  matmul\(i1, matmul", text), text
    (folder / "cut.pb").write_bytes(message(1, rule)[:-3])
    failed = rlgo("rules", "cover", "cut.pb", cwd=folder, status=1).stderr
    assert "cut.pb: the bytes end within a field" in failed and len(failed.splitlines()) == 1, failed


def bad_input(folder):
    """one line that names the file"""
    (folder / "bad.txt").write_text("0\t1->1 ops\tsoftplus(i1) => i1\n")
    for command in (["cover", "bad.txt"], ["import", "bad.txt", "--out", "o.rules"]):
        failed = rlgo("rules", *command, cwd=folder, status=1).stderr
        assert "bad.txt:1: unknown operator 'softplus'" in failed and len(failed.splitlines()) == 1, failed
    assert "--out" in rlgo("rules", "import", TASO, cwd=folder, status=2).stderr
    assert not (folder / "o.rules").exists()


if __name__ == "__main__":
    main(cover, protobuf, bad_input)
