"""Proves on tiny trees that include_edges.py finds what it should, and nothing else."""

import pathlib
import tempfile
import unittest

import include_edges

TABLE = """# comment
core/base\t-\tspdlog
core/ops\tcore/base\t-
core/comm\tcore/base\tmpi nccl
core/nets\tcore/base\ttorch
launch\tall\tboost_po
"""
GOOD = {
    "launch/modules.tsv": TABLE,
    "core/base/log.h": "#pragma once\n#include <spdlog/spdlog.h>\n#include <string>\n",
    "core/base/stopwatch.h": "using Clock = std::chrono::steady_clock;\n",
    "core/ops/op.h": '#pragma once\n#include "core/base/log.h"\n',
    "core/ops/op_list.def": "RLGO_OP(add, 1)\n",
    "core/ops/op.cc": '#include "core/ops/op.h"\n\n#include <unistd.h>\n#include "core/ops/op_list.def"\n// getenv\n'
                      'const char* x = "steady_clock argv";\n',
    "core/comm/comm.cc": "#include <mpi.h>\nvoid f(char** argv);\n",
    "core/nets/net.h": "#include <torch/types.h>\n",
    "launch/commands/run.cc": '#include "core/nets/net.h"\n#include <boost/program_options.hpp>\n'
                              "int main(int argc, char** argv) { getenv(argv[0]); }\n",
}


def problems_of(**changes):
    """The problems of the good tree with files changed, added, or (None) removed; '__' in a name stands for '/'."""
    files = dict(GOOD)
    files.update({name.replace("__", "/").replace("_dot_", "."): text for name, text in changes.items()})
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            if text is not None:
                path = pathlib.Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
        return include_edges.problems(folder)


class IncludeEdges(unittest.TestCase):
    def assert_one(self, expected, **changes):
        found = problems_of(**changes)
        self.assertEqual(len(found), 1, found)
        self.assertIn(expected, found[0])

    def test_good_tree(self):
        self.assertEqual(problems_of(), [])

    def test_edge_that_is_not_in_the_table(self):
        self.assert_one("core/base may not include core/ops", core__base__x_dot_cc='#include "core/ops/op.h"\n')
        self.assert_one("core/ops may not include core/nets", core__ops__x_dot_cc='  #  include "core/nets/net.h"\n')
        self.assert_one("core/nets may not include launch", launch__a_dot_h="",
                        core__nets__x_dot_cc='#include "launch/a.h"\n')

    def test_included_file_that_does_not_exist(self):
        self.assert_one("does not exist", core__ops__x_dot_cc='#include "core/base/none.h"\n')
        self.assert_one("does not exist", core__ops__x_dot_cc='#include "op.h"\n')

    def test_library_outside_its_row(self):
        self.assert_one("core/ops may not use torch", core__ops__x_dot_cc="#include <ATen/ATen.h>\n")
        self.assert_one("core/ops may not use nccl", core__ops__x_dot_cc="#include <cuda_runtime.h>\n")
        self.assert_one("launch may not use mpi", launch__x_dot_cc="#include <mpi.h>\n")
        self.assert_one("neither", core__ops__x_dot_cc="#include <zlib.h>\n")

    def test_light_module_that_links_a_heavy_library(self):
        table = TABLE.replace("launch", "core/search\tcore/nets\t-\ncore/optimise\tcore/search\t-\nlaunch")
        self.assert_one("core/optimise links torch, through core/nets", launch__modules_dot_tsv=table,
                        core__search__x_dot_h="", core__optimise__x_dot_h="")

    def test_slow_header(self):
        self.assert_one("core/nets/x.h:1: includes <torch/torch.h>", core__nets__x_dot_h="#include <torch/torch.h>\n")

    def test_library_in_a_header(self):
        self.assert_one("belongs in .cc files", core__comm__x_dot_h="#include <mpi.h>\n")

    def test_long_files(self):
        self.assertEqual(problems_of(core__ops__x_dot_cc="\n" * 400, core__ops__x_dot_h="\n" * 200), [])
        self.assert_one("401 lines; at most 400", core__ops__x_dot_cc="\n" * 401)
        self.assert_one("201 lines; at most 200", core__ops__x_dot_h="\n" * 201)

    def test_long_functions(self):
        heads = ("int f() {", "int f(int a,\n      int b) {", "template <class T>\nvoid A<T>::f(T a) const {", "A::A(int a)\n    : a_(a) {")
        for head in heads:
            rest = "\n" * (59 - head.count("\n"))
            self.assertEqual(problems_of(core__ops__x_dot_cc=head + rest + "}\n"), [])
            self.assert_one("x.cc:1: 61 lines", core__ops__x_dot_cc=head + rest + "\n}\n")
        member = "class A {\n public:\n  void f() {" + "\n" * 60 + "  }\n};\n"
        self.assert_one("x.cc:3: 61 lines from 'void f'", core__ops__x_dot_cc=member)
        table = "constexpr auto kRows = std::to_array<int>({\n" + "    {1},\n" * 90 + "});\n"
        self.assertEqual(problems_of(core__ops__x_dot_cc=table), [])

    def test_what_is_for_launch_alone(self):
        self.assert_one("uses the environment", core__ops__x_dot_cc='auto x = std::getenv("X");\n')
        self.assert_one("uses the command line", core__ops__x_dot_cc="void f(char** argv);\n")
        self.assert_one("uses a clock", core__ops__x_dot_cc="auto t = std::chrono::steady_clock::now();\n")
        self.assert_one("core/ops/x.cc:3: uses a clock", core__ops__x_dot_cc="/* a\n b */\nauto t = time(nullptr);\n")

    def test_file_without_a_row(self):
        self.assert_one("belongs to no row", core__other__x_dot_cc="")

    def test_row_without_files(self):
        self.assert_one("core/nets has no source files", core__nets__net_dot_h=None, launch__commands__run_dot_cc="")

    def test_bad_tables(self):
        name = "launch__modules_dot_tsv"
        self.assert_one("three columns", **{name: TABLE + "core/base -\t-\n"})
        self.assert_one("unknown library curl", **{name: TABLE.replace("spdlog", "spdlog curl")})
        self.assert_one("not a row above it", **{name: TABLE.replace("core/ops\tcore/base", "core/ops\tcore/base core/nets")})


if __name__ == "__main__":
    unittest.main()
