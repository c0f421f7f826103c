#include "core/rulegen/check/dependence.h"

#include <bit>

#include "core/base/hash.h"
#include "core/rulegen/check/input_values.h"

namespace rlgo::rulegen {
namespace {

// A ring whose elements are sets of leaf elements (bits of a hash) and, for indices, a number.
class ReadsRing {
 public:
  struct Element {
    uint64_t reads = 0;
    int64_t whole = 0;
  };

  Element zero() const { return {}; }
  Element integer(int64_t value) const { return {0, value}; }
  Element ratio(int64_t, int64_t) const { return {}; }
  Element number(double value) const { return {0, static_cast<int64_t>(value)}; }
  Element add(const Element& a, const Element& b) const { return {a.reads | b.reads, a.whole + b.whole}; }
  Element sub(const Element& a, const Element& b) const { return {a.reads | b.reads, a.whole - b.whole}; }
  Element mul(const Element& a, const Element& b) const { return {a.reads | b.reads, 0}; }
  Element div(const Element& a, const Element& b) const { return mul(a, b); }
  Element power(const Element& a, const Element& b) const { return mul(a, b); }
  Element neg(const Element& a) const { return {a.reads, 0}; }
  Element apply(Fn, const Element& a) const { return {a.reads, 0}; }
  Element maximum(std::span<const Element> items) const {
    Element all;
    for (const auto& item : items) all.reads |= item.reads;
    return all;
  }
  Element minimum(std::span<const Element> items) const { return maximum(items); }
  std::optional<int64_t> whole(const Element& a) const { return a.whole; }

  class Sum {
   public:
    explicit Sum(ReadsRing&) {}
    void add(const Element& a) { reads_ |= a.reads; }
    void add_product(const Element& a, const Element& b) { reads_ |= a.reads | b.reads; }
    Element finish() const { return {reads_, 0}; }

   private:
    uint64_t reads_ = 0;
  };
};

// The set of reads of each output element, one after another. `only`: the leaf that counts; nothing: all.
std::optional<std::vector<uint64_t>> reads_of(const graph::Graph& graph, uint64_t seed, std::optional<uint64_t> only) {
  ReadsRing ring;
  const auto outputs = eval_graph<ReadsRing>(ring, graph, [&](const graph::Graph& g, graph::NodeId id) {
    TensorOf<ReadsRing> tensor;
    tensor.type = g.type({id, 0});
    tensor.data.resize(static_cast<size_t>(tensor.type.elements()));
    const uint64_t key = leaf_key(g, id);
    if (only && *only != key) return tensor;
    for (size_t k = 0; k < tensor.data.size(); ++k)
      tensor.data[k].reads = uint64_t{1} << (mix64(hash_combine(hash_combine(seed, key), k)) % 64);
    return tensor;
  });
  if (!outputs) return std::nullopt;
  std::vector<uint64_t> reads;
  for (const auto& output : *outputs) {
    for (const auto& element : output.data) reads.push_back(element.reads);
  }
  return reads;
}

}  // namespace

std::set<std::string> read_on_one_side(const graph::Graph& left, const graph::Graph& right, uint64_t seed) {
  std::set<std::string> names;
  const auto all_left = reads_of(left, seed, std::nullopt), all_right = reads_of(right, seed, std::nullopt);
  if (!all_left || !all_right || *all_left == *all_right) return names;
  for (const graph::NodeId id : left.order()) {
    const auto& node = left.node(id);
    if (node.op() != ops::Op::input && node.op() != ops::Op::weight) continue;
    const uint64_t key = leaf_key(left, id);
    if (reads_of(left, seed, key) != reads_of(right, seed, key)) names.insert(node.info->name);
  }
  return names;
}

}  // namespace rlgo::rulegen
