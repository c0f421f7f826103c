"""Tables of pages have at most WIDEST columns (tests/structure/words.py): a wider one is written in parts."""

WIDEST = 6


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
