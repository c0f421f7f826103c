// Short spellings for operator calls in tests.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "core/base/text.h"
#include "core/ops/op.h"

namespace rlgo::ops {

// "f32[2,3] i64[]" -> types.
inline Types types(const std::string& text) {
  Types result;
  for (const auto& word : rlgo::split(text, ' ')) {
    if (word.empty()) continue;
    const auto type = type_from_string(word);
    EXPECT_TRUE(type.has_value()) << word;
    result.push_back(type.value_or(TensorType()));
  }
  return result;
}

// The outputs' types as text, or "-" where the call does not fit.
inline std::string result(Op op, const std::string& inputs, const Attrs& attrs = {}) {
  const auto complete = complete_attrs(op, attrs);
  if (!complete) return "-";
  const auto outputs = infer(op, types(inputs), *complete);
  if (!outputs) return "-";
  std::string text;
  for (const auto& type : *outputs) text += (text.empty() ? "" : " ") + to_string(type);
  return text;
}

inline Work work_of(Op op, const std::string& inputs, const Attrs& attrs = {}) {
  const auto complete = complete_attrs(op, attrs);
  EXPECT_TRUE(complete.has_value());
  return spec(op).work(types(inputs), *complete);
}

}  // namespace rlgo::ops
