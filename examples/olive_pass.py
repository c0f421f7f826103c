"""rlgo as a pass of Olive (olive-ai): `RlgoOptimise` in a workflow, or run as below.

In a workflow, name this file in a package configuration ("module_path": "olive_pass.RlgoOptimise") and the pass by its type:
    "passes": {"faster": {"type": "RlgoOptimise", "seconds": 30}}
"""

import argparse
from pathlib import Path

from olive.hardware.accelerator import DEFAULT_CPU_ACCELERATOR, AcceleratorSpec
from olive.model import ONNXModelHandler
from olive.model.utils import resolve_onnx_path
from olive.passes import Pass
from olive.passes.olive_pass import create_pass_from_dict
from olive.passes.pass_config import BasePassConfig, PassConfigParam

import rlgo


class RlgoOptimise(Pass):
    """Rewrites the graph with proved rules; keeps the model as it is where none is shown to be faster."""

    @classmethod
    def _default_config(cls, accelerator_spec: AcceleratorSpec) -> dict[str, PassConfigParam]:
        return {
            "seconds": PassConfigParam(type_=float, default_value=30.0, description="Time for all of it, s."),
            "target": PassConfigParam(type_=str, default_value="onnxruntime", description="Runtime that will serve the model."),
            "threads": PassConfigParam(type_=int, default_value=1, description="Threads of the runtime."),
        }

    def _run_for_config(self, model: ONNXModelHandler, config: type[BasePassConfig], output_model_path: str) -> ONNXModelHandler:
        out = resolve_onnx_path(output_model_path, Path(model.model_path).name)
        result = rlgo.optimise(model.model_path, seconds=config.seconds, target=config.target, threads=config.threads, progress=False)
        result.save(out)
        return ONNXModelHandler(model_path=out, model_attributes={**(model.model_attributes or {}), "rlgo": result.verdict})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", help="an .onnx file")
    parser.add_argument("--out", default="olive-out", help="folder of the result")
    parser.add_argument("--seconds", type=float, default=30)
    options = parser.parse_args()
    faster = create_pass_from_dict(RlgoOptimise, {"seconds": options.seconds}, disable_search=True, accelerator_spec=DEFAULT_CPU_ACCELERATOR)
    found = faster.run(ONNXModelHandler(model_path=options.model), options.out)
    print(found.model_path)
    print(found.model_attributes["rlgo"])


if __name__ == "__main__":
    main()
