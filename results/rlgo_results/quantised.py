"""The table of results/quantised.md."""
from .recorded import revisions_of


def table(rows):
    lines = ["| layers | form | activations x weights | ratio | rewrites |", "|---|---|---|---|---|"]
    for r in rows:
        ratio = f"**{float(r['ratio']):.3f}** ({float(r['low']):.3f} to {float(r['high']):.3f})" if r["rewrites"] else "1 (unchanged)"
        lines.append(f"| {r['layers']} | {r['form']} | {r['types']} | {ratio} | {r['rewrites'] or 'none'} |")
    runtimes = ", ".join(sorted({f"{r['runtime']}, {r['device']}" for r in rows}))
    return [*lines, "", f"Latency after / before (interval of a further process, error 1 %), lower is better; {runtimes}, one thread; rlgo {revisions_of(rows)}."]
