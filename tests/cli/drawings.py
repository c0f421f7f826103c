"""The pictures of docs/ are what launch/scripts/draw_docs.py draws with this program."""
import subprocess
import sys

from _rlgo import BINARY, SOURCE

sys.exit(subprocess.run([sys.executable, SOURCE / "launch/scripts/draw_docs.py", BINARY, "--check"]).returncode)
