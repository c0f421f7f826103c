"""For the tests of the Python package: the one of the build tree comes first on the path. Exit status 77 where the build has none.
By hand, without RLGO_BINARY, the build is build/release; where that has no package, the installed one is taken."""

import os
import pathlib
import sys

SOURCE = pathlib.Path(os.environ.get("RLGO_SOURCE", pathlib.Path(__file__).resolve().parents[2]))
BUILD = pathlib.Path(os.environ.get("RLGO_BINARY", SOURCE / "build" / "release" / "rlgo")).parent

built = list((BUILD / "python" / "rlgo").glob("_core.*.so"))
if not built and "RLGO_BINARY" in os.environ:
    print("the build has no Python package (nanobind was missing when it was configured)")
    sys.exit(77)
if built:
    sys.path.insert(0, str(BUILD / "python"))
