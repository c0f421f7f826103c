"""h5py and results/rlgo_results read what the C++ writer wrote: every number is compared with what the writer had."""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import h5py  # noqa: F401
    import matplotlib  # noqa: F401
    import numpy as np
    import pandas as pd
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

SOURCE = Path(os.environ.get("RLGO_SOURCE", Path(__file__).resolve().parents[2]))
PROGRAM = Path(os.environ.get("RLGO_BINARY", SOURCE / "build/release/rlgo")).parent / "test_replay"
sys.path.insert(0, str(SOURCE / "results"))
from rlgo_results import store as rollouts  # noqa: E402


def check_episodes(root, expected):
    episodes = rollouts.load(root).episodes
    assert len(episodes) == len(expected) == 7
    for (_, row), line in zip(episodes.iterrows(), expected):
        number, rank, version, terminal, best, total = (float(x) for x in line)
        assert (row["episode"], row["rank"], row["weights_version"], row["terminal"], row["truncated"]) == (number, rank, version, terminal, 1 - terminal)
        assert (row["best_cost_us"], row["return"], row["steps"], row["seed"]) == (best, total, number, 7)


def check_steps(root, expected):
    steps = rollouts.load(root).steps
    assert len(steps) == len(expected) == 21
    for (_, row), line in zip(steps.iterrows(), expected):
        assert row["step"] == int(line[1])
        assert [row["xfer"], row["location"]] == [int(line[2]), int(line[3])]
        assert row["log_prob_xfer"] == np.float32(line[4]) and row["step_us"] == float(line[5]) and row["rule"] == line[6]


def check_observations(root, expected):
    episodes = rollouts.load(root).episodes
    parts = {str(path): rollouts.Part(path) for path in rollouts.part_paths(root)}
    assert len(expected) == 28
    for line in expected:
        place = episodes.iloc[int(line[0])]
        o = parts[place["part"]].observation(place["row"], int(line[1]))
        found = [len(o["node_op"]), o["node_op"].sum(), o["node_feat"].sum(dtype=float), o["edge_src"].sum() + 1000 * o["edge_dst"].sum(),
                 o["edge_feat"].sum(dtype=float), o["globals"].sum(dtype=float), o["counts"].sum(), o["loc_node"].sum()]  # fmt: skip
        assert np.allclose(found, [float(x) for x in line[2:]], rtol=1e-12, atol=0), (line, found)
        assert o["counts"].sum() == len(o["loc_node"]) and o["node_feat"].shape == (len(o["node_op"]), 4)
    for part in parts.values():
        assert part.attributes["graph"] == "toy" and part.attributes["git_revision"] == "abc123" and part.attributes["max_locations"] == 5
        assert part.xfer_names == ["rule-0", "rule-1", "rule-2"]


def check_program(root):
    out = root / "plot.png"
    done = subprocess.run([SOURCE / "results/analyse", "episodes", root, "--out", out], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = dict(zip(*([cell.strip() for cell in line.split("|")] for line in done.stdout.splitlines()[2:6:2])))
    assert (found["episodes"], found["terminal"], found["truncated"], found["steps"]) == ("7", "4", "3", "21"), found
    assert (found["before, ms"], found["best, ms"]) == ("0.1", "0.094"), found
    assert out.read_bytes().startswith(b"\x89PNG")
    done = subprocess.run([SOURCE / "results/analyse", "episodes", root / "none"], capture_output=True, text=True)
    assert done.returncode == 1 and "no such file or folder" in done.stderr


def check_real_run(folder):
    """Observations of a real run, bit for bit as the C++ reader gives them: in order, and one taken out of the middle first."""
    arguments = ["--graph", "resnet18", "--cost", "analytic", "--agent", "random", "--epochs", "1", "--train.steps-per-epoch", "150", "--env.max-steps", "70",
                 "--check.repeats", "3", "--train.polish", "false", "--runs", folder, "--name", "real"]  # fmt: skip
    subprocess.run([PROGRAM.parent / "rlgo", *arguments], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=SOURCE)
    run = folder / "real"
    subprocess.run([PROGRAM, "--gtest_filter=Interop.DumpsObservations"], env=dict(os.environ, RLGO_INTEROP_STORE=str(run)), check=True, stdout=subprocess.DEVNULL)
    data, at = (run / "observations.bin").read_bytes(), 0
    kinds = {"node_op": np.int32, "node_feat": np.float32, "edge_src": np.int32, "edge_dst": np.int32, "edge_feat": np.float32, "globals": np.float32,
             "counts": np.int32, "loc_node": np.int32, "loc_feat": np.float32, "loc_rest_end": np.int32, "loc_rest": np.int32}  # fmt: skip
    found, changed, before = rollouts.load(run), 0, None
    assert len(found.episodes) >= 2 and found.episodes["steps"].max() > 33, found.episodes["steps"].tolist()
    middle = found.observation(1, int(found.episodes["steps"][1]) // 2)
    parts = {part: rollouts.Part(part) for part in found.episodes["part"].unique()}
    for index, episode in found.episodes.iterrows():
        for step in range(episode["steps"] + 1):
            o = parts[episode["part"]].observation(episode["row"], step)
            for name, kind in kinds.items():
                count = int(np.frombuffer(data, np.int64, 1, at)[0])
                expected = np.frombuffer(data, kind, count, at + 8)
                at += 8 + expected.nbytes
                assert o[name].dtype == kind and o[name].reshape(-1).tobytes() == expected.tobytes(), (index, step, name)
            if (index, step) == (1, episode["steps"] // 2):
                assert all(np.array_equal(middle[name], o[name]) for name in kinds)
            changed += before is not None and len(before) != len(o["node_op"])
            before = o["node_op"]
    assert at == len(data) and changed > 20, (at, len(data), changed)  # graphs that change, not one again and again
    for part in parts.values():
        part.file.close()


def check_damage(root):
    """Another reader notices damage by the chunks' checksums; covered and foreign files are left alone."""
    folder = root / "rollouts"
    first = rollouts.part_paths(root)[0]
    (folder / "part-000-000000.h5").write_bytes(b"a left-over that a merged part covers")
    (folder / "notes.h5").write_bytes(b"foreign")
    assert len(rollouts.load(root).episodes) == 7
    with rollouts.Part(first) as part:
        chunk = part.file["observations/code"].id.get_chunk_info(0)
        expected = part.file["observations/code"][:]
    assert len(expected) > 0
    data = bytearray(first.read_bytes())
    data[chunk.byte_offset + chunk.size // 2] ^= 16
    first.write_bytes(data)
    try:
        with rollouts.Part(first) as part:
            part.file["observations/code"][:]
    except OSError:
        return
    raise AssertionError("a damaged chunk was read without an error")


def main():
    if not PROGRAM.exists():
        print(f"skipped: {PROGRAM} is not built")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        environment = dict(os.environ, RLGO_INTEROP_FOLDER=folder)
        subprocess.run([PROGRAM, "--gtest_filter=Interop.WritesStore"], env=environment, check=True, stdout=subprocess.DEVNULL)
        lines = [line.split("\t") for line in (root / "expected.tsv").read_text().splitlines()]
        expected = {kind: [line[1:] for line in lines if line[0] == kind] for kind in ("episode", "step", "observation")}
        assert [path.name for path in rollouts.part_paths(root)] == ["part-000-000000-000001.h5", "part-000-000002-000003.h5"]
        check_episodes(root, expected["episode"])
        check_steps(root, expected["step"])
        check_observations(root, expected["observation"])
        check_program(root)
        check_damage(root)
        check_real_run(root)
    print(f"pandas {pd.__version__}, h5py {h5py.__version__}: all as written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
