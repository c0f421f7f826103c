"""Tables of pages: at most WIDEST columns (tests/structure/words.py), a wider one is written in parts; the best value of a row is bold (tests/structure/compared.py)."""
import math
import re

WIDEST = 6
NUMBER = re.compile(r"[-+]?\d[\d,]*(\.\d+)?")


def best_bold(cells, higher=False, same=None):
    """Cells of one row; those that begin with the best number of all are bold, whichever method they are of: the lowest, or the highest.
    None is where all are equal, and cells that begin with no number never are. same: what "=" stands for."""
    numbers = [same if cell == "=" else float(number.group().replace(",", "")) if (number := NUMBER.match(cell)) else None for cell in cells]
    known = {number for number in numbers if number is not None}
    best = (max if higher else min)(known) if len(known) > 1 else math.nan
    return [f"**{cell}**" if number == best else cell for cell, number in zip(cells, numbers, strict=True)]


def best_bold_of_columns(rows, keys, **options):
    """The same, column by column, for tables that have a method in each row: rows of cells of which the first `keys` are not compared."""
    columns = [best_bold(column, **options) if number >= keys else column for number, column in enumerate(zip(*rows))]
    return [list(row) for row in zip(*columns)]


def table(columns, rows, keys=1, widths=()):
    """Lines of Markdown, an empty line between parts. columns: titles; rows: lists of text. Each part begins with the first `keys`
    columns. widths: how many of the others each part takes; without it they are spread evenly."""
    others = len(columns) - keys
    if not widths:
        parts = -(-others // (WIDEST - keys))
        widths = [others // parts + (k < others % parts) for k in range(parts)]
    if sum(widths) != others or max(widths) + keys > WIDEST:
        raise ValueError(f"parts of {widths} columns for {others}, {keys} keys before each, at most {WIDEST} in all")
    lines, begin = [], keys
    for width in widths:
        lines += [""] if lines else []
        for cells in (columns, ["---"] * len(columns), *rows):
            shown = [*cells[:keys], *cells[begin : begin + width]]
            lines.append("|" + "---|" * len(shown) if cells[0] == "---" else f"| {' | '.join(shown)} |")
        begin += width
    return lines
