"""launch/cmake/unity.py groups sources that have no name in common, and leaves the others alone."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "launch/cmake/unity.py"
START = "namespace rlgo {\nnamespace {\n\n"
END = "\n}  // namespace\n\n}  // namespace rlgo\n"


def united(files):
    """[sources of each group] of files in core/."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "core").mkdir()
        for name, text in files.items():
            (root / "core" / name).write_text(text)
        sources = [root / "core" / name for name in files if name.endswith(".cc")]
        printed = subprocess.run([sys.executable, SCRIPT, root, root / "out", "m", *sources], capture_output=True, text=True, check=True).stdout
        groups = []
        for path in map(pathlib.Path, printed.split()):
            lines = [line for line in path.read_text().splitlines() if not line.endswith('.h"')] if path.parent.name == "out" else []
            groups.append([line.split('"')[1].removeprefix("core/") for line in lines] or [path.name])
        return groups


class Groups(unittest.TestCase):
    def test_sources_without_a_common_name_are_one_group(self):
        self.assertEqual(united({"a.cc": START + "constexpr int kA = 1;" + END, "b.cc": START + "int f() { return 2; }" + END}), [["a.cc", "b.cc"]])

    def test_equal_names_keep_sources_apart(self):
        for one, other in (("constexpr int kA = 1;", "double kA[] = {1};"), ("int f() {\n  return 1;\n}", "int f(\n    int x);"), ("struct S {};", "using S = int;")):
            self.assertEqual(united({"a.cc": START + one + END, "b.cc": START + other + END}), [["a.cc"], ["b.cc"]], one)
        self.assertEqual(united({"a.cc": "#define X 1\n", "b.cc": "#define X 2\n"}), [["a.cc"], ["b.cc"]])
        self.assertEqual(united({"a.cc": START + "struct Node {};" + END, "b.cc": "namespace rlgo {\nusing graph::Node;\n}\n"}), [["a.cc"], ["b.cc"]])

    def test_a_source_that_means_another_function_of_that_name_stays_apart(self):
        self.assertEqual(united({"a.cc": START + "void split(int x);" + END, "b.cc": "int f() {\n  return split(1);\n}\n", "c.cc": "int g() {\n  return x.split(1);\n}\n"}),
                         [["a.cc", "c.cc"], ["b.cc"]])

    def test_names_in_comments_strings_and_bodies_do_not_count(self):
        self.assertEqual(united({"a.cc": START + "int f() {\n  int x = 1;\n  return x;\n}" + END, "b.cc": START + "// f(\nint g() {\n  int x = 1;\n  return x;\n}\nconst char* t = R\"(\nint f(\n)\";" + END}),
                         [["a.cc", "b.cc"]])

    def test_names_of_headers_and_using_namespace_stand_alone(self):
        self.assertEqual(united({"w.h": "using Words = int;\n", "a.cc": START + "using Words = long;" + END, "b.cc": "int b;\n", "c.cc": "using namespace sym;\n", "d.cc": "int d;\n"}),
                         [["a.cc"], ["b.cc", "d.cc"], ["c.cc"]])

    def test_a_group_has_at_most_1200_lines(self):
        self.assertEqual(united({f"{name}.cc": f"int {name};\n" + "\n" * 500 for name in "abc"}), [["a.cc", "b.cc"], ["c.cc"]])


if __name__ == "__main__":
    unittest.main()
