"""Prose follows one vocabulary, and pages have short sentences, short lines and narrow tables.

    tests/structure/words.py [--fix] [FOLDER]

Vocabulary holds in pages, comments, messages and help texts; sentence and line length in pages; the width of tables in
all pages, made ones too (results/rlgo_results/tables.py splits them). --fix writes the plain
words and wraps the prose of pages at 100 columns. FOLDER: another checkout.
"""

import io
import os
import pathlib
import re
import statistics
import sys
import textwrap
import tokenize

TOPS = ("core", "actors", "replay", "learner", "launch", "tests", "configs", "docs", "results", "examples")
ENDINGS = {".cc", ".h", ".def", ".py", ".sh", ".md", ".cfg", ".cmake", ".txt", ".tsv", ".rules", ".json"}
PAGES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "CMakeLists.txt")
HERE = "tests/structure/words.py"

# Names in Python that others read: results/ and the package.
PRIVATE_NAMES = re.compile(r"^_?([Tt]old|[Uu]ntold|[Ss]aid|[Ff]oretold|anew|afresh|dearest)(_\w+)?$|_(told|said|foretold)$")
NAMES_IN = ("results/", "launch/python/")
# In all text. Papers are cited by their authors and year.
POINTERS = re.compile(r"\b[Ss]pecification\b|\b(SPEC|DESIGN|HOUSE|SOUNDNESS|LEARNING|RESEARCH|RULEGEN|STYLE)(\.md|\b(?= \d))")
# In C++, also as a part of a longer name: what replaced it. Words in file formats and in quotes stay.
REPLACED = {
    "Lin": "ExtentId", "LinPool": "ExtentPool", "lins": "extents", "LiftStyle": "RuleStyle", "LeafPlan": "InputValues",
    "Proposer": "RandomAttributes", "ForeignRule": "TasoRule", "ForeignTerm": "TasoTerm", "Guard": "Condition",
    "guards": "conditions", "brain": "algorithm", "oracle": "cost server", "story": "result", "sight": "check coverage",
    "seal": "checksum", "roster": "actor registry", "ranker": "policy prior", "xfer": "rule", "price_us": "cost_us",
}  # fmt: skip

# Private words and the plain ones, in pages, comments and messages; the first that matches is taken.
def compiled(pairs):
    return [(re.compile(rf"(?<![\w./-]){word}(?![\w(]|\.\w|-\w)"), plain) for word, plain in pairs]


PLAIN = compiled((
    ("foretold", "predicted"), ("foretells", "predicts"), ("foretell", "predict"), ("foretelling", "predicting"),
    ("begins anew", "starts again"), ("begin anew", "start again"), ("anew", "again"), ("Anew", "Again"),
    ("afresh", "from scratch"), ("dearest", "most expensive"), ("dearer", "more expensive"), ("dear", "expensive"),
    ("goes on with", "continues with"), ("goes on", "continues"), ("go on", "continue"), ("went on", "continued"), ("going on", "continuing"),
    ("worked out", "computed"), ("works out", "computes"), ("work out", "compute"), ("working out", "computing"),
    ("in vain", "without success"), ("made[- ]up", "synthetic"), ("[Bb]eside", "next to"),
    ("told apart", "distinguished"), ("told about", "reported"), (r"(?<=is )told(?! of| to)", "reported"), (r"(?<=are )told(?! of| to)", "reported"),
    ("tells of", "shows"), ("tells", "shows"), ("Tells", "Shows"), ("gives way to", "is replaced by"), ("whoever", "the one that"),
))  # fmt: skip
PLAIN_IN_COMMENTS = compiled((("[Ss]ays", "states"), ("[Ss]aid", "stated"), ("told", "reported")))  # of C++, without tests and names in `...`
PLAIN_IN_PAGES = compiled((("says so", "reports it"), ("says", "states"), ("useless", "redundant")))

# Pages: words a sentence (a list item or a colon ends one) and columns a line; tables, code and links on lines of their own have no limit.
MEDIAN, NINTH, LONGEST, COLUMNS = 16, 25, 40, 120
WIDEST = 6  # columns of a table
# Guides (docs/site/mkdocs.yml) and pages of results/: two screens, an example near the top. Longer pages are reference.
SCREENS, EXAMPLE = 145, 30
LONG_RESULTS = ("results/figures/README.md",)  # made: a section for each picture
# Pages whose sentences are still longer, and why. A page that keeps the limits may not be listed.
LONGER: dict[str, str] = {}


def texts(root):
    for top in TOPS:
        for path in sorted((root / top).rglob("*")):
            if path.suffix in ENDINGS and "__pycache__" not in path.parts and "data" not in path.relative_to(root).parts:
                yield path.relative_to(root).as_posix(), path.read_text(encoding="utf-8", errors="replace")
    for page in PAGES:
        yield page, (root / page).read_text(encoding="utf-8")


CPP = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
CODE_IN_PAGE = re.compile(r"```.*?```|`[^`\n]*`|^    [^\n]*$|\]\([^)]*\)|https?://\S+", re.S | re.M)


def prose(path, text):
    """(begin, end) of what people read: pages without code, comments and strings of sources."""
    if path.endswith(".md"):
        at = 0
        for code in CODE_IN_PAGE.finditer(text):
            yield at, code.start()
            at = code.end()
        yield at, len(text)
    elif path.endswith((".cc", ".h", ".def")):
        for match in CPP.finditer(text):
            if match.group().startswith("/") or " " in match.group() and "=>" not in match.group():  # rules are no prose
                yield match.span()
    elif path.endswith(".py"):
        starts = [0]
        for line in text.splitlines(keepends=True):
            starts.append(starts[-1] + len(line))
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT or token.type == tokenize.STRING and " " in token.string:
                yield starts[token.start[0] - 1] + token.start[1], starts[token.end[0] - 1] + token.end[1]
    elif path.endswith(".json"):
        for match in re.finditer(r'"(?:title|description)": "((?:\\.|[^"\\])*)"', text):
            yield match.span(1)
    elif not path.endswith((".tsv", ".rules")):
        yield 0, len(text)


def private_words(path, text):
    """(begin, end, word, plain word)"""
    for begin, end in prose(path, text):
        piece = re.sub(r"`[^`\n]*`", lambda code: "`" + " " * (len(code.group()) - 2) + "`", text[begin:end]).replace("\\n", "  ")
        taken = []
        comment = path.endswith((".cc", ".h", ".def")) and not path.startswith("tests/") and text.startswith(("//", "/*"), begin)
        for word, plain in PLAIN + (PLAIN_IN_PAGES if path.endswith(".md") else PLAIN_IN_COMMENTS if comment else []):
            for match in word.finditer(piece):
                if not any(a < match.end() and match.start() < b for a, b in taken):
                    taken.append(match.span())
                    yield begin + match.start(), begin + match.end(), match.group(), plain


def private_names(path, text):
    """(line, name) of names in Python."""
    if path.endswith(".py") and path.startswith(NAMES_IN):
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.NAME and PRIVATE_NAMES.search(token.string):
                yield token.start[0], token.string


def is_page(path):
    return path.endswith(".md") and path != "CHANGELOG.md" and not path.startswith(("tests/", "results/figures/", "results/peers/"))


LIST_ITEM = re.compile(r"^\s*([-*]|\d+\.) ")


def paragraphs(text):
    """[first line's number, lines] of each paragraph and list item: no headings, tables, code, pictures, comments."""
    found, fenced, fresh = [], False, True
    for number, line in enumerate(text.splitlines(), 1):
        inner = line.strip()
        fenced ^= inner.startswith("```")
        if fenced or not inner or inner.startswith(("```", "|", "#", "<!--", "![", "[![")) or (line.startswith("    ") and fresh):
            fresh = True
        elif fresh or LIST_ITEM.match(line):
            found.append([number, [line]])
            fresh = False
        else:
            found[-1][1].append(line)
    return found


def sentences(text):
    """Words of each sentence."""
    for number, lines in paragraphs(text):
        whole = LIST_ITEM.sub("", " ".join(line.strip() for line in lines))
        whole = re.sub(r"`[^`]*`", "x", re.sub(r"\]\([^)]*\)", "]", whole))
        for sentence in re.split(r"(?<=[.!?:])[)\"*]*\s+(?=\S)", whole):
            words = len(re.findall(r"\w[\w'.,/%-]*", sentence))
            if words > 1:
                yield number, words


def page_problems(path, text):
    for number, lines in paragraphs(text):
        for offset, line in enumerate(lines):
            if len(line) > COLUMNS and " " in line.strip()[:COLUMNS]:
                yield f"{path}:{number + offset}: {len(line)} columns, at most {COLUMNS}: --fix wraps it"
    found = list(sentences(text))
    lengths = sorted(words for _, words in found)
    long = [f"{path}:{number}: a sentence of {words} words, at most {LONGEST}: split it" for number, words in found if words > LONGEST]
    if lengths and statistics.median(lengths) > MEDIAN:
        long.append(f"{path}: the median sentence has {statistics.median(lengths):g} words, at most {MEDIAN}")
    if lengths and lengths[int(0.9 * (len(lengths) - 1))] > NINTH:
        long.append(f"{path}: nine of ten sentences have up to {lengths[int(0.9 * (len(lengths) - 1))]} words, at most {NINTH}")
    if path in LONGER and not long:
        yield f"{path} keeps the limits: take it out of LONGER in {HERE}"
    elif path not in LONGER:
        yield from long


RULE = re.compile(r"^\s*\|(\s*:?-+:?\s*\|)+\s*$")


def wide_tables(path, text):
    """Tables by the line below their titles; in code too, as it shows what a page would."""
    for number, line in enumerate(text.splitlines(), 1):
        if RULE.match(line) and (columns := line.count("|") - 1) > WIDEST:
            yield f"{path}:{number}: a table of {columns} columns, at most {WIDEST}: leave some out, turn it around, or split it"


def guides(root):
    nav = (root / "docs/site/mkdocs.yml").read_text(encoding="utf-8").partition("- Guides:")[2].partition("- Reference:")[0]
    return re.findall(r": (\S+\.md)$", nav, re.M)


def guide_problems(path, text):
    lines = text.splitlines()
    if len(lines) > SCREENS:
        yield f"{path}: a guide of {len(lines)} lines, at most {SCREENS}: move reference to a page of its own"
    if not any(line.startswith(("```", "    ")) or "`python " in line for line in lines[:EXAMPLE]):
        yield f"{path}: no example in the first {EXAMPLE} lines"


def result_problems(path, text):
    """Pages of results/: a title, what the page is for, and at most two screens next to the rows of tables."""
    lines = text.splitlines()
    first = next((line for line in lines[1:] if line and not line.startswith("<!--")), "")
    if not lines[0].startswith("# ") or first.startswith(("#", "|", "```")):
        yield f"{path}:1: begin with a title and a sentence that states what the page is for"
    if path not in LONG_RESULTS and (length := sum(not line.startswith("|") for line in lines)) > SCREENS:
        yield f"{path}: {length} lines next to tables, at most {SCREENS}: move sections to a page in results/notes/"


def problems(root):
    found = guides(root)
    if not found:
        yield "docs/site/mkdocs.yml: no guides found"
    for path in found:
        yield from guide_problems(path, (root / path).read_text(encoding="utf-8"))
    for page in sorted((root / "results").rglob("*.md")):
        yield from result_problems(page.relative_to(root).as_posix(), page.read_text(encoding="utf-8"))
    replaced = re.compile(r"\b(" + "|".join(REPLACED) + r")\b")
    for path, text in texts(root):
        if path == HERE:
            continue
        code = path.endswith((".cc", ".h", ".def"))
        if not path.endswith(".json"):
            for number, line in enumerate(text.splitlines(), 1):
                for match in POINTERS.finditer(line):
                    yield f"{path}:{number}: `{match.group()}`: say what is meant, or cite the paper"
                for match in replaced.finditer(re.sub(r'"(?:\\.|[^"\\])*"', '""', line) if code else ""):
                    yield f"{path}:{number}: `{match.group()}` is called {REPLACED[match.group()]}"
        for begin, _, word, plain in private_words(path, text):
            yield f"{path}:{text.count(chr(10), 0, begin) + 1}: `{word}`: write \"{plain}\""
        for number, name in private_names(path, text):
            yield f"{path}:{number}: the name `{name}`: use the field's word"
        if path.endswith(".md"):
            yield from wide_tables(path, text)
        if is_page(path):
            yield from page_problems(path, text)


def wrapped(text):
    """The page, the prose of it that is too wide wrapped."""
    lines = text.splitlines()
    for number, old in reversed(paragraphs(text)):
        if max(len(line) for line in old) > COLUMNS:
            mark = LIST_ITEM.match(old[0])
            indent = " " * (len(mark.group()) if mark else len(old[0]) - len(old[0].lstrip()))
            whole = " ".join(line.strip() for line in old)
            first = old[0][: len(old[0]) - len(old[0].lstrip())]
            lines[number - 1 : number - 1 + len(old)] = textwrap.wrap(whole, 100, initial_indent=first, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines) + "\n"


def fix(root):
    for path, text in texts(root):
        new = text
        for begin, end, _, plain in sorted(private_words(path, text), reverse=True) if path != HERE else ():
            new = new[:begin] + (plain.capitalize() if new[begin].isupper() else plain) + new[end:]
        if is_page(path):
            new = wrapped(new)
        if new != text:
            (root / path).write_text(new, encoding="utf-8")
            print(path)


def finds_its_faults():
    """One of each kind, in a page and in a source."""
    page = "It is foretold.\n\n" + "word " * 41 + "end.\n\nwide " + "x" * 130 + " y\n"
    found = [*(word for _, _, word, _ in private_words("docs/x.md", page)), *page_problems("docs/x.md", page)]
    source = 'int anew;  // goes on; says\nfail("{}: worked out anew", name);\nconst char* key = "foretold";\n'
    wide = [len(list(wide_tables("x.md", "| x " * columns + "|\n" + "|---" * columns + "|\n"))) for columns in (WIDEST, WIDEST + 1)]
    guide = list(guide_problems("docs/x.md", "# x\n" * (SCREENS + 1)))
    named = [name for _, name in private_names("results/x.py", "told = said_by(x)\nwhat_is_told, retold = 1\n")]
    result = list(result_problems("results/x.md", "x\n" * (SCREENS + 1)))
    return len(found) == 4 and wide == [0, 1] and len(guide) == len(result) == 2 and named == ["told", "said_by", "what_is_told"] and {word for _, _, word, _ in private_words("x.cc", source)} == {"goes on", "says", "worked out", "anew"}


def main():
    folders = [word for word in sys.argv[1:] if word != "--fix"]
    root = pathlib.Path(folders[0] if folders else os.environ.get("RLGO_SOURCE", "."))
    if "--fix" in sys.argv:
        fix(root)
        return 0
    found = list(problems(root)) + ([] if finds_its_faults() else [f"{HERE}: does not find its own faults"])
    print("\n".join(found) or "plain words, short sentences and lines, narrow tables")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
