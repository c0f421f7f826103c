"""Checks that the sources keep to the module table, launch/modules.tsv, and to the limits of the style card.

Run by ctest with RLGO_SOURCE set, or by hand: tests/structure/include_edges.py [FOLDER]. Prints one line a problem.
"""

import os
import pathlib
import re
import sys

TABLE = "launch/modules.tsv"

# Third-party headers by the name that the table's third column gives their library.
EXTERNAL_HEADERS = {
    "spdlog": r"spdlog/|fmt/",
    "onnx": r"onnx/|google/protobuf/",
    "torch": r"torch/|ATen/|c10/",
    "mpi": r"mpi(-ext)?\.h$",
    "nccl": r"nccl\.h$|cuda|cudnn\.h$|cublasLt\.h$",
    "hdf5": r"hdf5(_hl)?\.h$|H5",
    "z3": r"z3",
    "boost_po": r"boost/",
    "cbc": r"coin/",
    "json": r"nlohmann/",
    "eigen": r"Eigen/|unsupported/Eigen/",
    "nanobind": r"nanobind/",
}
SOURCE_FILES_ONLY = {"eigen", "onnx", "mpi", "nccl", "hdf5", "z3"}  # never in a .h
SLOW_HEADERS = {
    "torch/torch.h": "all of LibTorch takes 11 s a file: <torch/types.h> has tensors, <torch/nn/module.h> and"
                     " <torch/optim/adam.h> what learns",
}
SYSTEM_HEADERS = re.compile(r"[a-z0-9_]+$|sys/[a-z]+\.h$|(unistd|malloc|fcntl|dlfcn|poll|sched|spawn|pthread|link|cxxabi)\.h$")

# What users install without training links none of these, through all that it may include.
LIGHT_MODULES = ("core/optimise", "launch/python")
HEAVY_LIBRARIES = ("torch", "mpi", "hdf5")

MAX_LINES = {".cc": 400, ".h": 200}
MAX_FUNCTION_LINES = 60  # from the first line of its signature to its closing brace

# What is the launcher's alone, with the files that may use it all the same.
LAUNCH_ONLY = [
    ("the environment", re.compile(r"\b(getenv|secure_getenv|setenv|putenv|environ)\b"), ()),
    ("the command line", re.compile(r"\bargv\b"), ("core/comm/",)),  # MPI_Init takes it
    ("a clock", re.compile(r"\b(steady|system|high_resolution|file|utc)_clock\b|\bclock_gettime\b|\bgettimeofday\b"
                           r"|\b(std::)?time\((nullptr|NULL|0)\)|\bstd::clock\("), ("core/base/stopwatch.h",)),
]


def read_table(root):
    """The table as {module: (modules it may include, externals)}, and the problems of the table itself."""
    table, problems = {}, []
    for number, line in enumerate((root / TABLE).read_text().splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        columns = line.split("\t")
        if len(columns) != 3:
            problems.append(f"{TABLE}:{number}: a row needs three columns separated by tabs")
            continue
        module, deps, externals = columns[0], columns[1].split(), columns[2].split()
        deps = set(table) if deps == ["all"] else set(deps) - {"-"}
        externals = set(externals) - {"-"}
        for dep in sorted(deps - set(table)):
            problems.append(f"{TABLE}:{number}: {module} may include {dep}, which is not a row above it")
        for external in sorted(externals - set(EXTERNAL_HEADERS)):
            problems.append(f"{TABLE}:{number}: unknown library {external}")
        if not any(source_files(root / module)):
            problems.append(f"{TABLE}:{number}: {module} has no source files")
        table[module] = (deps, externals)
        if module in LIGHT_MODULES:
            problems += [f"{TABLE}:{number}: {module} links {library}, through {through}" for library in HEAVY_LIBRARIES
                         for through in sorted(reached(table, module)) if library in table[through][1]]
    return table, problems


def reached(table, module):
    """The module and all that it links, directly or not."""
    deps = table.get(module, ((), ()))[0]
    return {module}.union(*(reached(table, dep) for dep in deps))


def source_files(folder):
    return sorted(p for p in folder.rglob("*") if p.suffix in (".cc", ".h", ".def"))


def module_of(path, table):
    """The module that a file (path from the root) belongs to: the longest row that is one of its folders."""
    rows = [m for m in table if path.startswith(m + "/")]
    return max(rows, key=len) if rows else None


def without_comments_and_strings(text):
    pattern = r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\''
    return re.sub(pattern, lambda m: "\n" * m.group().count("\n"), text, flags=re.S)


def check_include(root, path, module, table, style, target):
    deps, externals = table[module]
    if style == '"':
        to = module_of(target, table)
        if not (root / target).is_file():
            yield f'includes "{target}", which does not exist (paths start at the repository root)'
        elif to is None:
            yield f'includes "{target}", which belongs to no module'
        elif to != module and to not in deps:
            yield f'includes "{target}", but {module} may not include {to}'
        return
    if target in SLOW_HEADERS:
        yield f"includes <{target}>; {SLOW_HEADERS[target]}"
    for external, pattern in EXTERNAL_HEADERS.items():
        if re.match(pattern, target):
            if external not in externals:
                yield f"includes <{target}>, but {module} may not use {external}"
            elif external in SOURCE_FILES_ONLY and path.endswith(".h") and "/cuda/" not in path:  # a plug-in's own
                yield f"includes <{target}> in a header; {external} belongs in .cc files"
            return
    if not SYSTEM_HEADERS.match(target):
        yield f"includes <{target}>, which is neither a system header nor one of a library of the table"


def functions(text):
    """(first line, last line, signature) of each function, and of what inside it has a head with parentheses and a block."""
    text = re.sub(r'R"(\w*)\(.*?\)\1"', lambda m: '""' + "\n" * m.group().count("\n"), text, flags=re.S)
    heads, head, first, line = [], "", 1, 1
    for part in re.split(r"([{};\n])", re.sub(r"(?m)^\s*#.*(\\\n.*)*", lambda m: "\n" * m.group().count("\n"), without_comments_and_strings(text))):
        if part == "\n":
            line += 1
        elif part == "{":
            heads.append((head, first))
        elif part == "}" and heads:
            opened, at = heads.pop()
            if "(" in opened and not opened.endswith(("( ", ", ")) and not re.match(r"(namespace|class|struct|enum|union|extern)\b", opened):
                yield at, line, opened
        if part in "{};" and part:
            head = ""
        elif part.strip() and not re.fullmatch(r"\s*(public|private|protected):\s*", part):
            first = first if head else line
            head += part.strip() + " "


def check_file(root, path, module, table):
    text = (root / path).read_text()
    lines = text.splitlines()
    limit = MAX_LINES.get(pathlib.Path(path).suffix)
    if limit and len(lines) > limit:
        yield f"{path}: {len(lines)} lines; at most {limit}"
    for first, last, signature in functions(text):
        if last - first >= MAX_FUNCTION_LINES:
            yield f"{path}:{first}: {last - first + 1} lines from '{signature.split('(')[0].strip()}' on; a function has at most {MAX_FUNCTION_LINES}"
    for number, line in enumerate(lines, 1):
        match = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
        if match:
            for problem in check_include(root, path, module, table, *match.groups()):
                yield f"{path}:{number}: {problem}"
    if module in ("launch", "launch/train"):
        return
    for number, line in enumerate(without_comments_and_strings(text).splitlines(), 1):
        for what, pattern, exempt in LAUNCH_ONLY:
            if pattern.search(line) and not path.startswith(exempt or ("\0",)):
                yield f"{path}:{number}: uses {what}; that is for launch alone"


def problems(root):
    """All problems of the tree at `root`, a line each."""
    root = pathlib.Path(root)
    table, found = read_table(root)
    tops = sorted({m.split("/")[0] for m in table})
    for top in tops:
        for file in source_files(root / top):
            path = file.relative_to(root).as_posix()
            module = module_of(path, table)
            if module is None:
                found.append(f"{path}: belongs to no row of {TABLE}")
            else:
                found.extend(check_file(root, path, module, table))
    return found


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("RLGO_SOURCE", ".")
    found = problems(root)
    print("\n".join(found) if found else "the sources keep to the module table")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
