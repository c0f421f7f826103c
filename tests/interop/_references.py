"""Reference implementations of the zoo's graphs, with the zoo's weights: torchvision, timm, and PyTorch's own layers.

torchvision and timm are not part of the environment of set-up: RLGO_SETUP_REFERENCES=1 launch/scripts/setup.sh puts them
into the folder "references" of the cache. Tests that need them skip where they are missing.
"""
import os
import subprocess
import sys
from pathlib import Path

CACHE = Path(os.environ.get("RLGO_CACHE") or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rlgo")
sys.path.append(str(CACHE / "references"))

try:
    import numpy as np
    import onnx
    import timm.layers
    import torch
    import torchvision.models
    from _sessions import session
    from timm.models.nasnet import NASNetALarge
    from torch.nn import functional as F
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

torch.manual_seed(0)
torch.set_num_threads(1)


def export(folder, graph, options):
    """The unmodified zoo graph as ONNX file."""
    arguments = ["--graph", graph, "--agent", "random", "--epochs", "0", "--cost", "analytic", "--train.polish", "false",
                 "--check.repeats", "3", "--check.seeds", "1", "--name", graph]
    for key, value in options.items():
        arguments += [f"--zoo.{key}", str(value)]
    done = subprocess.run([os.environ["RLGO_BINARY"], *arguments], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder / "runs" / graph / "best.onnx"


def weights(path):
    """{name: tensor} of an ONNX file, without single numbers and shapes."""
    tensors = {w.name: onnx.numpy_helper.to_array(w) for w in onnx.load(path).graph.initializer}
    return {name: torch.from_numpy(t.copy()) for name, t in tensors.items() if t.dtype == np.float32 and t.size > 1}


def run(path, inputs):
    """The first output in ONNX Runtime, without its optimisations."""
    opened = session(path)
    return torch.from_numpy(opened.run(None, {name: value.numpy() for name, value in inputs.items()})[0])


def relative_error(found, wanted):
    return float((found - wanted).abs().max() / wanted.abs().max())


def load(model, state):
    """Loads a state dictionary: every weight that the module has, and no other. Counters of batches stay."""
    missing = set(model.state_dict()) - set(state)
    assert all(name.endswith("num_batches_tracked") for name in missing), sorted(missing)[:5]
    model.load_state_dict(state, strict=False)
    assert set(state) <= set(model.state_dict()), sorted(set(state) - set(model.state_dict()))[:5]
    return model.eval()


def transposed(state, *names):
    """rlgo keeps the weights of linear layers as [inputs, outputs]."""
    return {k: v.T.contiguous() if any(k.endswith(n + ".weight") for n in names) else v for k, v in state.items()}


def resnext50(state, options):
    return load(torchvision.models.resnext50_32x4d(weights=None), transposed(state, "fc"))


def vgg19(state, options):
    return load(torchvision.models.vgg19(weights=None), transposed(state, "classifier.0", "classifier.3", "classifier.6"))


def vit_b16(state, options):
    model = torchvision.models.VisionTransformer(options["image"], 16, options["layers"], 12, 768, 3072)
    state = transposed(state, "in_proj", "out_proj", "mlp.0", "mlp.3", "heads.head")
    state = {k.replace("in_proj.weight", "in_proj_weight").replace("in_proj.bias", "in_proj_bias"): v for k, v in state.items()}
    return load(model, state)


class AveragePoolSame(torch.nn.Module):
    """TensorFlow's SAME: what is padded does not count. timm's own counts it where the stride is 2."""

    def forward(self, x):
        pad = lambda t: timm.layers.pad_same(t, [3, 3], [2, 2])
        return F.avg_pool2d(pad(x), 3, 2) / F.avg_pool2d(pad(torch.ones_like(x)), 3, 2)


def nasnet_a(state, options):
    assert options["layers"] == 6  # all that timm can make
    model = NASNetALarge(stem_size=32, num_features=1056)
    for cell in (model.cell_stem_0, model.cell_stem_1, model.reduction_cell_0, model.reduction_cell_1):
        cell.comb_iter_2_left = AveragePoolSame()
    return load(model, transposed(state, "last_linear"))


class Gpt2(torch.nn.Module):
    """GPT-2 of PyTorch's encoder layers."""

    def __init__(self, state, layers):
        super().__init__()
        self.state = state
        self.blocks = torch.nn.ModuleList([
            torch.nn.TransformerEncoderLayer(768, 12, 3072, 0.0, lambda x: F.gelu(x, approximate="tanh"), batch_first=True, norm_first=True)
            for _ in range(layers)])
        names = {"self_attn.in_proj_": "attn.c_attn.", "self_attn.out_proj.": "attn.c_proj.", "linear1.": "mlp.c_fc.", "linear2.": "mlp.c_proj.",
                 "norm1.": "ln_1.", "norm2.": "ln_2."}
        for k, block in enumerate(self.blocks):
            own = {}
            for ours, theirs in names.items():
                weight = state[f"h.{k}.{theirs}weight"]
                own[ours + "weight"] = weight.T.contiguous() if weight.dim() == 2 else weight
                own[ours + "bias"] = state[f"h.{k}.{theirs}bias"]
            block.load_state_dict(own)

    def forward(self, ids):
        count = ids.shape[1]
        x = self.state["wte.weight"][ids] + self.state["wpe.weight"][:count]
        mask = torch.nn.Transformer.generate_square_subsequent_mask(count)
        for block in self.blocks:
            x = block(x, src_mask=mask, is_causal=True)
        return F.layer_norm(x, (768,), self.state["ln_f.weight"], self.state["ln_f.bias"])


def gpt2(state, options):
    # The positions beyond the sequence are cut off at export.
    name = next(k for k, v in state.items() if v.shape == (options["sequence"], 768))
    return Gpt2({**state, "wpe.weight": state[name]}, options["layers"]).eval()


class NasRnn(torch.nn.Module):
    """The search's best cell (Zoph and Le 2017, figure 8 top right), written from TASO's example."""

    def __init__(self, state, steps):
        super().__init__()
        self.state, self.steps = state, steps

    def forward(self, state, *inputs):
        for step, x in enumerate(inputs):
            t = [x @ self.state[f"step{step}.gate{k}.input.weight"] + state @ self.state[f"step{step}.gate{k}.state.weight"] for k in range(8)]
            m = [t[0].relu() + t[3].sigmoid(), t[1].sigmoid() + t[2].tanh(), t[4].sigmoid() * t[5].tanh(), t[6].sigmoid() * t[7].relu()]
            state = ((m[1].sigmoid() + m[2].tanh()).tanh() * (m[0].tanh() * m[3].tanh()).tanh()).tanh()
        return state


def nasrnn(state, options):
    return NasRnn(state, options["sequence"])


def picture(extent):
    return {"input": torch.randn(1, 3, extent, extent)}


def compare(folder, graph, options, inputs):
    """Same outputs as the reference, to rounding; and outputs that tell tokens and classes apart."""
    path = export(folder, graph, options)
    with torch.no_grad():
        wanted = globals()[graph](weights(path), options)(*inputs.values())
    found = run(path, inputs)
    assert found.shape == wanted.shape, (found.shape, wanted.shape)
    error = relative_error(found, wanted)
    print(f"  {graph}: relative error {error:.2g}, outputs of {wanted.square().mean().sqrt():.2f}")
    assert error < 2e-5 and wanted.std() > 0.01, (graph, error)
