#include "tests/fuzz/onnx/part_mutate.h"

#include <array>
#include <cstring>
#include <string>

namespace rlgo::fuzz {
namespace {

using onnx::AttributeProto;
using onnx::NodeProto;
using onnx::TensorProto;

constexpr auto kAttributes = std::to_array<const char*>({"axis",
                                                         "axes",
                                                         "perm",
                                                         "pads",
                                                         "strides",
                                                         "dilations",
                                                         "kernel_shape",
                                                         "group",
                                                         "auto_pad",
                                                         "ceil_mode",
                                                         "to",
                                                         "shape",
                                                         "split",
                                                         "num_outputs",
                                                         "keepdims",
                                                         "mode",
                                                         "blocksize",
                                                         "num_heads",
                                                         "kv_num_heads",
                                                         "q_num_heads",
                                                         "output_shape",
                                                         "output_padding",
                                                         "value",
                                                         "value_ints",
                                                         "equation",
                                                         "start",
                                                         "end",
                                                         "num_scan_inputs",
                                                         "scan_input_axes",
                                                         "scan_output_directions",
                                                         "hidden_size",
                                                         "direction",
                                                         "batch_dims",
                                                         "storage_order",
                                                         "epsilon",
                                                         "allowzero",
                                                         "transA",
                                                         "starts",
                                                         "ends",
                                                         "sizes",
                                                         "output_height",
                                                         "onesided",
                                                         "new_axis",
                                                         "stash_type",
                                                         "layout"});

void change_location(TensorProto& tensor, Rng& rng) {
  constexpr auto kPlaces =
      std::to_array<const char*>({"weights.bin", "link.bin", "../outside/secret.bin", "/etc/passwd", "", "none.bin",
                                  ".", "..", "a/../weights.bin", "weights.bin/x", "//", "\\\\"});
  tensor.set_data_location(TensorProto::EXTERNAL);
  tensor.clear_raw_data();
  tensor.clear_external_data();
  const auto note = [&](const char* key, std::string value) {
    auto* entry = tensor.add_external_data();
    entry->set_key(key);
    entry->set_value(std::move(value));
  };
  note("location", kPlaces[pick(rng, kPlaces.size())]);
  if (one_in(rng, 2)) note("offset", one_in(rng, 4) ? "0x7" : std::to_string(odd_number(rng)));
  if (one_in(rng, 2)) note("length", std::to_string(odd_number(rng)));
}

void set_attribute(AttributeProto& attribute, Rng& rng) {
  switch (rng.below(6)) {
    case 0:
      attribute.set_type(AttributeProto::INT);
      attribute.set_i(odd_number(rng));
      break;
    case 1:
      attribute.set_type(AttributeProto::INTS);
      attribute.clear_ints();
      for (size_t k = one_in(rng, 20) ? 4000 : pick(rng, 8); k > 0; --k) attribute.add_ints(odd_number(rng));
      break;
    case 2:
      attribute.set_type(AttributeProto::FLOAT);
      attribute.set_f(static_cast<float>(odd_number(rng)));
      break;
    case 3:
      attribute.set_type(AttributeProto::STRING);
      attribute.set_s(one_in(rng, 2) ? "SAME_UPPER" : std::string(pick(rng, 40), 'i'));
      break;
    case 4:
      attribute.set_type(AttributeProto::TENSOR);
      change_tensor(*attribute.mutable_t(), rng);
      break;
    default:
      attribute.set_type(static_cast<AttributeProto::AttributeType>(rng.below(15)));
  }
}

}  // namespace

void fill_ints(TensorProto& tensor, int64_t count, Rng& rng) {
  tensor.clear_raw_data();
  tensor.clear_int64_data();
  tensor.set_data_type(TensorProto::INT64);
  for (int64_t k = 0; k < count; ++k) tensor.add_int64_data(odd_number(rng));
}

void change_tensor(TensorProto& tensor, Rng& rng) {
  switch (rng.below(8)) {
    case 0:
      tensor.add_dims(odd_number(rng));
      break;
    case 1:
      if (tensor.dims_size() > 0)
        tensor.set_dims(static_cast<int>(pick(rng, static_cast<size_t>(tensor.dims_size()))), odd_number(rng));
      break;
    case 2:
      tensor.set_data_type(static_cast<int32_t>(rng.below(26)) - 1);
      break;
    case 3:
      tensor.mutable_raw_data()->resize(pick(rng, 64));
      break;
    case 4: {
      // New numbers of the same size.
      auto& raw = *tensor.mutable_raw_data();
      for (size_t at = 0; at + 8 <= raw.size(); at += 8) {
        const int64_t number = odd_number(rng);
        std::memcpy(raw.data() + at, &number, 8);
      }
      for (auto& number : *tensor.mutable_int64_data()) number = odd_number(rng);
      break;
    }
    case 5:
      change_location(tensor, rng);
      break;
    case 6:
      tensor.clear_dims();
      break;
    default: {
      const auto count = static_cast<int64_t>(pick(rng, 9));
      tensor.clear_dims();
      tensor.add_dims(count);
      fill_ints(tensor, count, rng);
    }
  }
}

void change_attributes(NodeProto& node, Rng& rng) {
  auto* attribute = any(node.mutable_attribute(), rng);
  if (!attribute || one_in(rng, 4)) {
    attribute = node.add_attribute();
    attribute->set_name(kAttributes[pick(rng, kAttributes.size())]);
    set_attribute(*attribute, rng);
    return;
  }
  if (one_in(rng, 8)) {
    node.mutable_attribute()->DeleteSubrange(static_cast<int>(pick(rng, static_cast<size_t>(node.attribute_size()))),
                                             1);
  } else if (attribute->ints_size() > 0 && !one_in(rng, 4)) {
    const auto at = static_cast<int>(pick(rng, static_cast<size_t>(attribute->ints_size())));
    if (one_in(rng, 4))
      attribute->add_ints(odd_number(rng));
    else if (one_in(rng, 4))
      attribute->mutable_ints()->RemoveLast();
    else
      attribute->set_ints(at, odd_number(rng));
  } else if (attribute->has_i() && !one_in(rng, 4)) {
    attribute->set_i(odd_number(rng));
  } else if (attribute->has_t()) {
    change_tensor(*attribute->mutable_t(), rng);
  } else {
    set_attribute(*attribute, rng);
  }
}

void change_type(onnx::TypeProto& type, Rng& rng) {
  auto* tensor = type.mutable_tensor_type();
  switch (rng.below(8)) {
    case 0:
      tensor->set_elem_type(static_cast<int32_t>(rng.below(26)));
      break;
    case 1:
      tensor->mutable_shape()->add_dim()->set_dim_value(odd_number(rng));
      break;
    case 2:
      tensor->mutable_shape()->add_dim()->set_dim_param("n" + std::to_string(rng.below(3)));
      break;
    case 3:
    case 4:
      if (auto* dim = any(tensor->mutable_shape()->mutable_dim(), rng)) {
        if (one_in(rng, 4))
          dim->set_dim_param("n");
        else
          dim->set_dim_value(odd_number(rng));
      }
      break;
    case 5:
      if (tensor->shape().dim_size() > 0) tensor->mutable_shape()->mutable_dim()->RemoveLast();
      break;
    case 6:
      tensor->clear_shape();
      break;
    default: {
      const onnx::TypeProto inner = type;
      if (one_in(rng, 2))
        *type.mutable_sequence_type()->mutable_elem_type() = inner;
      else
        *type.mutable_optional_type()->mutable_elem_type() = inner;
    }
  }
}

}  // namespace rlgo::fuzz
