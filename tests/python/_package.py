"""For the tests of the Python package: the one of the build tree comes first on the path. Exit status 77 where the build has none."""

import os
import pathlib
import sys

BUILD = pathlib.Path(os.environ["RLGO_BINARY"]).parent
SOURCE = pathlib.Path(os.environ["RLGO_SOURCE"])

if not list((BUILD / "python" / "rlgo").glob("_core.*.so")):
    print("the build has no Python package (nanobind was missing when it was configured)")
    sys.exit(77)
sys.path.insert(0, str(BUILD / "python"))
