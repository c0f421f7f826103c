#!/usr/bin/env python3
"""Models to learn prices from (results/prices.py): drawn networks of PyTorch, and torchvision's that stand in no table of results/.

    results/training_models.py FOLDER

Drawn from seeds: images (plain, residual and depthwise blocks, squeeze-and-excitation, ten activations, several of them spelt out), sequences
(one-dimensional convolutions) and text (attention, layer norms and RMS norms spelt out, five activations). Random weights: times do not depend on them.
torchvision (RLGO_SETUP_REFERENCES=1 of set-up) is left out where it is missing, and that is stated.
"""
import pathlib
import random
import sys
import warnings

import torch
import torch.nn.functional as F
from torch import nn

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "interop"))
import _models  # noqa: E402

sys.path.append(str(_models.CACHE.parent / "references"))
IMAGES, SEQUENCES, TEXTS = 14, 4, 5
TORCHVISION = {"mnasnet0_5": 224, "regnet_y_400mf": 224, "googlenet": 160, "shufflenet_v2_x0_5": 224, "convnext_tiny": 96}


class Spelt(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


ACTIVATIONS = {
    "prelu": nn.PReLU,
    "leaky": lambda c: nn.LeakyReLU(0.1),
    "hard-swish": lambda c: Spelt(lambda x: x * (F.relu6(x + 3) / 6)),
    "mish": lambda c: Spelt(lambda x: x * torch.tanh(F.softplus(x))),
    "gelu": lambda c: Spelt(lambda x: 0.5 * x * (1 + torch.erf(x / 2**0.5))),
    "silu": lambda c: Spelt(lambda x: x * torch.sigmoid(x)),
    "relu6": lambda c: nn.ReLU6(),
    "relu": lambda c: nn.ReLU(),
    "elu": lambda c: nn.ELU(),
    "hard-sigmoid": lambda c: Spelt(lambda x: x * torch.clamp(x * 0.2 + 0.5, 0, 1)),
}
OF_TEXT = [
    lambda x: 0.5 * x * (1 + torch.tanh(0.79788456 * (x + 0.044715 * x * x * x))),
    lambda x: x * torch.sigmoid(1.702 * x),
    lambda x: x * torch.sigmoid(x),
    lambda x: 0.5 * x * (1 + torch.erf(x / 1.41421356)),
    F.relu,
]


class Block(nn.Module):
    def __init__(self, c, out, act, kind, draw):
        super().__init__()
        wide = c * 2
        if kind == "depthwise":
            deep = nn.Conv2d(wide, wide, draw.choice([3, 5]), padding="same", groups=wide, bias=False)
            self.body = nn.Sequential(nn.Conv2d(c, wide, 1, bias=False), nn.BatchNorm2d(wide), act(wide), deep, nn.BatchNorm2d(wide), act(wide), nn.Conv2d(wide, out, 1, bias=False), nn.BatchNorm2d(out))  # fmt: skip
        elif kind == "residual":
            self.body = nn.Sequential(nn.BatchNorm2d(c), act(c), nn.Conv2d(c, out, 3, padding=1, bias=False), nn.BatchNorm2d(out), act(out), nn.Conv2d(out, out, 3, padding=1))
        else:
            norm = nn.BatchNorm2d(out) if draw.random() < 0.7 else nn.Identity()
            self.body = nn.Sequential(nn.Conv2d(c, out, 3, padding=1, bias=draw.random() < 0.5), norm, act(out))
        self.skip = nn.Conv2d(c, out, 1) if c != out else nn.Identity()
        self.adds, self.scales = kind != "plain" or draw.random() < 0.5, draw.random() < 0.2
        few = max(4, out // 4)
        self.gate = nn.Sequential(nn.Conv2d(out, few, 1), nn.ReLU(), nn.Conv2d(few, out, 1)) if draw.random() < 0.4 else None

    def forward(self, x):
        y = self.body(x)
        if self.gate is not None:
            y = y * torch.clamp(self.gate(y.mean((2, 3), keepdim=True)) / 6 + 0.5, 0, 1)
        if self.scales:
            y = y * 1.7 + 0.1
        return y + self.skip(x) if self.adds else y


class Image(nn.Module):
    def __init__(self, seed):
        super().__init__()
        draw = random.Random(seed)
        act = list(ACTIVATIONS.values())[seed % len(ACTIVATIONS)]
        c = draw.choice([16, 24, 32, 48])
        self.stem, self.stages = nn.Sequential(nn.Conv2d(3, c, 3, 2, 1), act(c)), nn.ModuleList()
        for stage in range(3):
            out, kind = c * 2 if stage else c, draw.choice(["depthwise", "residual", "plain"])
            self.stages.append(nn.Sequential(*[Block(c if k == 0 else out, out, act, kind, draw) for k in range(draw.choice([1, 2, 3]))]))
            c = out
        self.pyramid, self.head, self.act = draw.random() < 0.5, nn.Linear(c, 50), act(c)
        self.example = torch.randn(1, 3, *[draw.choice([96, 112, 160])] * 2)

    def forward(self, x):
        maps, x = [], self.stem(x)
        for stage in self.stages:
            x = stage(x)
            maps.append(x)
            x = F.max_pool2d(x, 2)
        found = self.head(self.act(maps[2]).mean((2, 3)))
        if not self.pyramid:
            return F.softmax(found, -1)
        larger = [F.interpolate(m, size=maps[0].shape[2:], mode="nearest") for m in maps]
        return found, torch.cat([torch.cat(larger[:2], 1), larger[2]], 1).mean(1) * 2 + 1


class Sequence(nn.Module):
    def __init__(self, seed):
        super().__init__()
        draw = random.Random(100 + seed)
        c = draw.choice([64, 128, 256])
        self.act = ACTIVATIONS[draw.choice(["relu", "gelu", "leaky", "silu"])](c)
        self.first = nn.Conv1d(draw.choice([40, 80, 257]), c, 5, padding=2)
        self.body = nn.ModuleList([nn.Conv1d(c, c, draw.choice([3, 5]), padding="same") for _ in range(draw.choice([2, 3]))])
        self.norms, self.head = nn.ModuleList([nn.BatchNorm1d(c) for _ in self.body]), nn.Linear(c, 30)
        self.example = torch.randn(1, self.first.in_channels, 300)

    def forward(self, x):
        x = self.act(self.first(x))
        for conv, norm in zip(self.body, self.norms):
            x = x + self.act(norm(conv(x)))
        return F.log_softmax(self.head(x.max(-1).values), -1)


class Layer(nn.Module):
    def __init__(self, width, heads, draw):
        super().__init__()
        self.heads, self.rms, self.act = heads, draw.random() < 0.4, draw.choice(OF_TEXT)
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.scales, self.shifts = (nn.ParameterList([torch.rand(width) + 0.5 for _ in range(2)]) for _ in range(2))

    def norm(self, x, k):
        if self.rms:
            return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * self.scales[k]
        centred = x - x.mean(-1, keepdim=True)
        return centred / torch.sqrt((centred**2).mean(-1, keepdim=True) + 1e-5) * self.scales[k] + self.shifts[k]

    def forward(self, x):
        batch, length, width = x.shape
        y = self.norm(x, 0)
        query, key, value = (f(y).view(batch, length, self.heads, -1).transpose(1, 2) for f in (self.query, self.key, self.value))
        seen = torch.softmax(query @ key.transpose(-1, -2) / (width // self.heads) ** 0.5, -1) @ value
        x = x + self.out(seen.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(self.act(self.up(self.norm(x, 1))))


class Text(nn.Module):
    def __init__(self, seed):
        super().__init__()
        draw = random.Random(200 + seed)
        width = draw.choice([128, 256, 384])
        self.words, self.example = nn.Embedding(1000, width), torch.randint(0, 1000, (1, draw.choice([32, 64, 128])))
        self.layers = nn.Sequential(*[Layer(width, 4, draw) for _ in range(3)])

    def forward(self, ids):
        return self.layers(self.words(ids))


def drawn():
    """Name and module of each; its `example` is the input."""
    for kind, made, count in (("image", Image, IMAGES), ("sequence", Sequence, SEQUENCES), ("text", Text, TEXTS)):
        for seed in range(count):
            torch.manual_seed(seed)
            yield f"{kind}{seed}", made(seed)


def of_torchvision():
    try:
        from torchvision import models
    except ImportError:
        print("torchvision is missing: without its models", file=sys.stderr)
        return
    for name, size in TORCHVISION.items():
        model = getattr(models, name)(weights=None, **({"aux_logits": False, "init_weights": False} if name == "googlenet" else {}))
        model.example = torch.randn(1, 3, size, size)
        yield name, model


def make(folder):
    """The files, in order of name."""
    warnings.filterwarnings("ignore")
    folder.mkdir(parents=True, exist_ok=True)
    for name, model in [*drawn(), *of_torchvision()]:
        with torch.no_grad():
            torch.onnx.export(model.eval(), model.example, folder / f"{name}.onnx", opset_version=14, dynamo=False)
    return sorted(folder.glob("*.onnx"))


if __name__ == "__main__":
    print(*make(pathlib.Path(sys.argv[1])), sep="\n")
