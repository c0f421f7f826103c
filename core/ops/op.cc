#include "core/ops/op.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/ops/families.h"

namespace rlgo::ops {
namespace {

constexpr auto kOps = std::to_array<Op>({
#define RLGO_OP(name, id) Op::name,
#include "core/ops/op_list.def"
#undef RLGO_OP
});

constexpr size_t kTableSize = 256;  // ids are one byte
using Table = std::array<std::unique_ptr<const OpSpec>, kTableSize>;

Table make_table() {
  Table table;
#define RLGO_OP(name, id) table[id] = std::make_unique<const OpSpec>(name##_spec());
#include "core/ops/op_list.def"
#undef RLGO_OP
  return table;
}

const AttrSpec* find_attr(const OpSpec& spec, Attr key) {
  for (const auto& attr : spec.attrs) {
    if (attr.key == key) return &attr;
  }
  return nullptr;
}

std::string_view kind(const AttrValue& value) {
  constexpr std::array<std::string_view, 4> kKinds{"an int", "a float", "ints", "a word"};
  return kKinds[value.index()];
}

void explain(std::string* reason, std::string text) {
  if (reason) *reason = std::move(text);
}

std::string unknown_attr(const OpSpec& spec, Attr key) {
  std::vector<std::string> known;
  for (const auto& attr : spec.attrs) known.emplace_back(name(attr.key));
  return fmt::format("{} has no attribute '{}'{}; it has: {}", name(spec.op), name(key), did_you_mean(name(key), known),
                     known.empty() ? "none" : join(known, " "));
}

bool is_nan(const AttrValue& value) {
  const auto* number = std::get_if<double>(&value);
  return number && std::isnan(*number);
}

std::string call_text(Op op, std::span<const TensorType> inputs, const Attrs& attrs) {
  std::vector<std::string> types;
  for (const auto& type : inputs) types.push_back(to_string(type));
  const auto attr_text = to_string(attrs);
  return fmt::format("{}({}){}{}", name(op), join(types, ", "), attr_text.empty() ? "" : " ", attr_text);
}

}  // namespace

std::span<const Op> all_ops() { return kOps; }

std::string_view name(Op op) {
  switch (op) {
#define RLGO_OP(name, id) \
  case Op::name:          \
    return #name;
#include "core/ops/op_list.def"
#undef RLGO_OP
  }
  fail("internal: no operator has the id {} (this is a bug of rlgo)", static_cast<int>(op));
}

std::optional<Op> op_from_name(std::string_view wanted) {
  for (Op op : kOps) {
    if (name(op) == wanted) return op;
  }
  return std::nullopt;
}

const OpSpec& spec(Op op) {
  static const Table table = make_table();
  const auto& entry = table[static_cast<size_t>(op)];
  RLGO_CHECK(entry != nullptr);
  return *entry;
}

std::optional<Attrs> complete_attrs(Op op, const Attrs& given, std::string* reason) {
  const OpSpec& wanted = spec(op);
  for (const auto& [key, value] : given.items()) {
    if (!find_attr(wanted, key)) {
      explain(reason, reason ? unknown_attr(wanted, key) : "");
      return std::nullopt;
    }
  }
  Attrs complete;
  for (const auto& attr : wanted.attrs) {
    const AttrValue* value = given.find(attr.key);
    if (!value && !attr.optional) {
      explain(
          reason,
          reason ? fmt::format("{} needs the attribute '{}' ({})", name(op), name(attr.key), kind(attr.fallback)) : "");
      return std::nullopt;
    }
    const bool widen =
        value && std::holds_alternative<double>(attr.fallback) && std::holds_alternative<int64_t>(*value);
    if (value && !widen && (value->index() != attr.fallback.index() || is_nan(*value))) {
      explain(reason, reason ? fmt::format("{}: attribute '{}' must be {}, not {}", name(op), name(attr.key),
                                           kind(attr.fallback), to_string(*value))
                             : "");
      return std::nullopt;
    }
    if (widen) {
      complete.set(attr.key, static_cast<double>(std::get<int64_t>(*value)));
    } else {
      complete.set(attr.key, value ? *value : attr.fallback);
    }
  }
  // The one default that depends on another attribute: a slice without steps takes every element.
  if (op == Op::slice && complete.ints(Attr::steps).empty()) {
    complete.set(Attr::steps, Ints(complete.ints(Attr::axes).size(), 1));
  }
  return complete;
}

std::optional<Types> infer(Op op, std::span<const TensorType> inputs, const Attrs& complete, std::string* reason,
                           std::vector<Requirement>* required) {
  const OpSpec& wanted = spec(op);
  const auto arity = static_cast<int64_t>(inputs.size());
  if (arity < wanted.min_inputs || arity > wanted.max_inputs) {
    explain(reason,
            reason ? fmt::format("{} takes {} to {} inputs, not {}", name(op), wanted.min_inputs,
                                 wanted.max_inputs == kAnyArity ? "any number of" : std::to_string(wanted.max_inputs),
                                 arity)
                   : "");
    return std::nullopt;
  }
  for (const auto& type : inputs) {
    if (!type.is_static()) {
      explain(reason, reason ? fmt::format("{}: an input of unknown shape", call_text(op, inputs, complete)) : "");
      return std::nullopt;
    }
  }
  auto types = wanted.infer(inputs, complete);
  if (types && std::ranges::any_of(inputs, [](const TensorType& type) { return type.open != nullptr; }))
    types = infer_open(wanted, inputs, complete, std::move(*types), required);
  if (!types) {
    explain(reason, reason
                        ? fmt::format("{}: inputs and attributes do not fit together", call_text(op, inputs, complete))
                        : "");
    return std::nullopt;
  }
  for (const auto& type : *types) {
    if (type.bytes() == std::numeric_limits<int64_t>::max()) {
      explain(reason, reason ? fmt::format("{}: the output is too large", call_text(op, inputs, complete)) : "");
      return std::nullopt;
    }
  }
  return types;
}

}  // namespace rlgo::ops
