"""Groups sources of one module into files that include several of them, for a build that compiles everything once.

    unity.py ROOT FOLDER PREFIX SOURCE...    writes FOLDER/PREFIX_N.cc; prints what to compile in place of SOURCE..., one a line

Half of the time of a source goes into its headers. A source joins the first group of its folder that has room, if none of
them has a word that is another one's own name: of an anonymous namespace, static, a macro. It stays alone where it has
`using namespace`, or an own name that a header declares.
"""

import pathlib
import re
import sys

LINES = 1200  # of a group
MOST = 8  # sources of a group
TOPS = ("core", "launch")  # whose headers are read

TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
TYPE = re.compile(r"(?:struct|class|enum class|enum|union)\s+(\w+)|using (\w+) =")
NAME = re.compile(r"(?:^|[\s*&>])(\w+)\s*(?:\(|=|\{|;|\[)")
WORD = re.compile(r"(?<![\w.:>])[A-Za-z_]\w*")
NO_NAMES = {"const", "noexcept", "override", "default", "requires"}


def names_of(text):
    """(names that only this file has, all that it declares at the top level, all words of its code)"""
    own, others, inside = set(), set(), False
    plain = TOKEN.sub(lambda m: "\n" * m.group().count("\n"), text)
    for line, code in zip(text.split("\n"), plain.split("\n")):
        if line.startswith("namespace {"):
            inside = True
        elif line.startswith("}  // namespace"):
            inside = False
        if code.startswith("#define"):
            own.add(re.match(r"#define\s+(\w+)", code)[1])
        if not re.match(r"[A-Za-z_]", code) or code.startswith("namespace"):
            continue
        found = TYPE.match(code) or re.match(r"using [\w:]+::(\w+);", code) or NAME.search(code)
        name = found and next(part for part in found.groups() if part)
        if name and name not in NO_NAMES:
            (own if inside or code.startswith("static ") else others).add(name)
    return own, own | others, own | others | set(WORD.findall(plain))


def groups_of(sources, in_headers):
    """Lists of paths."""
    groups = []  # [folder, paths, lines, own names, words]
    for path in sources:
        text = path.read_text(encoding="utf-8")
        lines, (own, _, words) = text.count("\n"), names_of(text)
        alone = re.search(r"^using namespace", text, re.M) or own & in_headers
        for group in groups if not alone else ():
            folder, paths, length, taken, known = group
            if folder == path.parent and len(paths) < MOST and length + lines <= LINES and not own & known and not words & taken:
                paths.append(path)
                group[2:] = [length + lines, taken | own, known | words]
                break
        else:
            groups.append([path.parent, [path], LINES if alone else lines, own, words])
    return [group[1] for group in groups]


def main(root, folder, prefix, *sources):
    root, folder = pathlib.Path(root), pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    headers = [path for top in TOPS for path in sorted((root / top).rglob("*.h"))]
    in_headers = set().union(*(names_of(path.read_text(encoding="utf-8"))[1] for path in headers))
    for number, group in enumerate(groups_of([pathlib.Path(source) for source in sources], in_headers)):
        if len(group) == 1:
            print(group[0])
            continue
        out = folder / f"{prefix}_{number}.cc"
        headers = dict.fromkeys(line for path in group for line in re.findall(r'^#include ".*\.h"$', path.read_text(encoding="utf-8"), re.M))
        text = "\n".join([*headers, *(f'#include "{path.relative_to(root)}"' for path in group), ""])  # no header sees their names
        if not out.is_file() or out.read_text(encoding="utf-8") != text:
            out.write_text(text, encoding="utf-8")
        print(out)


if __name__ == "__main__":
    main(*sys.argv[1:])
