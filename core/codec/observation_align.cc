#include "core/codec/observation_align.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "core/base/hash.h"

namespace rlgo::mdp {
namespace {

constexpr size_t kFewRows = 3;  // a column that differs in no more is cheaper as it is
constexpr size_t kNear = 8;     // rows of the base that are looked at before all are

// Odd numbers without a pattern.
constexpr auto kFactors = [] {
  std::array<uint64_t, kMaxWidth> factors{};
  for (size_t c = 0; c < kMaxWidth; ++c) factors[c] = mix64(c + 1) | 1;
  return factors;
}();

class Aligner {
 public:
  Aligner(const Observation& base, size_t base_nodes, const Observation& now, const Sizes& sizes,
          const Changes* reported, Relations& relations)
      : base_(base),
        now_(now),
        base_nodes_(base_nodes),
        nodes_(sizes.nodes),
        width_(sizes.node_width),
        reported_(reported),
        relations_(relations) {}

  Alignment run() {
    result_.from.assign(nodes_, -1);
    result_.equal.assign(nodes_, 0);
    result_.mask.fill(~uint32_t{0});
    if (relations_.width != width_ && nodes_ > 1) search();
    for (const auto& column : relations_.columns) result_.mask[column.column] = 0;
    if (reported_ != nullptr) {
      match_reported();
    } else {
      match_ends();
      match_middle();
    }
    pair_up();
    for (const auto& column : relations_.columns) {
      const size_t few = column.kind == DerivedColumn::position ? 0 : kFewRows;
      if (nodes_ > 1 && (reported_ != nullptr ? may_vary(column.column) : changes(column.column, few))) {
        if (auto derived = verify(column)) {
          result_.derived.push_back(std::move(*derived));
          continue;
        }
      }
      spell_out(column.column);
    }
    return std::move(result_);
  }

 private:
  bool same(size_t row, size_t base_row) const {
    return now_.node_op[row] == base_.node_op[base_row] &&
           same_features(row_of(now_, row, width_), row_of(base_, base_row, width_), result_.mask.data(), width_);
  }

  void search() {
    relations_ = {width_, {}};
    std::vector<std::vector<float>> columns;
    for (size_t c = 0; c < width_; ++c) columns.push_back(column(c));
    const auto is = [this](size_t c, auto field) {
      return std::ranges::any_of(relations_.columns, [&](const auto& known) { return field(known) == c; });
    };
    const auto follows = [&](size_t c) { return is(c, [](const DerivedColumn& known) { return known.column; }); };
    const auto leads = [&](size_t c) {
      return is(c, [this](const DerivedColumn& known) {
        return known.kind == DerivedColumn::position ? width_ : known.source;
      });
    };
    for (size_t c = 0; c < width_; ++c) {
      if (is_position(c)) relations_.columns.push_back({c, DerivedColumn::position, 0, 0});
    }
    for (size_t a = 0; a < width_; ++a) {
      for (size_t b = a + 1; b < width_; ++b) {
        if (follows(a) || follows(b) || !ratio_of(columns[a], columns[b])) continue;
        // The column that changes more follows from the other.
        const bool a_follows = base_nodes_ == 0 || differing(columns[a], a) >= differing(columns[b], b);
        if (!leads(a_follows ? a : b))
          relations_.columns.push_back({a_follows ? a : b, DerivedColumn::proportional, a_follows ? b : a, 0});
      }
    }
  }

  std::vector<float> column(size_t c) const {
    std::vector<float> values(nodes_);
    for (size_t row = 0; row < nodes_; ++row) values[row] = now_.node_feat[row * width_ + c];
    return values;
  }

  bool is_position(size_t c) const {
    using Lanes = float __attribute__((vector_size(16)));
    using TwoWords = std::array<uint64_t, 2>;  // the bits of four lanes
    const float* at = now_.node_feat.data() + c;
    const auto total = static_cast<float>(nodes_);
    size_t row = 0;
    for (; row + 4 <= nodes_; row += 4) {  // four at once
      const Lanes held = {at[row * width_], at[(row + 1) * width_], at[(row + 2) * width_], at[(row + 3) * width_]};
      const auto first = static_cast<float>(row);
      const Lanes expected = Lanes{first, first + 1, first + 2, first + 3} / total;
      if (std::bit_cast<TwoWords>(held) != std::bit_cast<TwoWords>(expected)) return false;
    }
    while (row < nodes_ && bits(at[row * width_]) == bits(position_of(row, nodes_))) ++row;
    return row == nodes_;
  }

  // b / a, where it is the same up to rounding for all.
  static std::optional<double> ratio_of(const std::vector<float>& a, const std::vector<float>& b) {
    size_t i = 0;
    while (i < a.size() && a[i] == 0 && b[i] == 0) ++i;
    if (i == a.size()) return {};
    const double first = static_cast<double>(b[i]) / static_cast<double>(a[i]);
    double sum_a = 0, sum_b = 0;
    size_t count = 0;
    for (; i < a.size(); ++i) {
      const double x = a[i], y = b[i];
      if (!(std::abs(x * first - y) <= 4e-7 * std::abs(y))) return {};
      sum_a += x;
      sum_b += y;
      count += x != 0;
    }
    const double ratio = sum_b / sum_a;
    return count > 0 && std::isfinite(ratio) && ratio != 0 ? std::optional(ratio) : std::nullopt;
  }

  // Rows of a column that differ from the base, with the first rows of both next to each other, or the last ones.
  size_t differing(const std::vector<float>& values, size_t c) const {
    const size_t common = std::min(nodes_, base_nodes_);
    size_t front = 0, back = 0;
    for (size_t i = 0; i < common; ++i) {
      front += bits(values[i]) != bits(base_.node_feat[i * width_ + c]);
      back += bits(values[nodes_ - 1 - i]) != bits(base_.node_feat[(base_nodes_ - 1 - i) * width_ + c]);
    }
    return std::min(front, back);
  }

  bool differs(size_t row, size_t c) const {
    return result_.from[row] < 0 ||
           bits(now_.node_feat[row * width_ + c]) != bits(base_.node_feat[result_.from[row] * width_ + c]);
  }

  // Whether a column differs from the base in more rows than that.
  bool changes(size_t c, size_t most) const {
    size_t rows = 0;
    for (size_t i = 0; i < nodes_ && rows <= most; ++i) rows += differs(i, c);
    return rows > most;
  }

  bool may_vary(size_t c) const { return (reported_->varying >> c & 1) != 0; }

  // The column counts like any other.
  void spell_out(size_t c) {
    result_.mask[c] = ~uint32_t{0};
    const uint8_t* same = reported_ != nullptr && !may_vary(c) ? reported_->kept.data() : nullptr;
    for (size_t i = 0; i < nodes_; ++i) {
      if (same == nullptr || same[i] == 0) result_.equal[i] &= static_cast<uint8_t>(!differs(i, c));
    }
  }

  // What the formula of a column is here, if it holds.
  std::optional<Alignment::Derived> verify(const DerivedColumn& derived) const {
    Alignment::Derived result{derived, {}};
    if (derived.kind == DerivedColumn::position)
      return is_position(derived.column) ? std::optional(result) : std::nullopt;
    // One value of the source must always give one value.
    Values numbers(nodes_);
    std::vector<float> source, value;  // of each number
    source.reserve(nodes_);
    value.reserve(nodes_);
    for (size_t row = 0; row < nodes_; ++row) {
      const float* features = row_of(now_, row, width_);
      bool added = false;
      const uint32_t number = numbers.number(features[derived.source], &added);
      if (added) {
        source.push_back(features[derived.source]);
        value.push_back(features[derived.column]);
      } else if (bits(value[number]) != bits(features[derived.column])) {
        return {};
      }
    }
    const auto ratio = ratio_of(source, value);
    if (!ratio) return {};
    result.ratio = *ratio;
    result.residuals.reserve(source.size());
    for (size_t k = 0; k < source.size(); ++k)
      result.residuals.push_back(rank_of(value[k]) - rank_of(proportional(source[k], result.ratio)));
    return result;
  }

  void match(size_t row, size_t base_row) {
    result_.from[row] = static_cast<int32_t>(base_row);
    result_.equal[row] = 1;
  }

  // By what is known: only rows that are not known to be kept are compared, and new ones with those that are gone.
  void match_reported() {
    if (reported_->from.size() != nodes_ || reported_->kept.size() != nodes_)
      fail("observation code: changes of {} rows, {} of them kept, for {}", reported_->from.size(),
           reported_->kept.size(), nodes_);
    used_.assign(base_nodes_, 0);
    std::vector<size_t> fresh;
    for (size_t i = 0; i < nodes_; ++i) {
      if (reported_->from[i] < 0) {
        fresh.push_back(i);
        continue;
      }
      const auto b = static_cast<size_t>(reported_->from[i]);
      if (b >= base_nodes_ || std::exchange(used_[b], 1) != 0)
        fail("observation code: row {} cannot come from row {} of {}", i, b, base_nodes_);
      result_.from[i] = reported_->from[i];
      result_.equal[i] = reported_->kept[i] != 0 || same(i, b);
    }
    if (!fresh.empty()) match_fresh(fresh);
    // What may differ in kept rows has to be derived, or looked at.
    for (uint64_t varying = reported_->varying; varying != 0; varying &= varying - 1) {
      const auto c = static_cast<size_t>(std::countr_zero(varying));
      if (c < width_ && result_.mask[c] != 0) spell_out(c);
    }
  }

  // A new node that is like one that is gone stands for it: it may have moved, or been made again.
  void match_fresh(const std::vector<size_t>& fresh) {
    std::vector<size_t> gone;
    for (size_t b = 0; b < base_nodes_; ++b) {
      if (!used_[b]) gone.push_back(b);
    }
    for (const size_t i : fresh) {
      const auto found = std::ranges::find_if(gone, [&](size_t b) { return same(i, b); });
      if (found == gone.end()) continue;
      used_[*found] = 1;
      match(i, *found);
      gone.erase(found);
    }
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
    size_t cursor = front_;
    for (size_t i = front_; i < nodes_ - back_; ++i) {
      size_t found = near(i, cursor, end);
      if (found == end) found = anywhere(i, cursor, end);
      if (found == end) continue;
      used_[found] = 1;
      match(i, found);
      cursor = found + 1;
    }
  }

  // The first unused row of the base that is row i, among some from the cursor on; else `end`.
  size_t near(size_t i, size_t cursor, size_t end) const {
    for (size_t b = cursor; b < std::min(cursor + kNear, end); ++b) {
      if (!used_[b] && same(i, b)) return b;
    }
    return end;
  }

  // The first one from the cursor on; else the first one of all; else `end`.
  size_t anywhere(size_t i, size_t cursor, size_t end) {
    if (rows_.empty()) {
      for (size_t b = front_; b < end; ++b) rows_.emplace_back(hash_row(base_, b, width_, result_.mask.data()), b);
      std::sort(rows_.begin(), rows_.end());
    }
    const uint64_t hash = hash_row(now_, i, width_, result_.mask.data());
    size_t found = end;
    for (auto at = std::lower_bound(rows_.begin(), rows_.end(), std::pair(hash, size_t{0}));
         at != rows_.end() && at->first == hash; ++at) {
      if (used_[at->second] || !same(i, at->second)) continue;
      if (at->second >= cursor) return at->second;
      if (found == end) found = at->second;
    }
    return found;
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

  const Observation& base_;
  const Observation& now_;
  const size_t base_nodes_, nodes_, width_;
  const Changes* reported_;
  Relations& relations_;
  size_t front_ = 0, back_ = 0;                    // rows matched at both ends
  std::vector<uint8_t> used_;                      // [base_nodes]
  std::vector<std::pair<uint64_t, size_t>> rows_;  // hash, row of the base between its ends; sorted
  Alignment result_;
};

}  // namespace

uint64_t hash_row(const Observation& o, size_t row, size_t width, const uint32_t* mask) {
  const float* features = row_of(o, row, width);
  uint64_t h = mix64(static_cast<uint32_t>(o.node_op[row]));
  // A sum of products, which do not wait for each other.
  for (size_t c = 0; c < width; ++c) h += uint64_t{bits(features[c]) & mask[c]} * kFactors[c];
  return h ^ (h >> 32);
}

Alignment align(const Observation& base, size_t base_nodes, const Observation& now, const Sizes& sizes,
                const Changes* reported, Relations& relations) {
  return Aligner(base, base_nodes, now, sizes, reported, relations).run();
}

}  // namespace rlgo::mdp
