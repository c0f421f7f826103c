"""A run as it continues: event files that TensorBoard's own messages read, with the run's options; analyse watch."""
import io
import struct
import sys

from _rlgo import QUICK, SMALL_NET, SOURCE, main, metrics, rlgo

sys.path.insert(0, str(SOURCE / "results"))
TRAIN = ["--graph", "toy_conv", *QUICK, *SMALL_NET, "--train.steps-per-epoch", 20]


def events(path):
    """Records of a TFRecord file, both checksums compared."""
    from tensorboardX.crc32c import crc32c
    from tensorboardX.proto.event_pb2 import Event

    def masked(data):
        crc = crc32c(data)
        return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF

    data, found = path.read_bytes(), []
    while data:
        (size,), (head,) = struct.unpack("<Q", data[:8]), struct.unpack("<I", data[8:12])
        assert head == masked(data[:8]) and struct.unpack("<I", data[12 + size : 16 + size])[0] == masked(data[12 : 12 + size])
        found.append(Event.FromString(data[12 : 12 + size]))
        data = data[16 + size :]
    return found


def event_files(folder):
    """an event for each epoch, scalars as in metrics.csv; hyper-parameters; a resumed run has a file of its own that begins there"""
    from tensorboardX.proto.plugin_hparams_pb2 import HParamsPluginData

    rlgo(*TRAIN, "--epochs", 2, "--name", "r", cwd=folder)
    rlgo("--resume", "runs/r", "--epochs", 3, cwd=folder)
    first, second = sorted((folder / "runs/r/tb").iterdir(), key=lambda p: p.name)
    rows = metrics(folder / "runs/r")
    assert events(first)[0].file_version == "brain.Event:2"
    scalars = [e for file in (first, second) for e in events(file) if len(e.summary.value) > 1]
    assert [e.step for e in scalars] == [int(row["steps"]) for row in rows], [e.step for e in scalars]
    for event, row in zip(scalars, rows):
        reported = {v.tag: v.simple_value for v in event.summary.value}
        for name in ("best_cost_us", "policy_loss", "epoch"):
            assert abs(reported[name] - float(row[name])) <= 1e-6 * max(1.0, abs(float(row[name]))), (name, reported[name], row[name])
    (start,) = [v for e in events(first) for v in e.summary.value if v.tag == "_hparams_/session_start_info"]
    assert start.metadata.plugin_data.plugin_name == "hparams"
    reported = HParamsPluginData.FromString(start.metadata.plugin_data.content).session_start_info.hparams
    assert reported["gnn.width"].number_value == 8 and reported["agent"].string_value == "model-free" and reported["train.polish"].bool_value is True
    assert events(second)[1].session_log.status == 1 and events(second)[1].step == int(rows[1]["steps"])  # later ones of the first count no more


def watched(folder):
    """one picture where there is no terminal; redrawn on one until the run has ended; a torn last line does no harm"""
    from rlgo_results import watch

    rlgo(*TRAIN, "--epochs", 3, "--name", "r", cwd=folder)
    run = folder / "runs/r"
    summary = (run / "summary.txt").read_text()
    (run / "summary.txt").unlink()
    with open(run / "metrics.csv", "a") as file:
        file.write("4,0.1,torn")

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    screen = Terminal()
    watch.watch(run, out=screen, sleep=lambda seconds: (run / "summary.txt").write_text(summary))
    pictures = screen.getvalue().split("\033[H\033[2J")[1:]
    assert len(pictures) == 2 and "continuing" in pictures[0] and "epoch 3" in pictures[0] and "best cost" in pictures[0], pictures
    assert "ended" in pictures[1] and "equivalence" in pictures[1], pictures[1]
    plain = io.StringIO()
    watch.watch(run, out=plain)
    assert "\033" not in plain.getvalue() and "best cost" in plain.getvalue()
    assert watch.sparkline([1, 2, 3, float("nan"), 4], 4) == "▁▃▆█" and watch.sparkline([], 4) == ""


if __name__ == "__main__":
    main(event_files, watched)
