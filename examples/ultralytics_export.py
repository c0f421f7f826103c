"""A YOLO model of ultralytics to an ONNX file that runs faster: one line after export()."""

import argparse

from ultralytics import YOLO

import rlgo


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", nargs="?", default="yolo11n.yaml", help="your .pt file; a .yaml has random weights")
    parser.add_argument("--imgsz", type=int, default=320)
    parser.add_argument("--seconds", type=float, default=20, help="time for rlgo")
    options = parser.parse_args()

    path = YOLO(options.model).export(format="onnx", imgsz=options.imgsz, simplify=False)
    result = rlgo.optimise(path, seconds=options.seconds, target="onnxruntime", progress=False)
    result.save(path)  # ultralytics, and all else, reads it as before
    print(result.verdict)


if __name__ == "__main__":
    main()
