"""Memory of the ranks of a long run: sampled while it lasts, judged and drawn afterwards.

  python3 results/soak.py watch --job PID --out memory.csv [--every S]   until process PID has ended
  python3 results/soak.py judge memory.csv [--figure F.svg] [--max-mib-per-hour M] [--max-growth-mib G]

Private memory (pages that the process has written and shares with nobody) counts; the columns of the CSV: seconds
since the start, rank, private_mib, rss_mib, cpu_s (processor time so far). judge takes the samples after the first third (start and warm-up)
and fits a line through each half of them for each rank (Theil-Sen: the median of the slopes between all pairs, which a few
odd samples do not move). The flatter line counts: a leak continues, a single step (an arena that grew) rises in one half at most.
A rank leaks where that line rises by more than G MiB over all those samples and also by more than M MiB an hour. Exit status: 0 flat, 1 a rank leaks or the samples are too few.
"""
import argparse
import csv
import os
import sys
import time
from pathlib import Path

MIB = 1024 * 1024


def ranks_of(job):
    """{rank: pid} of the rlgo processes that a launch script with process id `job` started (its RLGO_JOB_PID)."""
    found = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            if Path(os.readlink(entry / "exe")).name != "rlgo":
                continue
            variables = dict(item.split(b"=", 1) for item in (entry / "environ").read_bytes().split(b"\0") if b"=" in item)
        except OSError:
            continue
        if variables.get(b"RLGO_JOB_PID") == str(job).encode() and b"OMPI_COMM_WORLD_RANK" in variables:
            found[int(variables[b"OMPI_COMM_WORLD_RANK"])] = int(entry.name)
    return found


def memory_of(pid):
    """(private, resident) bytes of a process."""
    private = resident = 0
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        name, _, value = line.partition(":")
        # Not Private_Clean: pages of libraries become private when another process that maps them ends.
        if name == "Private_Dirty":
            private += int(value.split()[0]) * 1024
        elif name == "Rss":
            resident = int(value.split()[0]) * 1024
    return private, resident


def cpu_seconds(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def alive(pid):
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"


def watch(job, out, every_s):
    begin = time.monotonic()
    with open(out, "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["seconds", "rank", "private_mib", "rss_mib", "cpu_s"])
        while alive(job):
            # Looked for at every sample: mpirun starts one rank after another, and a rank may be restarted.
            for rank, pid in sorted(ranks_of(job).items()):
                try:
                    private, resident = memory_of(pid)
                    cpu = cpu_seconds(pid)
                except OSError:
                    continue  # it has just ended
                rows.writerow([f"{time.monotonic() - begin:.1f}", rank, f"{private / MIB:.3f}", f"{resident / MIB:.3f}", f"{cpu:.2f}"])
            file.flush()
            time.sleep(every_s)


def read(path):
    """{rank: [(seconds, private MiB)]}."""
    series = {}
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            series.setdefault(int(row["rank"]), []).append((float(row["seconds"]), float(row["private_mib"])))
    return series


def slope(points):
    """Theil-Sen: the median slope between pairs of points, MiB/s. Of long series every k-th point is taken."""
    points = points[:: max(1, len(points) // 300)]
    slopes = sorted((b[1] - a[1]) / (b[0] - a[0]) for i, a in enumerate(points) for b in points[i + 1:] if b[0] > a[0])
    return slopes[len(slopes) // 2]


def judge(series, max_mib_per_hour, max_growth_mib):
    """Lines of text, one a rank, and whether all ranks are flat."""
    lines, flat = [], bool(series)
    for rank, points in sorted(series.items()):
        end = max(t for t, _ in points)
        late = [point for point in points if point[0] >= points[0][0] + (end - points[0][0]) / 3]
        if len(late) < 10:
            lines.append(f"rank {rank}: only {len(late)} samples after the warm-up, at least 10 are needed")
            flat = False
            continue
        rise = min(slope(late[: len(late) // 2]), slope(late[len(late) // 2 :]))
        growth = rise * (late[-1][0] - late[0][0])
        leaks = rise * 3600 > max_mib_per_hour and growth > max_growth_mib
        flat = flat and not leaks
        middle = sorted(m for _, m in late)[len(late) // 2]
        lines.append(f"rank {rank}: {'LEAKS' if leaks else 'flat'}: {middle:.1f} MiB private, {rise * 3600:+.2f} MiB/h, "
                     f"{growth:+.3f} MiB over the last {late[-1][0] - late[0][0]:.0f} s ({len(late)} samples)")
    return lines, flat


def draw(series, path):
    from rlgo_results.plot import legend, new_figure, save  # to watch needs none of it

    figure, axes = new_figure(width=8, height=4)
    axis = axes[0, 0]
    for rank, points in sorted(series.items()):
        axis.plot([t / 60 for t, _ in points], [m for _, m in points], label="learner" if rank == 0 else f"actor {rank}", linewidth=1)
    axis.set(xlabel="minutes", ylabel="private memory, MiB", ylim=(0, None))
    legend(axis, ncols=4)
    save(figure, path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    watching = commands.add_parser("watch")
    watching.add_argument("--job", type=int, required=True)
    watching.add_argument("--out", required=True)
    watching.add_argument("--every", type=float, default=10.0)
    judging = commands.add_parser("judge")
    judging.add_argument("samples")
    judging.add_argument("--figure")
    judging.add_argument("--max-mib-per-hour", type=float, default=8.0)
    judging.add_argument("--max-growth-mib", type=float, default=4.0)
    given = parser.parse_args()
    if given.command == "watch":
        watch(given.job, given.out, given.every)
        return 0
    series = read(given.samples)
    if given.figure:
        draw(series, given.figure)
    lines, flat = judge(series, given.max_mib_per_hour, given.max_growth_mib)
    print("\n".join(lines) if lines else f"{given.samples}: no samples")
    return 0 if flat else 1


if __name__ == "__main__":
    sys.exit(main())
