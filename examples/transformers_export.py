"""A text encoder of transformers to an ONNX file with open batch and length, then faster for every size."""

import argparse

import torch
from transformers import BertConfig, BertModel

import rlgo


class Encoder(torch.nn.Module):
    def __init__(self, model: BertModel):
        super().__init__()
        self.model = model

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        return self.model(input_ids=input_ids, attention_mask=attention_mask, return_dict=False)[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", default=".", help="folder of the two files")
    parser.add_argument("--seconds", type=float, default=20, help="time for rlgo")
    options = parser.parse_args()
    exported, faster = f"{options.folder}/encoder.onnx", f"{options.folder}/encoder-faster.onnx"

    # BertModel.from_pretrained("...") for a trained one.
    config = BertConfig(hidden_size=128, num_hidden_layers=2, num_attention_heads=2, intermediate_size=512, vocab_size=1000, attn_implementation="eager")
    torch.manual_seed(0)
    encoder = Encoder(BertModel(config, add_pooling_layer=False).eval())
    words = torch.randint(0, 1000, (2, 16))
    torch.onnx.export(
        encoder, (words, torch.ones_like(words)), exported, input_names=["input_ids", "attention_mask"], output_names=["hidden"], dynamo=False,
        dynamic_axes={name: {0: "batch", 1: "length"} for name in ("input_ids", "attention_mask", "hidden")}, opset_version=17)

    # Costs and times are taken at these sizes; the result holds for all.
    result = rlgo.optimise(exported, seconds=options.seconds, target="onnxruntime", sizes={"batch": 4, "length": 64}, progress=False)
    print(result.verdict)
    result.save(faster)


if __name__ == "__main__":
    main()
