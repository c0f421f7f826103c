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


def bad_input(folder):
    """one line that names the file"""
    (folder / "bad.txt").write_text("0\t1->1 ops\tsoftplus(i1) => i1\n")
    for command in (["cover", "bad.txt"], ["import", "bad.txt", "--out", "o.rules"]):
        failed = rlgo("rules", *command, cwd=folder, status=1).stderr
        assert "bad.txt:1: unknown operator 'softplus'" in failed and len(failed.splitlines()) == 1, failed
    assert "--out" in rlgo("rules", "import", TASO, cwd=folder, status=1).stderr
    assert not (folder / "o.rules").exists()


if __name__ == "__main__":
    main(cover, bad_input)
