"""The command `rlgo` of the wheel: starts the program that is in the package, with this Python for the runtimes."""

import importlib.metadata
import importlib.util
import os
import pathlib
import platform
import re
import sys


def misfit(wheel: str, machine: str, glibc: str) -> str:
    """Why a wheel of these tags (the text of its WHEEL file) does not run on this machine, and what to do; "" where it should."""
    found = re.search(r"manylinux_(\d+)_(\d+)_(\w+)", wheel)
    if not found:
        return ""
    numbers = re.search(r"(\d+)\.(\d+)", glibc)
    if machine != found[3]:
        return f"this wheel is for {found[3]}, and this machine is {machine}: take a machine with such a processor"
    if not numbers or (int(numbers[1]), int(numbers[2])) < (int(found[1]), int(found[2])):
        return f"this wheel needs glibc {found[1]}.{found[2]} or later, and this system has {glibc or 'another C library'}: take a later one, such as Debian 12 or Ubuntu 22.04"
    return ""


def why_not() -> str:
    """misfit() of the wheel that is installed here."""
    try:
        wheel = importlib.metadata.distribution("rlgo").read_text("WHEEL") or ""
        glibc = os.confstr("CS_GNU_LIBC_VERSION") or ""
    except (importlib.metadata.PackageNotFoundError, ValueError, OSError):
        return ""
    return misfit(wheel, platform.machine(), glibc)


def main() -> None:
    """Becomes the program. Imports nothing of rlgo, so that it serves where an extension module cannot be loaded."""
    package = importlib.util.find_spec("rlgo")
    if package is None or not package.submodule_search_locations:
        sys.exit("rlgo: error: the package rlgo is not installed in this Python environment; pip install the wheel")
    program = pathlib.Path(list(package.submodule_search_locations)[0]) / "rlgo-program"
    os.environ.setdefault("RLGO_PYTHON", sys.executable)
    problem = why_not()
    if not problem:
        try:
            os.execv(program, ["rlgo", *sys.argv[1:]])
        except OSError as error:
            problem = f"{program} does not start: {error.strerror}; install the wheel again"
    sys.exit(f"rlgo: error: {problem}")
