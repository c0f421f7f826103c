"""rlgo bench scale: its numbers for one actor on a toy graph, and what is said about bad input."""
import csv
import math

from _rlgo import main, mpirun, rlgo


def one_actor(folder):
    """a row of sensible numbers, and nothing left behind"""
    mpirun(2)  # skips where there is none
    rlgo("bench", "scale", "--graph", "toy_residual", "--ranks", 1, "--scale.seconds", 3, "--scale.csv", "scale.csv", cwd=folder)
    (row,) = list(csv.DictReader((folder / "scale.csv").open()))
    assert row["graph"] == "toy_residual" and row["agent"] == "random" and row["actors"] == "1"
    number = {name: float(value) for name, value in row.items() if name not in ("graph", "agent")}
    # No bound on a rate or a share: a loaded machine is slow, and its numbers are still right.
    assert number["efficiency"] == 1 == number["cores_allow"], number
    assert all(math.isfinite(value) and value >= 0 for value in number.values()), number
    assert number["steps_per_s"] > 0 and number["env_per_s"] > 0 and number["of_loop_by_cpu"] > 0, number
    assert 20 < number["message_bytes"] < 1000 and 20 < number["store_bytes"] < 2000, number
    assert 1 < number["actor_private_mib"] < number["actor_resident_mib"] < 5000, number


def simulated(folder):
    """rank 0 against actors that are played: a row for each number of them, and nothing left behind"""
    done = rlgo("bench", "scale", "--graph", "toy_residual", "--simulate", "2,5", "--scale.rate", 200, "--scale.seconds", 3, cwd=folder)
    rows = [[float(word) for word in line.split()] for line in done.stdout.splitlines() if line.split()[0].isdigit()]
    assert [row[:2] for row in rows] == [[2, 400], [5, 1000]], done.stdout
    assert all(row[2] > 0 and math.isfinite(sum(row)) for row in rows), done.stdout


def bad_input(folder):
    """no number of actors, an unknown option"""
    done = rlgo("bench", "scale", "--ranks", "1,none", cwd=folder, status=2)
    assert "--ranks: 'none' is no number of actors" in done.stderr, done.stderr
    done = rlgo("bench", "scale", "--rank", "1", cwd=folder, status=2)
    assert "unknown option 'rank'" in done.stderr, done.stderr


if __name__ == "__main__":
    main(one_actor, simulated, bad_input)
