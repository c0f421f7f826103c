#include <algorithm>
#include <map>

#include "core/codec/observation_align.h"
#include "core/codec/observation_code.h"

namespace rlgo::mdp {
namespace {

constexpr size_t kLookBack = 64;  // rows or edges that are tried as references

void put_whole(const Observation& o, bool detailed, ByteWriter& out) {
  out.put_vector(o.node_op);
  out.put_vector(o.node_feat);
  out.put_vector(o.edge_src);
  out.put_vector(o.edge_dst);
  out.put_vector(o.edge_feat);
  out.put_vector(o.globals);
  out.put_vector(o.counts);
  out.put_vector(o.loc_node);
  if (!detailed) return;
  out.put_vector(o.loc_feat);
  out.put_vector(o.loc_rest_end);
  out.put_vector(o.loc_rest);
}

class Encoder {
 public:
  // `base` has the widths of `now`, or is empty.
  Encoder(const Observation& base, const Facts& base_facts, const Observation& now, const Facts& facts,
          const Changes* reported, ByteWriter& out)
      : base_(base),
        base_nodes_(base_facts.sizes.nodes),
        base_first_(base_facts.first_edge),
        now_(now),
        sizes_(facts.sizes),
        now_first_(facts.first_edge),
        reported_(reported),
        out_(out),
        width_(facts.sizes.node_width),
        locations_of_base_(!base.counts.empty() && base_facts.sizes.location_width == facts.sizes.location_width &&
                           base_facts.sizes.rest == facts.sizes.rest) {}

  void run(Relations& relations) {
    for (const size_t size :
         {sizes_.nodes, sizes_.node_width, sizes_.edges, sizes_.edge_width, sizes_.globals, sizes_.rules})
      out_.put_varint(size);
    if (sizes_.detailed()) out_.put_varint(sizes_.location_width << 1 | (sizes_.rest ? 1 : 0));
    alignment_ = align(base_, base_nodes_, now_, sizes_, reported_, relations);
    put_derived();
    put_rows();
    for (const auto& derived : alignment_.derived) {
      if (derived.kind == DerivedColumn::proportional) put_residuals(derived.residuals);
    }
    to_.assign(base_nodes_, -1);
    for (size_t i = 0; i < sizes_.nodes; ++i) {
      if (alignment_.from[i] >= 0) to_[static_cast<size_t>(alignment_.from[i])] = static_cast<int32_t>(i);
    }
    put_edges();
    put_locations(base_, locations_of_base_, to_, now_, sizes_, out_);
    put_globals();
  }

 private:
  const float* row(size_t i) const { return row_of(now_, i, width_); }
  const uint32_t* mask() const { return alignment_.mask.data(); }
  bool from_base(size_t i) const { return alignment_.from[i] >= 0; }

  void put_derived() {
    out_.put_varint(alignment_.derived.size());
    for (const auto& derived : alignment_.derived) {
      out_.put_varint(derived.column);
      out_.put(derived.kind);
      if (derived.kind == DerivedColumn::position) continue;
      out_.put_varint(derived.source);
      out_.put(derived.ratio);
    }
  }

  void put_run(Run kind, size_t length) { out_.put_varint(length << 2 | static_cast<size_t>(kind)); }

  void put_rows() {
    // Earlier rows of this observation by their hash: only where there may be many new ones.
    Rows again(*this);
    size_t cursor = 0;
    for (size_t i = 0; i < sizes_.nodes;) {
      size_t length = 1;
      if (alignment_.equal[i]) {
        const auto first = static_cast<size_t>(alignment_.from[i]);
        while (i + length < sizes_.nodes && alignment_.equal[i + length] &&
               alignment_.from[i + length] == static_cast<int32_t>(first + length))
          ++length;
        put_run(first == cursor ? Run::next : Run::moved, length);
        if (first != cursor) out_.put_signed_varint(static_cast<int64_t>(first) - static_cast<int64_t>(cursor));
        cursor = first + length;
      } else if (const size_t found = from_base(i) ? i : again.find(i); found < i) {
        while (i + length < sizes_.nodes && !from_base(i + length) && same_row(i + length, found + length)) ++length;
        put_run(Run::again, length);
        out_.put_varint(i - found);
      } else {
        put_changed(i, cursor);
        spelled_.push_back(i);
      }
      for (size_t k = 0; k < length; ++k) again.add(i + k);
      i += length;
    }
  }

  bool same_row(size_t a, size_t b) const {
    return now_.node_op[a] == now_.node_op[b] && same_features(row(a), row(b), mask(), width_);
  }

  struct Choice {
    Reference kind = Reference::nothing;
    size_t row = 0;
    uint64_t changed = 0;  // bit 0: the operator; bit c + 1: column c
  };

  Choice compare(size_t i, Reference kind, size_t other_row, int32_t op, const float* features) const {
    return {kind, other_row, changed_features(row(i), features, mask(), width_) << 1 | uint64_t{op != now_.node_op[i]}};
  }

  Choice choose(size_t i, size_t cursor) const {
    if (from_base(i)) {
      const auto b = static_cast<size_t>(alignment_.from[i]);
      return compare(i, b == cursor ? Reference::next : Reference::moved, b, base_.node_op[b],
                     row_of(base_, b, width_));
    }
    static constexpr float kZeros[kMaxWidth] = {};
    Choice best = compare(i, Reference::nothing, 0, 0, kZeros);
    size_t changes = static_cast<size_t>(std::popcount(best.changed));
    const auto consider = [&](Reference kind, size_t other_row, int32_t op, const float* features) {
      const size_t count = count_changed(row(i), features, mask(), width_) + (op != now_.node_op[i]);
      if (count >= changes) return;
      best = compare(i, kind, other_row, op, features);
      changes = count;
    };
    for (size_t k = spelled_.size() - std::min(spelled_.size(), kLookBack); k < spelled_.size(); ++k)
      consider(Reference::again, spelled_[k], now_.node_op[spelled_[k]], row(spelled_[k]));
    for (size_t b = 0; b < base_nodes_; ++b) {
      if (base_.node_op[b] == now_.node_op[i])
        consider(Reference::other, b, base_.node_op[b], row_of(base_, b, width_));
    }
    return best;
  }

  void put_changed(size_t i, size_t& cursor) {
    const Choice choice = choose(i, cursor);
    put_run(Run::changed, static_cast<size_t>(choice.kind));
    if (choice.kind == Reference::moved)
      out_.put_signed_varint(static_cast<int64_t>(choice.row) - static_cast<int64_t>(cursor));
    if (choice.kind == Reference::other) out_.put_varint(choice.row);
    if (choice.kind == Reference::again) out_.put_varint(i - choice.row);
    if (from_base(i)) cursor = choice.row + 1;
    out_.put_varint(choice.changed);
    if (choice.changed & 1) out_.put_signed_varint(now_.node_op[i]);
    put_columns(row(i), choice.changed >> 1);
  }

  void put_columns(const float* values, uint64_t changed) {
    for (; changed != 0; changed &= changed - 1) out_.put(values[std::countr_zero(changed)]);
  }

  // How far the derived column is from its formula, for each value of the source, in units in the last place; two bits
  // each: 0, 1, 2 are 0, +1, -1, and 3 is followed, after all, by the number.
  void put_residuals(const std::vector<int64_t>& residuals) {
    for (size_t k = 0; k < residuals.size(); k += 4) {
      uint32_t byte = 0;
      for (size_t j = k; j < std::min(k + 4, residuals.size()); ++j) {
        const uint32_t code = residuals[j] == 0 ? 0 : residuals[j] == 1 ? 1 : residuals[j] == -1 ? 2 : 3;
        byte |= code << 2 * (j - k);
      }
      out_.put(static_cast<uint8_t>(byte));
    }
    for (const int64_t residual : residuals) {
      if (residual < -1 || residual > 1) out_.put_signed_varint(residual);
    }
  }

  const float* edge(const Observation& o, size_t e) const { return o.edge_feat.data() + e * sizes_.edge_width; }
  uint64_t changed_edge(size_t e, const float* features) const {
    return changed_features(edge(now_, e), features, kAllColumns, sizes_.edge_width);
  }

  // Whether the edges into node i are those of its row in the base, from the nodes that their sources have become.
  bool edges_as_before(size_t i) const {
    if (reported_ != nullptr && reported_->kept[i] != 0) return true;
    const size_t first = now_first_[i], count = now_first_[i + 1] - first;
    if (!from_base(i)) return count == 0;
    const auto b = static_cast<size_t>(alignment_.from[i]);
    const size_t base_first = base_first_[b];
    if (base_first_[b + 1] - base_first != count) return false;
    for (size_t k = 0; k < count; ++k) {
      if (to_[base_.edge_src[base_first + k]] != now_.edge_src[first + k]) return false;
    }
    return same_features(edge(now_, first), edge(base_, base_first), count * sizes_.edge_width);
  }

  void put_edges() {
    std::vector<size_t> others;
    for (size_t i = 0; i < sizes_.nodes; ++i) {
      if (!edges_as_before(i)) others.push_back(i);
    }
    out_.put_varint(others.size());
    std::vector<int32_t> last(others.empty() ? 0 : sizes_.nodes, -1);  // edge of this observation from each source
    size_t noted = 0, previous = 0;
    for (const size_t i : others) {
      out_.put_varint(i - previous);
      previous = i + 1;
      out_.put_varint(now_first_[i + 1] - now_first_[i]);
      for (auto e = static_cast<size_t>(now_first_[i]); e < static_cast<size_t>(now_first_[i + 1]); ++e) {
        for (; noted < e; ++noted) last[now_.edge_src[noted]] = static_cast<int32_t>(noted);
        put_edge(i, e, last[now_.edge_src[e]]);
      }
    }
  }

  void put_edge(size_t i, size_t e, int32_t last) {
    static constexpr float kZeros[kMaxWidth] = {};
    const auto source = static_cast<size_t>(now_.edge_src[e]);
    out_.put_signed_varint(static_cast<int64_t>(i) - 1 - static_cast<int64_t>(source));
    EdgeReference kind = EdgeReference::nothing;
    size_t distance = 0;
    uint64_t changed = changed_edge(e, kZeros);
    size_t changes = static_cast<size_t>(std::popcount(changed));
    const auto consider = [&](EdgeReference other, const float* features, size_t d) {
      const size_t count = count_changed(edge(now_, e), features, kAllColumns, sizes_.edge_width);
      if (count >= changes) return;
      kind = other;
      changed = changed_edge(e, features);
      changes = count;
      distance = d;
    };
    if (from_base(i)) {
      const auto b = static_cast<size_t>(alignment_.from[i]);
      const size_t at = base_first_[b] + (e - now_first_[i]);
      if (at < static_cast<size_t>(base_first_[b + 1])) consider(EdgeReference::place, edge(base_, at), 0);
    }
    if (last >= 0) {
      consider(EdgeReference::source, edge(now_, last), 0);
    } else if (from_base(source)) {
      const auto found = std::find(base_.edge_src.begin(), base_.edge_src.end(), alignment_.from[source]);
      if (found != base_.edge_src.end())
        consider(EdgeReference::source, edge(base_, found - base_.edge_src.begin()), 0);
    }
    for (size_t d = 1; d <= std::min(e, kLookBack) && changed != 0; ++d)
      consider(EdgeReference::again, edge(now_, e - d), d);
    for (size_t b = 0; b < base_.edge_src.size() && changed != 0; ++b)
      consider(EdgeReference::other, edge(base_, b), b);
    out_.put_varint(changed << 3 | static_cast<uint64_t>(kind));
    if (kind == EdgeReference::again || kind == EdgeReference::other) out_.put_varint(distance);
    put_columns(edge(now_, e), changed);
  }

  void put_globals() {
    static constexpr float kZeros[kMaxWidth] = {};
    const float* before = base_.globals.empty() ? kZeros : base_.globals.data();
    const uint64_t changed = changed_features(now_.globals.data(), before, kAllColumns, sizes_.globals);
    out_.put_varint(changed);
    put_columns(now_.globals.data(), changed);
  }

  // Earlier rows that are new, by what is in them.
  class Rows {
   public:
    explicit Rows(const Encoder& encoder) : encoder_(encoder) {}
    // An earlier row that is the same, or i.
    size_t find(size_t i) const {
      const auto found = rows_.find(hash(i));
      return found != rows_.end() && encoder_.same_row(i, found->second) ? found->second : i;
    }
    void add(size_t i) {
      if (!encoder_.from_base(i)) rows_[hash(i)] = i;
    }

   private:
    uint64_t hash(size_t i) const { return hash_row(encoder_.now_, i, encoder_.width_, encoder_.mask()); }
    const Encoder& encoder_;
    std::map<uint64_t, size_t> rows_;
  };

  static constexpr auto kAll = [] {
    std::array<uint32_t, kMaxWidth> mask{};
    mask.fill(~uint32_t{0});
    return mask;
  }();
  static constexpr const uint32_t* kAllColumns = kAll.data();

  const Observation& base_;
  const size_t base_nodes_;
  const std::vector<int32_t>& base_first_;
  const Observation& now_;
  const Sizes& sizes_;
  const std::vector<int32_t>& now_first_;
  const Changes* reported_;
  ByteWriter& out_;
  const size_t width_;
  const bool locations_of_base_;  // whether they are coded as those of the base do
  Alignment alignment_;
  std::vector<int32_t> to_;      // [base nodes] row that a row of the base has become, or -1
  std::vector<size_t> spelled_;  // rows spelled out so far
};

}  // namespace

void put_coded(const Observation* base, const Facts& base_facts, const Observation& now, const Facts& facts,
               const Changes* reported, Relations& relations, ByteWriter& out) {
  if (!facts.in_order) {
    const bool detailed = !now.loc_feat.empty() || !now.loc_rest_end.empty() || !now.loc_rest.empty();
    out.put(detailed ? CodeKind::whole_detailed : CodeKind::whole);
    put_whole(now, detailed, out);
    return;
  }
  static const Observation kNothing;
  static const Facts kNoFacts{true, {}, {0}};
  const bool usable = base != nullptr && base_facts.in_order && base_facts.sizes.same_widths(facts.sizes) &&
                      (base_facts.sizes.nodes > 0) == (facts.sizes.nodes > 0);
  out.put(facts.sizes.detailed() ? CodeKind::difference_detailed : CodeKind::difference);
  Encoder(usable ? *base : kNothing, usable ? base_facts : kNoFacts, now, facts, usable ? reported : nullptr, out)
      .run(relations);
}

}  // namespace rlgo::mdp
