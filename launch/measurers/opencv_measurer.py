#!/usr/bin/env python3
"""Measurer for OpenCV's module dnn on the processor, with the engine that it chooses."""
import onnx_inputs
import protocol


class Model:
    def __init__(self, cv2, path, generator, shapes, values, plain):
        self.cv2 = cv2
        inputs, outputs = onnx_inputs.declared(path, shapes)
        try:
            self.net = cv2.dnn.readNetFromONNX(path)
        except cv2.error as error:
            raise ValueError(f"OpenCV does not read the model: {reason(error)}") from None
        if plain:
            self.net.enableWinograd(False)  # enableFusion(False) empties a network of the engine that 5.0 has
        own = list(self.net.getUnconnectedOutLayersNames())
        self.names = list(outputs) if set(outputs) == set(own) else own
        feeds, self.assumed = protocol.feeds_that_run(inputs, values, generator, self.run_with)
        self.set_inputs(feeds)

    def set_inputs(self, feeds):
        for name, data in feeds.items():
            self.net.setInput(self.cv2.Mat(data), name)  # as Mat: of an array with three axes the last one would be channels

    def run_with(self, feeds):
        try:
            self.set_inputs(feeds)
            self.run()
        except self.cv2.error as error:
            raise ValueError(f"OpenCV does not run the model: {reason(error)}") from None

    def run(self):
        self.answers = self.net.forward(self.names)

    def outputs(self):
        self.run()
        return list(zip(self.names, self.answers, strict=True))


def reason(error):
    """Of OpenCV's message, which names sources of its own, what it is about."""
    return " ".join(error.err.split(": OpenCV(")[0].strip("> \n").split())


class OpenCv:
    def hello(self, threads):
        self.cv2, _ = onnx_inputs.import_or_raise("cv2", "opencv-python-headless")
        self.cv2.setNumThreads(threads)
        return {"runtime": "opencv", "version": self.cv2.__version__, "device": protocol.device_name(), "threads": threads, "outputs": True}

    def plain(self):
        return True

    def load(self, path, generator, probe, shapes, values, plain=False):
        del probe  # what layouts take is not asked for: protocol.py
        return Model(self.cv2, path, generator, shapes, values, plain)


if __name__ == "__main__":
    protocol.serve(OpenCv())
