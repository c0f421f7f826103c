// Why all permutations at once: two graphs that differ in the names of their variables are one. A graph's key is the
// least hash over all permutations of variables of one kind, so each tensor carries its hash (and its values) under
// every one of them; extending a graph then costs one operator under each, not a walk over the graph.
#include "core/rulegen/generate/enumerate_state.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/hash.h"

namespace rlgo::rulegen {
namespace {

constexpr int kRoleCount = static_cast<int>(kRoles.size());
int role_index(char role) { return static_cast<int>(kRoles.find(role)); }

// Contents of the free variables are streams of their own; those of constants are what they state.
void fill(const Variable& variable, uint64_t stream, const TinyShape& shape, Tiny* out) {
  for (int i = 0; i < shape.elements(); ++i) {
    out[i] = variable.constant < 0 ? random_tiny(stream, static_cast<uint64_t>(i))
                                   : constant_element(variable.constant, shape, i);
  }
}

}  // namespace

GraphState::GraphState(const Family& family)
    : family_(family),
      variables_(static_cast<int>(family.variables.size())),
      permutations_(static_cast<int>(family.permutations.size())),
      structure_(static_cast<size_t>(kMaxTensors) * permutations_),
      value_(structure_.size()),
      data_(kMaxTensors) {
  for (const auto& config : family.configs) {
    auto& table = role_table_.emplace_back();
    table.fill(nullptr);
    for (const auto& signature : config.signatures) {
      int index = 0;
      for (int k = 0; k < config.arity; ++k) index = index * kRoleCount + role_index(signature[k]);
      table[index] = signature.c_str() + config.arity + 1;
      if (config.commutative) table[role_index(signature[1]) * kRoleCount + role_index(signature[0])] = table[index];
    }
  }
  for (int v = 0; v < variables_; ++v) {
    const auto& variable = family.variables[v];
    role_[v] = variable.role;
    shape_[v] = intern(variable.shape);
    tiny_[v] = tiny_shape(variable.shape);
    int before = -1;
    for (int u = 0; u < v; ++u) {
      const auto& other = family.variables[u];
      if (variable.constant < 0 && other.constant < 0 && other.role == variable.role && other.shape == variable.shape) {
        before = u;
      }
    }
    before_.push_back(before);
    const int n = tiny_[v].elements();
    data_[v].resize(static_cast<size_t>(n) * permutations_);
    for (int p = 0; p < permutations_; ++p) {
      const uint64_t name = family.permutations[p][v];
      structure_[v * permutations_ + p] = mix64(name + 1);
      fill(variable, name + 100, tiny_[v], data_[v].data() + p * n);
      value_[v * permutations_ + p] = value_hash(data_[v].data() + p * n, tiny_[v]);
    }
  }
  for (size_t t = variables_; t < data_.size(); ++t) {
    data_[t].resize(static_cast<size_t>(family.max_elements) * permutations_);
  }
  tensors_ = variables_;
}

uint16_t GraphState::intern(const ops::Shape& shape) {
  const auto found = std::ranges::find(shapes_, shape);
  if (found != shapes_.end()) return static_cast<uint16_t>(found - shapes_.begin());
  shapes_.push_back(shape);
  return static_cast<uint16_t>(shapes_.size() - 1);
}

const GraphState::TypedStep& GraphState::type(const OpStep& step) {
  const OpConfig& config = family_.configs[step.config];
  uint64_t key = step.config;
  for (int k = 0; k < 3; ++k) key = key << 16 | (k < config.arity ? shape_[step.operands[k]] : 0u);
  const auto [held, fresh] = types_.try_emplace(key);
  if (fresh) {
    std::vector<ops::Shape> operands;
    for (int k = 0; k < config.arity; ++k) operands.push_back(shapes_[shape_[step.operands[k]]]);
    if (const auto typed = type_step(family_, config, operands)) {
      held->second.count = static_cast<int>(typed->shapes.size());
      for (int p = 0; p < held->second.count; ++p) held->second.shapes[p] = intern(typed->shapes[p]);
    }
  }
  return held->second;
}

const char* GraphState::roles(const OpStep& step) const {
  int index = 0;
  for (int k = 0; k < family_.configs[step.config].arity; ++k)
    index = index * kRoleCount + role_index(role_[step.operands[k]]);
  return role_table_[step.config][index];
}

// Variables of a kind come into use in their order.
bool GraphState::allowed(int tensor, uint32_t used) const {
  return tensor >= variables_ || before_[tensor] < 0 || (used >> before_[tensor] & 1u) != 0;
}

uint64_t GraphState::node_hash(const OpStep& step, size_t permutation) const {
  const OpConfig& config = family_.configs[step.config];
  std::array<uint64_t, 3> kids{};
  for (int k = 0; k < config.arity; ++k) kids[k] = structure_[step.operands[k] * permutations_ + permutation];
  if (config.commutative && kids[0] > kids[1]) std::swap(kids[0], kids[1]);
  uint64_t h = step.config + 1;
  for (int k = 0; k < config.arity; ++k) h = mix64(h * 0x100000001B3ull ^ kids[k]);
  return h;
}

bool GraphState::exists(const OpStep& step) const {
  const uint64_t h = mix64(node_hash(step, 0));
  for (int t = variables_; t < tensors_; ++t) {
    if (structure_[t * permutations_] == h) return true;
  }
  return false;
}

uint64_t GraphState::key_with(const OpStep& step, int outputs) const {
  uint32_t read = 0;
  for (int k = 0; k < family_.configs[step.config].arity; ++k) read |= 1u << step.operands[k];
  uint64_t least = ~uint64_t{0};
  for (int p = 0; p < permutations_; ++p) {
    uint64_t sum = 0;
    for (int t = variables_; t < tensors_; ++t) {
      if (readers_[t] == 0 && (read >> t & 1u) == 0) sum += mix64(structure_[t * permutations_ + p]);
    }
    const uint64_t h = node_hash(step, p);
    for (int port = 0; port < outputs; ++port) sum += mix64(mix64(h + port));
    least = std::min(least, mix64(sum));
  }
  return least;
}

void GraphState::reset(std::span<const OpStep> steps) {
  while (!steps_.empty()) pop();
  for (const auto& step : steps) push(step, false);
}

void GraphState::push(const OpStep& step, bool with_values) {
  const OpConfig& config = family_.configs[step.config];
  const TypedStep typed = type(step);
  const char* roles_out = roles(step);
  RLGO_CHECK(typed.count > 0 && roles_out != nullptr && tensors_ + typed.count <= kMaxTensors);
  for (int p = 0; p < permutations_; ++p) {
    const uint64_t h = node_hash(step, p);
    for (int port = 0; port < typed.count; ++port) structure_[(tensors_ + port) * permutations_ + p] = mix64(h + port);
  }
  std::array<TinyShape, 2> out_shapes{};
  for (int port = 0; port < typed.count; ++port) {
    const int t = tensors_ + port;
    shape_[t] = typed.shapes[port];
    tiny_[t] = out_shapes[port] = tiny_shape(shapes_[shape_[t]]);
    role_[t] = roles_out[port];
    readers_[t] = 0;
  }
  for (int k = 0; k < config.arity; ++k) {
    ++readers_[step.operands[k]];
    if (step.operands[k] < variables_) used_ |= 1u << step.operands[k];
  }
  if (with_values) {
    for (int p = 0; p < permutations_; ++p) {
      std::array<TinyView, 3> in{};
      std::array<Tiny*, 2> out{};
      for (int k = 0; k < config.arity; ++k) {
        const int t = step.operands[k];
        in[k] = {data_[t].data() + static_cast<ptrdiff_t>(p) * tiny_[t].elements(), tiny_[t]};
      }
      for (int port = 0; port < typed.count; ++port) {
        out[port] = data_[tensors_ + port].data() + static_cast<ptrdiff_t>(p) * out_shapes[port].elements();
      }
      evaluate_tiny(config, std::span(in.data(), config.arity), std::span(out_shapes.data(), typed.count),
                    std::span(out.data(), typed.count));
      for (int port = 0; port < typed.count; ++port) {
        value_[(tensors_ + port) * permutations_ + p] = value_hash(out[port], out_shapes[port]);
      }
    }
  }
  tensors_ += typed.count;
  steps_.push_back(step);
}

void GraphState::pop() {
  const OpStep step = steps_.back();
  const OpConfig& config = family_.configs[step.config];
  steps_.pop_back();
  tensors_ -= config.outputs;
  for (int k = 0; k < config.arity; ++k) {
    const int t = step.operands[k];
    if (--readers_[t] == 0 && t < variables_) used_ &= ~(1u << t);
  }
}

void GraphState::forget(int tensor, uint64_t stream) {
  const int n = tiny_[tensor].elements();
  for (int p = 0; p < permutations_; ++p) {
    Tiny* data = data_[tensor].data() + static_cast<ptrdiff_t>(p) * n;
    for (int i = 0; i < n; ++i) data[i] = random_tiny(stream, static_cast<uint64_t>(i));
    value_[static_cast<size_t>(tensor) * permutations_ + p] = value_hash(data, tiny_[tensor]);
  }
}

GraphState::Outcome GraphState::assess() const {
  Outcome outcome;
  const int outputs = family_.configs[steps_.back().config].outputs, fresh = tensors_ - outputs;
  outcome.redundant = true;
  for (int port = 0; port < outputs; ++port) {
    const uint64_t value = value_[(fresh + port) * permutations_];
    int same = -1;
    for (int t = 0; t < fresh && same < 0; ++t) {
      if (value_[t * permutations_] == value) same = t;
    }
    outcome.redundant &= same >= 0;
    outcome.targets[port] = static_cast<uint8_t>(std::max(same, 0));
  }
  int sinks = 0;
  for (int t = variables_; t < tensors_; ++t) sinks += readers_[t] == 0;
  outcome.alone = sinks == outputs;
  if (outcome.redundant) return outcome;
  uint64_t own_value = 0, own_structure = 0;
  outcome.fingerprint = ~uint64_t{0};
  for (int p = 0; p < permutations_; ++p) {
    uint64_t value = 0, structure = 0;
    for (int t = variables_; t < tensors_; ++t) {
      if (readers_[t] != 0) continue;
      value += mix64(value_[t * permutations_ + p]);
      structure += mix64(structure_[t * permutations_ + p]);
    }
    if (p == 0) own_value = value, own_structure = structure;
    if (p > 0 && value == own_value && structure != own_structure) outcome.selves.push_back(p);
    const uint64_t print = mix64(value);
    if (print < outcome.fingerprint) outcome.fingerprint = print, outcome.permutation = p;
  }
  return outcome;
}

}  // namespace rlgo::rulegen
