"""Truncated and altered checkpoints and parts of the store: each is refused by name, and what is whole is used."""
import shutil

from _faults import chooser
from _rlgo import QUICK, RANDOM, SMALL_NET, complete, main, metrics, rlgo


def flip(path, random):
    """Inverts one bit anywhere in a file."""
    data = bytearray(path.read_bytes())
    place = random.randrange(len(data) * 8)
    data[place // 8] ^= 1 << (place % 8)
    path.write_bytes(data)
    return f"bit {place % 8} of byte {place // 8}"


def cut(path, random):
    """Leaves only the beginning."""
    data = path.read_bytes()
    size = random.randrange(len(data))
    path.write_bytes(data[:size])
    return f"{size} of {len(data)} bytes"


def checkpoints(folder):
    """a checkpoint with one bit flipped, or cut short: refused by name, the one before it is used"""
    random = chooser()
    rlgo("--graph", "toy_conv", *QUICK, *SMALL_NET, "--train.steps-per-epoch", 40, "--epochs", 3, "--checkpoint.every", 1, "--name", "r", cwd=folder)
    for number, damage in enumerate([flip, flip, flip, flip, cut, cut]):
        copy = folder / f"copy-{number}"
        shutil.copytree(folder / "runs/r", copy)
        what = damage(copy / "checkpoints/checkpoint-00000003.h5", random)
        done = rlgo("--resume", copy, "--epochs", 4, cwd=folder)
        refused = [line for line in done.stderr.splitlines() if "is refused" in line]
        assert len(refused) == 1 and "checkpoint-00000003.h5" in refused[0], f"{damage.__name__} {what}: {done.stderr}"
        assert "checkpoint-00000002.h5: 2 epochs" in done.stderr, done.stderr
        assert [int(row["epoch"]) for row in metrics(copy)] == [1, 2, 3, 4]
        complete(copy)
        print(f"  {damage.__name__} {what}: {refused[0].partition('is refused: ')[2].replace(str(folder), '')[:120]}")


def parts(folder):
    """a part of the store likewise: refused by name by every reader, all other parts are read"""
    random = chooser()
    world = ["--graph", "toy_conv", *QUICK, *SMALL_NET, "--train.steps-per-epoch", 60]
    rlgo("--graph", "toy_conv", *RANDOM, "--epochs", 3, "--train.steps-per-epoch", 60, "--store.episodes-per-part", 4, "--name", "r", cwd=folder)
    count = len(list((folder / "runs/r/rollouts").glob("part-*.h5")))
    assert count >= 3
    for number, damage in enumerate([flip, flip, flip, cut]):
        copy = folder / f"copy-{number}"
        shutil.copytree(folder / "runs/r", copy)
        what = damage(copy / "rollouts/part-000-000001.h5", random)
        reported = rlgo("inspect", copy, cwd=folder)
        assert "part-000-000001.h5" in reported.stdout + reported.stderr, f"{damage.__name__} {what}: {reported.stdout}{reported.stderr}"
        shown = rlgo("inspect", copy / "rollouts/part-000-000001.h5", cwd=folder, status=1).stderr
        assert "part-000-000001.h5" in shown and "error" in shown, shown
        rlgo("--resume", copy, "--epochs", 4, cwd=folder)
        complete(copy)
        print(f"  {damage.__name__} {what}: {shown.strip().replace(str(folder), '')[:140]}")
    # A world model that learns from this store reads the parts that are whole.
    trained = rlgo("--agent", "model-based", *world, "--epochs", 2, "--wm.data", "store", "--wm.store", folder / "copy-0/rollouts", "--wm.hidden", 8,
                   "--dream.batch", 2, "--dream.steps-per-epoch", 20, "--name", "w", cwd=folder)
    assert "part-000-000001.h5" in trained.stderr, trained.stderr


if __name__ == "__main__":
    main(checkpoints, parts)
