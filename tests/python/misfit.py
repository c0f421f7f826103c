"""The command `rlgo` of the wheel on machines that it is not for: one line that says what is wrong and what to do."""

import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(os.environ.get("RLGO_SOURCE", ".")) / "launch/python"))
import rlgo_command

WHEEL = "Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: cp310-abi3-manylinux_2_36_x86_64\n"


class Misfit(unittest.TestCase):
    def test_fits_this_and_later_systems(self):
        for glibc in ("glibc 2.36", "glibc 2.41", "glibc 3.0"):
            self.assertEqual(rlgo_command.misfit(WHEEL, "x86_64", glibc), "")

    def test_other_processors_and_older_systems(self):
        self.assertRegex(rlgo_command.misfit(WHEEL, "aarch64", "glibc 2.36"), "^this wheel is for x86_64, and this machine is aarch64: ")
        for glibc, named in (("glibc 2.31", "glibc 2.31"), ("", "another C library")):
            self.assertRegex(rlgo_command.misfit(WHEEL, "x86_64", glibc), f"needs glibc 2.36 or later, and this system has {named}: ")

    def test_a_build_of_this_machine_reports_nothing(self):
        self.assertEqual(rlgo_command.misfit("Tag: cp310-abi3-linux_x86_64\n", "aarch64", ""), "")


if __name__ == "__main__":
    unittest.main()
