"""A PyTorch module to an ONNX file that runs faster: torch.onnx.export, then rlgo.optimise."""

import argparse

import torch
from torch import nn

import rlgo


class Detector(nn.Module):
    """Convolutions with Mish and a softmax over channels, as small detectors have them."""

    def __init__(self, width: int = 32, classes: int = 16):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(3, width, 3, stride=2, padding=1), nn.Mish(), nn.Conv2d(width, width, 3, padding=1), nn.BatchNorm2d(width), nn.Mish(),
            nn.Conv2d(width, classes, 1))

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        return self.body(image).softmax(dim=1)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", default=".", help="folder of the two files")
    parser.add_argument("--seconds", type=float, default=10, help="time for rlgo")
    options = parser.parse_args()
    exported, faster = f"{options.folder}/detector.onnx", f"{options.folder}/detector-faster.onnx"

    torch.manual_seed(0)
    model = Detector().eval()
    image = torch.randn(1, 3, 128, 128)
    torch.onnx.export(model, (image,), exported, input_names=["image"], output_names=["classes"], dynamo=False)

    result = rlgo.optimise(exported, seconds=options.seconds, target="onnxruntime", progress=False)
    print(result.verdict)
    print(result.rules)
    result.save(faster)  # the exported file again, where nothing was found
    print(f"{faster}: {result.ratio:.3f} of the latency")


if __name__ == "__main__":
    main()
