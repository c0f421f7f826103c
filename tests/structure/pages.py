"""Tables that README and other pages make of recorded data say what the files in results/ say (results/pages.py).

    tests/structure/pages.py [FOLDER]
"""
import os
import pathlib
import subprocess
import sys
import tempfile

try:
    import pandas  # noqa: F401
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("RLGO_SOURCE", ".")).resolve()


def check(root):
    done = subprocess.run([sys.executable, ROOT / "results/pages.py", "--check", "--root", root], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def changed_number_is_found():
    """The same pages, one number of README's first table changed."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("results", "docs"):
            (pathlib.Path(folder) / name).symlink_to(ROOT / name)
        head, mark, rest = (ROOT / "README.md").read_text(encoding="utf-8").partition("| all, ")
        (pathlib.Path(folder) / "README.md").write_text(head + mark + "9" + rest, encoding="utf-8")
        status, printed = check(folder)
        return status == 1 and "README.md:" in printed


def main():
    status, printed = check(ROOT)
    print(printed.strip() or "the pages say what is recorded")
    if status == 0 and not changed_number_is_found():
        print("a changed number was not found")
        return 1
    return status


if __name__ == "__main__":
    sys.exit(main())
