#include "core/mdp/observation_align.h"

#include <algorithm>
#include <optional>

namespace rlgo::mdp {
namespace {

constexpr size_t kFewRows = 3;  // a column that differs in no more is cheaper as it is

class Aligner {
 public:
  Aligner(const Observation& base, size_t base_nodes, const Observation& now, const Sizes& sizes)
      : base_(base), now_(now), base_nodes_(base_nodes), nodes_(sizes.nodes), width_(sizes.node_width) {}

  Alignment run() {
    result_.from.assign(nodes_, -1);
    result_.equal.assign(nodes_, 0);
    result_.mask.fill(~uint32_t{0});
    find_derived();
    match_ends();
    match_middle();
    pair_up();
    if (base_nodes_ > 0) drop_steady_columns();
    return std::move(result_);
  }

 private:
  float at(size_t row, size_t column) const { return now_.node_feat[row * width_ + column]; }
  bool same(size_t row, size_t base_row) const {
    return now_.node_op[row] == base_.node_op[base_row] &&
           same_features(row_of(now_, row, width_), row_of(base_, base_row, width_), result_.mask.data(), width_);
  }

  void add(DerivedColumn column) {
    result_.mask[column.column] = 0;
    result_.derived.push_back(column);
  }

  void find_derived() {
    for (size_t c = 0; c < width_; ++c) {
      size_t row = 0;
      while (row < nodes_ && bits(at(row, c)) == bits(position_of(row, nodes_))) ++row;
      if (row == nodes_ && nodes_ > 1) add({c, DerivedColumn::position, 0, 0});
    }
    std::vector<size_t> probe(width_, nodes_);  // first row with a value
    for (size_t c = 0; c < width_; ++c) {
      for (size_t row = 0; row < nodes_ && probe[c] == nodes_; ++row) {
        if (at(row, c) != 0) probe[c] = row;
      }
    }
    for (size_t a = 0; a < width_; ++a) {
      for (size_t b = a + 1; b < width_ && result_.mask[a] != 0; ++b) {
        if (result_.mask[b] == 0 || probe[a] != probe[b] || probe[a] == nodes_) continue;
        if (const auto ratio = ratio_of(a, b, probe[a])) add_proportional(a, b, *ratio);
      }
    }
  }

  // Mean of b / a, where it is the same up to rounding in all rows.
  std::optional<double> ratio_of(size_t a, size_t b, size_t probe) const {
    const double first = static_cast<double>(at(probe, b)) / static_cast<double>(at(probe, a));
    double sum = 0;
    size_t rows = 0;
    for (size_t row = probe; row < nodes_; ++row) {
      const double x = at(row, a), y = at(row, b);
      if (!(std::abs(x * first - y) <= 4e-7 * std::abs(y))) return {};
      if (x == 0) continue;
      sum += y / x;
      ++rows;
    }
    const double ratio = sum / static_cast<double>(rows);
    return rows > kFewRows && std::isfinite(ratio) && ratio != 0 ? std::optional(ratio) : std::nullopt;
  }

  // Rows of a column that differ from the base, with the first rows of both beside each other, or the last ones.
  size_t differing(size_t column) const {
    const size_t common = std::min(nodes_, base_nodes_);
    size_t front = 0, back = 0;
    for (size_t i = 0; i < common; ++i) {
      front += bits(at(i, column)) != bits(base_.node_feat[i * width_ + column]);
      back += bits(at(nodes_ - 1 - i, column)) != bits(base_.node_feat[(base_nodes_ - 1 - i) * width_ + column]);
    }
    return std::min(front, back);
  }

  // The column that changes more follows from the other.
  void add_proportional(size_t a, size_t b, double ratio) {
    const size_t changes_a = base_nodes_ > 0 ? differing(a) : kFewRows + 1,
                 changes_b = base_nodes_ > 0 ? differing(b) : 0;
    if (changes_a <= kFewRows && changes_b <= kFewRows) return;
    const bool a_follows = changes_a >= changes_b;
    const DerivedColumn column{a_follows ? a : b, DerivedColumn::proportional, a_follows ? b : a,
                               a_follows ? 1 / ratio : ratio};
    for (const auto& other : result_.derived) {
      if (other.kind == DerivedColumn::proportional && other.source == column.column) return;
    }
    // One value of the source must always give one value.
    Values values(nodes_);
    std::vector<uint32_t> held;
    for (size_t row = 0; row < nodes_; ++row) {
      bool added = false;
      const uint32_t number = values.number(at(row, column.source), &added);
      if (added) held.push_back(bits(at(row, column.column)));
      if (held[number] != bits(at(row, column.column))) return;
    }
    add(column);
  }

  void match(size_t row, size_t base_row) {
    result_.from[row] = static_cast<int32_t>(base_row);
    result_.equal[row] = 1;
  }

  void match_ends() {
    const size_t common = std::min(nodes_, base_nodes_);
    while (front_ < common && same(front_, front_)) {
      match(front_, front_);
      ++front_;
    }
    while (back_ < common - front_ && same(nodes_ - 1 - back_, base_nodes_ - 1 - back_)) {
      match(nodes_ - 1 - back_, base_nodes_ - 1 - back_);
      ++back_;
    }
  }

  void match_middle() {
    used_.assign(base_nodes_, 0);
    const size_t end = base_nodes_ - back_;
    std::vector<std::pair<uint64_t, size_t>> rows;  // hash, row of the base; sorted
    for (size_t b = front_; b < end; ++b) rows.emplace_back(hash_row(base_, b, width_, result_.mask.data()), b);
    std::sort(rows.begin(), rows.end());
    size_t cursor = front_;
    for (size_t i = front_; i < nodes_ - back_; ++i) {
      if (!(cursor < end && !used_[cursor] && same(i, cursor))) {
        const uint64_t hash = hash_row(now_, i, width_, result_.mask.data());
        // The nearest one from the cursor on; else the first.
        auto found = rows.end();
        for (auto at = std::lower_bound(rows.begin(), rows.end(), std::pair(hash, size_t{0}));
             at != rows.end() && at->first == hash; ++at) {
          if (used_[at->second] || !same(i, at->second)) continue;
          if (found == rows.end() || at->second >= cursor) found = at;
          if (at->second >= cursor) break;
        }
        if (found == rows.end()) continue;
        cursor = found->second;
      }
      used_[cursor] = 1;
      match(i, cursor++);
    }
  }

  // A row without a match that stands where an unused one of the same operator stood is the same node, changed.
  void pair_up() {
    for (size_t i = front_; i < nodes_ - back_; ++i) {
      if (result_.from[i] >= 0 || (i > 0 && result_.from[i - 1] < 0)) continue;
      const size_t b = i == 0 ? 0 : static_cast<size_t>(result_.from[i - 1]) + 1;
      if (b < front_ || b >= base_nodes_ - back_ || used_[b] || base_.node_op[b] != now_.node_op[i]) continue;
      used_[b] = 1;
      result_.from[i] = static_cast<int32_t>(b);
    }
  }

  void drop_steady_columns() {
    std::erase_if(result_.derived, [&](const DerivedColumn& derived) {
      const size_t c = derived.column;
      const auto differs = [&](size_t i) {
        return result_.from[i] < 0 || bits(at(i, c)) != bits(base_.node_feat[result_.from[i] * width_ + c]);
      };
      size_t rows = 0;
      for (size_t i = 0; i < nodes_; ++i) rows += differs(i);
      if (rows > (derived.kind == DerivedColumn::position ? 0 : kFewRows)) return false;
      result_.mask[c] = ~uint32_t{0};
      for (size_t i = 0; i < nodes_; ++i) result_.equal[i] &= static_cast<uint8_t>(!differs(i));
      return true;
    });
  }

  const Observation& base_;
  const Observation& now_;
  const size_t base_nodes_, nodes_, width_;
  size_t front_ = 0, back_ = 0;  // rows matched at both ends
  std::vector<uint8_t> used_;    // [base_nodes]
  Alignment result_;
};

}  // namespace

uint64_t hash_row(const Observation& o, size_t row, size_t width, const uint32_t* mask) {
  const float* features = row_of(o, row, width);
  uint64_t h = static_cast<uint64_t>(static_cast<uint32_t>(o.node_op[row])) + 0x9E3779B97F4A7C15ull;
  for (size_t c = 0; c < width; ++c) h = (h ^ (bits(features[c]) & mask[c])) * 0xBF58476D1CE4E5B9ull + (h >> 29);
  return h ^ (h >> 32);
}

Alignment align(const Observation& base, size_t base_nodes, const Observation& now, const Sizes& sizes) {
  return Aligner(base, base_nodes, now, sizes).run();
}

}  // namespace rlgo::mdp
