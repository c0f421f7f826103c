// librlgo_base.so, what the extension modules share: protobuf must meet ONNX's messages once in a process.
