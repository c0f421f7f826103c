"""Headers say what their public declarations are: every class, struct, enum and function that other files can use has words
at it, or stands in a group that has.

A declaration is documented where a comment stands on its line, or above the run of declarations that it is part of (no blank
line in between). The comment at the top of a header is about its first type. A struct or enum may
have its words at its fields, a function whose body stands on its line needs none. Constructors, destructors, operators,
overrides, further overloads, and members that say it themselves (size(), empty(), begin(), end(), ...) need none.

    tests/structure/header_docs.py [--list] [FOLDER]
"""

import os
import pathlib
import re
import sys

TOPS = ("core", "actors", "replay", "learner", "launch")
PLAIN = {"size", "empty", "begin", "end", "clear", "name", "hash", "text", "graph", "main", "data", "front", "back",
         "push_back", "pop_back", "resize", "rank", "next", "restart"}
TYPE = re.compile(r"(?:template <.*> )?(class|struct|enum class)\s+([A-Za-z_]\w*)[^;]*$")
FUNCTION = re.compile(r"([~\w]+|operator\W+)\s*\([^()]*(?:\([^()]*\)[^()]*)*\)?")


def declarations(lines):
    """(line number, name, kind) of the types and functions that stand at namespace or public class level."""
    access = []  # of each open brace: namespace, public, private, body
    joined, start = "", 0
    for number, line in enumerate(lines):
        code = re.sub(r'"(?:\\.|[^"\\])*"', '""', re.sub(r"//.*", "", line)).rstrip()
        if not code.strip() or code.lstrip().startswith("#"):
            continue
        label = re.match(r"\s*(public|private|protected)\s*:", code)
        if label and access and access[-1] != "body":
            access[-1] = "public" if label.group(1) == "public" else "private"
            continue
        start = number if not joined else start
        joined = f"{joined} {code.strip()}".strip()
        visible = all(a in ("namespace", "public") for a in access)
        if not (re.search(r"[;{}]\s*$", code) or re.search(r"[{}]", code)):
            continue
        opens, closes = joined.count("{"), joined.count("}")
        kind = TYPE.match(joined.split("{")[0].strip()) if "{" in joined else None
        if visible and kind and opens > closes - 0 or visible and kind:
            yield start, kind.group(2), kind.group(1)
        elif visible and "(" in joined and not joined.startswith(("using ", "namespace", "friend ", "extern ")):
            head = re.split(r"\{|=(?!=)|;", joined.split("(")[0])[-1] + "(" + joined.split("(", 1)[1]
            match = re.search(r"([~\w]+)\s*\(", head)
            if match and not re.match(r"(RLGO_\w+|static_assert|requires|alignas|noexcept|return|if|for|while|explicit)$", match.group(1)):
                yield start, match.group(1), joined
        for _ in range(max(0, closes - max(0, opens))):
            if access:
                access.pop()
        for _ in range(max(0, opens - closes)):
            if "namespace" in joined and not kind:
                access.append("namespace")
            elif kind:
                access.append("private" if kind.group(1) == "class" else "public")
            else:
                access.append("body")
        joined = ""


def is_documented(lines, number):
    if "//" in lines[number]:
        return True
    k = number - 1
    while k >= 0 and lines[k].strip() and not re.match(r"\s*(public|private|protected)\s*:|\s*(class|struct|namespace|enum)\b.*\{\s*$", lines[k]):
        if "//" in lines[k]:
            return True
        k -= 1
    return False


def documents_itself(lines, number, kind):
    """A function whose body stands on its line, or a struct or enum whose fields have words."""
    if kind not in ("struct", "enum class"):
        return bool(re.search(r"\{.*;\s*\}$", lines[number].rstrip()))
    for line in lines[number:]:
        if "//" in line:
            return True
        if re.match(r"\s*\};|.*\{.*\};", line):
            return False
    return False


def undocumented(root):
    for top in TOPS:
        for path in sorted((root / top).rglob("*.h")):
            lines = path.read_text(encoding="utf-8").splitlines()
            own_type, documented = "", set()
            for number, name, kind in declarations(lines):
                if kind in ("class", "struct", "enum class"):
                    first, own_type = not own_type, name
                    if first and lines[0].startswith("//"):
                        continue  # the comment at the top of a header is about its first type
                elif name in documented or name in PLAIN or name == own_type or name.startswith("~") or "operator" in kind or "override" in kind \
                        or "= default" in kind or "= delete" in kind or name[0].isupper():
                    continue
                if is_documented(lines, number) or documents_itself(lines, number, kind):
                    documented.add(name)
                else:
                    yield f"{path.relative_to(root).as_posix()}:{number + 1}: {name}"


def main():
    arguments = [a for a in sys.argv[1:] if a != "--list"]
    found = list(undocumented(pathlib.Path(arguments[0] if arguments else os.environ.get("RLGO_SOURCE", "."))))
    print("\n".join(found))
    print(f"{len(found)} public declarations of headers without a word")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
