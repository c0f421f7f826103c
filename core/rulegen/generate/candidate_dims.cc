#include "core/rulegen/generate/candidate_dims.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/base/error.h"
#include "core/base/rng.h"

namespace rlgo::rulegen {

int Segments::add(const Node& node) {
  nodes_.push_back(node);
  return static_cast<int>(nodes_.size()) - 1;
}
int Segments::free(int length) { return add({.length = length}); }
int Segments::fixed(int length) { return add({.length = length, .fixed = true}); }
int Segments::joined(int a, int b) {
  Node node{.length = length(a) + length(b)};
  node.parts = {a, b};
  return add(node);
}
int Segments::product(int a, int b) {
  Node node{.length = length(a) * length(b)};
  node.factors = {a, b};
  return add(node);
}
int Segments::window(int of, const OpConfig& config, int axis) {
  const int pads = config.pads[axis] + config.pads[axis + 2];
  if (config.strides[axis] == 1 && pads == config.kernel[axis] - 1) return of;
  of = find(of);
  const std::array<int, 3> how{config.kernel[axis], config.strides[axis], pads};
  for (int k = 0; k < static_cast<int>(nodes_.size()); ++k) {
    if (nodes_[k].window_of >= 0 && find(nodes_[k].window_of) == of && nodes_[k].window == how) return find(k);
  }
  Node node{.length = windows(length(of), how)};
  node.window_of = of;
  node.window = how;
  return add(node);
}
int Segments::find(int node) const {
  while (nodes_[node].same >= 0) node = nodes_[node].same;
  return node;
}

bool Segments::cut(int node, int at, int* first, int* second) {
  node = find(node);
  const int length = nodes_[node].length;
  if (at <= 0 || at >= length || !is_open(node)) return false;
  if (nodes_[node].parts[0] < 0) {
    const int left = free(at), right = free(length - at);
    nodes_[node].parts = {left, right};
  }
  const auto [left, right] = nodes_[node].parts;
  const int middle = this->length(left);
  if (at == middle) {
    *first = left, *second = right;
    return true;
  }
  int rest = -1;
  if (at < middle) {
    if (!cut(left, at, first, &rest)) return false;
    *second = joined(rest, right);
  } else {
    if (!cut(right, at - middle, &rest, second)) return false;
    *first = joined(left, rest);
  }
  return true;
}

bool Segments::unify(int a, int b) {
  a = find(a), b = find(b);
  if (a == b) return true;
  if (nodes_[a].length != nodes_[b].length) return false;
  if (nodes_[a].parts[0] < 0 && nodes_[b].parts[0] >= 0) std::swap(a, b);
  if (nodes_[a].parts[0] >= 0) {  // b may be whole
    const auto [left, right] = nodes_[a].parts;
    if (nodes_[b].parts[0] < 0) {
      if (!is_open(b)) return false;
      nodes_[b].same = a;
      return true;
    }
    int first = -1, second = -1;
    if (!cut(b, length(left), &first, &second) || !unify(left, first) || !unify(right, second)) return false;
    if (find(a) != find(b)) nodes_[find(b)].same = find(a);
    return true;
  }
  if (nodes_[a].window_of < 0) std::swap(a, b);
  if (nodes_[a].window_of >= 0) {
    if (!is_open(b) && (nodes_[b].window != nodes_[a].window || nodes_[b].window_of < 0 ||
                        !unify(nodes_[a].window_of, nodes_[b].window_of)))
      return false;
    nodes_[b].same = a;
    return true;
  }
  if (nodes_[a].factors[0] < 0) std::swap(a, b);
  if (nodes_[a].factors[0] >= 0) {
    if (nodes_[b].fixed) return false;
    const auto left = nodes_[a].factors, right = nodes_[b].factors;
    if (right[0] >= 0 && (!unify(left[0], right[0]) || !unify(left[1], right[1]))) return false;
  } else if (nodes_[a].fixed != nodes_[b].fixed) {
    return false;
  }
  nodes_[b].same = a;
  return true;
}

std::vector<int> Segments::leaves(int node) const {
  node = find(node);
  if (nodes_[node].parts[0] < 0) return {node};
  auto all = leaves(nodes_[node].parts[0]);
  const auto rest = leaves(nodes_[node].parts[1]);
  all.insert(all.end(), rest.begin(), rest.end());
  return all;
}

namespace {

class Typer {
 public:
  Typer(const Family& family, Segments& segments) : family_(family), s_(segments) {}

  bool type(const OpStep& step, std::vector<DimList>& tensors) {
    const OpConfig& config = family_.configs[step.config];
    std::array<DimList, 3> in;
    for (int k = 0; k < config.arity; ++k) in[k] = tensors[step.operands[k]];
    std::vector<DimList> out(config.outputs);
    out[0] = in[0];
    const int axis = config.axis < 0 ? static_cast<int>(in[0].size()) + config.axis : config.axis;
    if (!fits(config, in, axis, out)) return false;
    tensors.insert(tensors.end(), out.begin(), out.end());
    return true;
  }

 private:
  bool fits(const OpConfig& config, const std::array<DimList, 3>& in, int axis, std::vector<DimList>& out) {
    using ops::Op;
    switch (config.op) {
      case Op::matmul:
        return matmul(in[0], in[1], out[0]);
      case Op::add:
      case Op::mul:
        return broadcast(in[0], in[1], 0, out[0]);
      case Op::conv2d:
        return conv(config, in[0], in[1], out[0]);
      case Op::concat:
        for (size_t d = 0; d < in[0].size(); ++d) {
          if (static_cast<int>(d) != axis && !s_.unify(in[0][d], in[1][d])) return false;
        }
        out[0][axis] = s_.joined(in[0][axis], in[1][axis]);
        return true;
      case Op::split: {
        const int extent = s_.length(in[0][axis]), unit = family_.unit;
        out[1] = in[0];
        return s_.cut(in[0][axis], extent > unit && extent % unit == 0 ? unit : 1, &out[0][axis], &out[1][axis]);
      }
      case Op::transpose:
        for (size_t d = 0; d < in[0].size(); ++d) out[0][d] = in[0][config.perm[d]];
        return true;
      case Op::max_pool:
      case Op::avg_pool:
        for (int d : {0, 1}) out[0][d + 2] = s_.window(in[0][d + 2], config, d);
        return true;
      case Op::pad:
        for (int d : {2, 3}) out[0][d] = s_.fixed(s_.length(in[0][d]) + 2);
        return true;
      case Op::reduce_mean:
      case Op::reduce_sum:
        out[0][axis] = s_.fixed(1);
        return true;
      case Op::layer_norm:
        return s_.unify(in[0].back(), in[1][0]) && s_.unify(in[0].back(), in[2][0]);
      case Op::reshape:
        out[0] = {s_.product(in[0][0], in[0][1]), in[0][2]};
        return true;
      default:
        return true;  // element-wise; windows that keep the extents
    }
  }

  // The last `skip` axes are left alone. A scalar's result has the other's dims.
  bool broadcast(const DimList& a, const DimList& b, size_t skip, DimList& out) {
    const DimList &longer = a.size() >= b.size() ? a : b, &shorter = a.size() >= b.size() ? b : a;
    out = longer;
    for (size_t k = skip + 1; k <= shorter.size(); ++k) {
      const int left = longer[longer.size() - k], right = shorter[shorter.size() - k];
      int& to = out[out.size() - k];
      if (s_.length(left) == s_.length(right)) {
        if (!s_.unify(left, right)) return false;
      } else if (is_one(left)) {
        to = right;
      } else if (!is_one(right)) {
        return false;
      }
    }
    return true;
  }
  bool is_one(int node) const {
    const auto parts = s_.leaves(node);
    return parts.size() == 1 && s_.is_fixed(parts[0]) && s_.length(node) == 1;
  }

  bool matmul(const DimList& a, const DimList& b, DimList& out) {
    if (!s_.unify(a.back(), b[b.size() - 2]) || !broadcast(a, b, 2, out)) return false;
    out[out.size() - 2] = a[a.size() - 2];
    out.back() = b.back();
    return true;
  }

  // With groups, channels and kernels are that many equal parts.
  bool conv(const OpConfig& config, const DimList& x, const DimList& w, DimList& out) {
    out = {x[0], w[0], s_.window(x[2], config, 0), s_.window(x[3], config, 1)};
    if (config.depthwise) return s_.unify(x[1], w[0]);
    if (config.group == 1) return s_.unify(x[1], w[1]);
    int rest = x[1], kernels = w[0], first = -1;
    const int of_group = s_.length(w[0]) / config.group;
    int part = -1;
    for (int g = 1; g < config.group; ++g) {
      if (!s_.cut(rest, s_.length(w[1]), &part, &rest) || !s_.unify(part, w[1])) return false;
      if (!s_.cut(kernels, of_group, &part, &kernels)) return false;
      if (first >= 0 && !s_.unify(first, part)) return false;
      first = part;
    }
    return s_.unify(rest, w[1]) && s_.unify(first, kernels);
  }

  const Family& family_;
  Segments& s_;
};

// Different lengths for all free segments.
std::map<int, int> draw_lengths(const SymbolicPair& symbols, Rng& rng) {
  std::vector<int> pool{2, 3, 4, 5, 6, 7, 8, 9};
  constexpr int kRoom = 4;  // more, where windows slide
  std::map<int, int> lengths;
  std::set<int> slid_over;
  const auto visit = [&](auto&& self, int node) -> void {
    for (int leaf : symbols.segments.leaves(node)) {
      if (symbols.segments.is_product(leaf)) {
        for (int factor : symbols.segments.factors(leaf)) self(self, factor);
      } else if (symbols.segments.window_of(leaf) >= 0) {
        for (int below : symbols.segments.leaves(symbols.segments.window_of(leaf))) slid_over.insert(below);
        self(self, symbols.segments.window_of(leaf));
      } else if (symbols.segments.is_fixed(leaf)) {
        lengths[leaf] = symbols.segments.length(leaf);
      } else if (!lengths.contains(leaf)) {
        const size_t window = std::min<size_t>(pool.size(), 3);
        const size_t pick = rng.below(window);
        lengths[leaf] = pool[pick];
        if (pool.size() > 1) pool.erase(pool.begin() + static_cast<ptrdiff_t>(pick));
      }
    }
  };
  for (const auto* side : {&symbols.source, &symbols.target}) {
    for (const auto& dims : *side) {
      for (int node : dims) visit(visit, node);
    }
  }
  for (int leaf : slid_over) {
    if (const auto held = lengths.find(leaf); held != lengths.end()) held->second += kRoom;
  }
  return lengths;
}

int length_of(const Segments& segments, const std::map<int, int>& lengths, int node) {
  int sum = 0;
  for (int leaf : segments.leaves(node)) {
    const auto [a, b] = segments.factors(leaf);
    if (segments.window_of(leaf) >= 0) {
      sum += Segments::windows(length_of(segments, lengths, segments.window_of(leaf)), segments.window_shape(leaf));
      continue;
    }
    sum += segments.is_product(leaf) ? length_of(segments, lengths, a) * length_of(segments, lengths, b)
                                     : lengths.at(leaf);
  }
  return sum;
}

std::vector<uint64_t> results(const Family& family, const Sketch& sketch, const std::vector<DimList>& dims,
                              const Segments& segments, const std::map<int, int>& lengths, uint64_t seed) {
  std::vector<std::vector<Tiny>> data(dims.size());
  std::vector<TinyShape> shapes(dims.size());
  for (size_t t = 0; t < dims.size(); ++t) {
    shapes[t].rank = static_cast<uint8_t>(dims[t].size());
    for (size_t d = 0; d < dims[t].size(); ++d) {
      const int extent = length_of(segments, lengths, dims[t][d]);
      RLGO_CHECK_LT(extent, 256);
      shapes[t].dim[d] = static_cast<uint8_t>(extent);
    }
    data[t].resize(shapes[t].elements());
  }
  for (size_t v = 0; v < family.variables.size(); ++v) {
    const int constant = family.variables[v].constant;
    for (size_t i = 0; i < data[v].size(); ++i) {
      data[v][i] = constant < 0 ? random_tiny(hash_combine(seed, v), i, seed % 4 == 3 ? 230 : 128)
                                : constant_element(constant, shapes[v], static_cast<int>(i));
    }
  }
  size_t at = family.variables.size();
  for (const auto& step : sketch.steps) {
    const auto& config = family.configs[step.config];
    std::array<TinyView, 3> in{};
    std::array<Tiny*, 2> out{};
    for (int k = 0; k < config.arity; ++k) in[k] = {data[step.operands[k]].data(), shapes[step.operands[k]]};
    for (int p = 0; p < config.outputs; ++p) out[p] = data[at + p].data();
    evaluate_tiny(config, std::span(in.data(), config.arity), std::span(shapes.data() + at, config.outputs),
                  std::span(out.data(), config.outputs));
    at += config.outputs;
  }
  std::vector<uint64_t> hashes;
  for (int output : sketch.outputs) hashes.push_back(value_hash(data[output].data(), shapes[output]));
  return hashes;
}

}  // namespace

std::optional<SymbolicPair> symbolic_pair(const Family& family, const Candidate& pair) {
  constexpr std::string_view kKernels = "wgim";
  // Each of their kernels sees one channel.
  const bool depthwise = std::ranges::any_of(family.configs, [](const OpConfig& config) { return config.depthwise; });
  SymbolicPair symbols;
  for (const auto& variable : family.variables) {
    DimList dims;
    for (size_t d = 0; d < variable.shape.size(); ++d) {
      const bool kernel = d >= 2 && kKernels.find(variable.role) != std::string_view::npos;
      const int extent = static_cast<int>(variable.shape[d]);
      const bool alone = depthwise && variable.role == 'g' && d == 1;
      if (variable.constant == kIdentity && d == 1) {
        dims.push_back(dims[0]);
      } else if (kernel || alone || (variable.constant == kMean && d == 1)) {
        dims.push_back(symbols.segments.fixed(extent));
      } else {
        dims.push_back(symbols.segments.free(extent));
      }
    }
    symbols.source.push_back(dims);
  }
  symbols.target = symbols.source;
  Typer typer(family, symbols.segments);
  for (const auto& step : pair.source.steps) {
    if (!typer.type(step, symbols.source)) return std::nullopt;
  }
  for (const auto& step : pair.target.steps) {
    if (!typer.type(step, symbols.target)) return std::nullopt;
  }
  for (size_t k = 0; k < pair.source.outputs.size(); ++k) {
    const auto &a = symbols.source[pair.source.outputs[k]], &b = symbols.target[pair.target.outputs[k]];
    if (a.size() != b.size()) return std::nullopt;
    for (size_t d = 0; d < a.size(); ++d) {
      if (!symbols.segments.unify(a[d], b[d])) return std::nullopt;
    }
  }
  return symbols;
}

bool equal_elsewhere(const Family& family, const Candidate& pair, const SymbolicPair& symbols, int seeds) {
  for (int seed = 0; seed < seeds; ++seed) {
    Rng rng({static_cast<uint64_t>(seed), 0xD135});
    const auto lengths = draw_lengths(symbols, rng);
    const auto stream = static_cast<uint64_t>(seed) + 1000;
    if (results(family, pair.source, symbols.source, symbols.segments, lengths, stream) !=
        results(family, pair.target, symbols.target, symbols.segments, lengths, stream)) {
      return false;
    }
  }
  return true;
}

}  // namespace rlgo::rulegen
