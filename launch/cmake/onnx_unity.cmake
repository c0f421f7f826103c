# Read by ONNX's own build (setup.sh), which includes several sources in one: a fifth of the processor time. These sources
# stay alone: what protobuf made has equal names, the others specialise templates that are in use before.
set_source_files_properties(
  "${CMAKE_CURRENT_SOURCE_DIR}/onnx/defs/schema.cc"
  "${CMAKE_CURRENT_SOURCE_DIR}/onnx/defs/tensor_proto_util.cc"
  "${CMAKE_CURRENT_BINARY_DIR}/onnx/onnx-ml.pb.cc"
  "${CMAKE_CURRENT_BINARY_DIR}/onnx/onnx-operators-ml.pb.cc"
  "${CMAKE_CURRENT_BINARY_DIR}/onnx/onnx-data.pb.cc"
  PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
