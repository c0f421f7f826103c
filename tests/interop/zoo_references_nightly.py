"""The large ones of zoo_references.py: all of vgg19 (0.6 GB of weights), and vit_b16, nasnet_a, gpt2 as papers have them."""
import tempfile
from pathlib import Path

import _references as references
import torch

CASES = {
    "vgg19": ({}, references.picture(224)),
    "vit_b16": ({"image": 224, "layers": 12}, references.picture(224)),
    "nasnet_a": ({"image": 224, "layers": 6}, references.picture(224)),
    "gpt2": ({"layers": 12, "sequence": 64}, {"input_ids": torch.randint(0, 50257, (1, 64))}),
}

if __name__ == "__main__":
    for graph, (options, inputs) in CASES.items():
        with tempfile.TemporaryDirectory() as folder:
            references.compare(Path(folder), graph, options, inputs)
