"""Zoo graphs against other people's implementations with the same weights: the same outputs in ONNX Runtime."""
import sys
import tempfile
from pathlib import Path

import _references as references
import torch

CASES = {
    "resnext50": ({"image": 64}, references.picture(64)),
    "vit_b16": ({"image": 48, "layers": 2}, references.picture(48)),
    "nasnet_a": ({"image": 64, "layers": 6}, references.picture(64)),
    "gpt2": ({"layers": 2, "sequence": 9}, {"input_ids": torch.randint(0, 50257, (1, 9))}),
    "nasrnn": ({"sequence": 3}, {name: torch.randn(1, 512) for name in ("state", "input0", "input1", "input2")}),
}

if __name__ == "__main__":
    for graph in sys.argv[1:] or CASES:
        with tempfile.TemporaryDirectory() as folder:
            references.compare(Path(folder), graph, *CASES[graph])
