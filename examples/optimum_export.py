"""A classifier that optimum exports, then faster: the folder serves as before."""

import argparse

import torch
from optimum.exporters.onnx import onnx_export_from_model
from optimum.onnxruntime import ORTModelForSequenceClassification
from transformers import BertConfig, BertForSequenceClassification

import rlgo


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", default="classifier", help="folder of the exported model")
    parser.add_argument("--seconds", type=float, default=20, help="time for rlgo")
    options = parser.parse_args()

    # For a trained model: optimum.exporters.onnx.main_export("NAME", folder, task="text-classification").
    config = BertConfig(hidden_size=128, num_hidden_layers=2, num_attention_heads=2, intermediate_size=512, vocab_size=1000)
    torch.manual_seed(0)
    model = BertForSequenceClassification(config).eval()
    onnx_export_from_model(model, options.folder, task="text-classification", monolith=True)
    config.save_pretrained(options.folder)

    path = f"{options.folder}/model.onnx"
    # Costs and times are taken at these sizes; the result holds for all.
    result = rlgo.optimise(path, seconds=options.seconds, target="onnxruntime", sizes={"batch_size": 4, "sequence_length": 64}, progress=False)
    print(result.verdict)
    result.save(path)  # in the place of the exported file, where optimum looks for it

    served = ORTModelForSequenceClassification.from_pretrained(options.folder)
    words = torch.randint(0, 1000, (2, 16))
    inputs = {"input_ids": words, "attention_mask": torch.ones_like(words), "token_type_ids": torch.zeros_like(words)}
    with torch.no_grad():
        error = (served(**inputs).logits - model(**inputs).logits).abs().max().item()
    print(f"largest difference from PyTorch: {error:.1e}")


if __name__ == "__main__":
    main()
