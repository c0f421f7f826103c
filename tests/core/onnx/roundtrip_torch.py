"""A network as PyTorch exports it: open batch, shape arithmetic, attention, convolutions, an LSTM that stays opaque."""
import subprocess
import sys
import tempfile
import warnings

import numpy as np
import onnx

try:
    import torch
    from torch import nn
except ImportError as error:  # the wheel's Python part wants the CUDA libraries, which not every machine has
    print(f"skipped: PyTorch cannot be imported here: {error}")
    sys.exit(77)

from _compare import differences, session, test_program

warnings.filterwarnings("ignore")


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.BatchNorm2d(8), nn.Hardswish(), nn.Conv2d(8, 8, 3, 1, 1, groups=8), nn.SiLU(), nn.MaxPool2d(2))
        self.encoder = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, activation="gelu")
        self.lstm = nn.LSTM(8, 8, batch_first=True)
        self.head = nn.Linear(8, 5)

    def forward(self, x):
        y = self.stem(x)
        batch, channels, _, _ = y.shape
        y = self.encoder(y.flatten(2).transpose(1, 2)).view(batch, -1, channels)
        y = y.expand(batch, y.shape[1], channels) + self.lstm(y)[0]
        return torch.softmax(self.head(y.mean(1)), -1), nn.functional.interpolate(x, scale_factor=2)


def main():
    torch.manual_seed(3)
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        source = f"{folder}/net.onnx"
        torch.onnx.export(Net().eval(), torch.randn(2, 3, 16, 16), source, opset_version=17, dynamo=False,
                          input_names=["x"], dynamic_axes={"x": {0: "batch"}})
        feeds = {"x": np.random.default_rng(1).standard_normal((2, 3, 16, 16)).astype(np.float32)}
        expected = session(source).run(None, feeds)
        for target, dims in ((f"{folder}/open.onnx", []), (f"{folder}/bound.onnx", ["batch=2"])):
            run = subprocess.run([test_program(), "--roundtrip", source, target, *dims], capture_output=True, text=True, timeout=300)
            print(run.stdout)
            assert run.returncode == 0 and not run.stderr, run.stderr
            text = differences(expected, session(target).run(None, feeds), 1e-5)
            assert not text, text
            known = " 0 are kept as they are" in run.stdout
            assert known == bool(dims), run.stdout
            dim = onnx.load(target).graph.input[0].type.tensor_type.shape.dim[0]
            assert dim.dim_param == ("" if dims else "batch") and dim.dim_value == (2 if dims else 0)
        # Where the dimension stays open, the export runs at another batch size too.
        other = {"x": np.zeros((5, 3, 16, 16), np.float32)}
        text = differences(session(source).run(None, other), session(f"{folder}/open.onnx").run(None, other), 1e-5)
        assert not text, text
    return 0


if __name__ == "__main__":
    sys.exit(main())
