#include <algorithm>

#include "core/base/error.h"
#include "core/codec/observation_code.h"
#include "core/codec/observation_parts.h"
#include "core/codec/signed_number.h"

namespace rlgo::mdp {
namespace {

Observation get_whole(ByteReader& in, bool detailed) {
  Observation o;
  o.node_op = in.get_vector<int32_t>();
  o.node_feat = in.get_vector<float>();
  o.edge_src = in.get_vector<int32_t>();
  o.edge_dst = in.get_vector<int32_t>();
  o.edge_feat = in.get_vector<float>();
  o.globals = in.get_vector<float>();
  o.counts = in.get_vector<int32_t>();
  o.loc_node = in.get_vector<int32_t>();
  if (!detailed) return o;
  o.loc_feat = in.get_vector<float>();
  o.loc_rest_end = in.get_vector<int32_t>();
  o.loc_rest = in.get_vector<int32_t>();
  return o;
}

Sizes get_sizes(ByteReader& in, bool detailed) {
  Sizes sizes;
  sizes.nodes = get_at_most(in, "number of nodes", kMaxNodes);
  sizes.node_width = get_at_most(in, "width of nodes", kMaxWidth);
  sizes.edges = get_at_most(in, "number of edges", kMaxEdges);
  sizes.edge_width = get_at_most(in, "width of edges", kMaxWidth);
  sizes.globals = get_at_most(in, "number of global features", kMaxWidth);
  sizes.rules = get_at_most(in, "number of rules", kMaxNodes);
  if (!detailed) return sizes;
  const size_t details = get_at_most(in, "width of locations", 2 * kMaxWidth + 1);
  sizes.location_width = details >> 1;
  sizes.rest = (details & 1) != 0;
  return sizes;
}

class Decoder {
 public:
  Decoder(const Observation* base, bool detailed, ByteReader& in)
      : in_(in), sizes_(get_sizes(in, detailed)), width_(sizes_.node_width) {
    Sizes base_sizes;
    if (base == nullptr || !in_order(*base, &base_sizes) || !base_sizes.same_widths(sizes_) ||
        (base_sizes.nodes > 0) != (sizes_.nodes > 0))
      return;
    base_ = base;
    base_nodes_ = base_sizes.nodes;
    locations_of_base_ = base_sizes.location_width == sizes_.location_width && base_sizes.rest == sizes_.rest;
  }

  Observation run() {
    get_derived();
    get_rows();
    for (const auto& derived : derived_) fill(derived);
    to_.assign(base_nodes_, -1);
    for (size_t i = 0; i < sizes_.nodes; ++i) {
      if (from_[i] >= 0) to_[static_cast<size_t>(from_[i])] = static_cast<int32_t>(i);
    }
    get_edges();
    get_locations(locations_of_base_ ? base_ : nullptr, to_, sizes_, in_, now_);
    get_globals();
    return std::move(now_);
  }

 private:
  void get_derived() {
    derived_.resize(get_at_most(in_, "number of derived columns", width_));
    std::vector<uint8_t> seen(width_);
    for (auto& derived : derived_) {
      derived.column = get_index(in_, "derived column", width_);
      derived.kind = in_.get<DerivedColumn::Kind>();
      if (std::exchange(seen[derived.column], 1)) fail("observation code: column {} is derived twice", derived.column);
      if (derived.kind == DerivedColumn::position) continue;
      if (derived.kind != DerivedColumn::proportional)
        fail("observation code: a derived column of kind {}", static_cast<int>(derived.kind));
      derived.source = get_index(in_, "source of a derived column", width_);
      derived.ratio = in_.get<double>();
    }
  }

  // Appends a row; -1: it stands for no row of the base.
  void append(int32_t op, const float* features, int32_t from) {
    now_.node_op.push_back(op);
    now_.node_feat.insert(now_.node_feat.end(), features, features + width_);
    from_.push_back(from);
  }
  void append_from_base(size_t b, bool same_node) {
    append(base_->node_op[b], base_->node_feat.data() + b * width_, same_node ? static_cast<int32_t>(b) : -1);
  }
  void append_again(size_t row) {
    const std::vector<float> features(now_.node_feat.begin() + static_cast<std::ptrdiff_t>(row * width_),
                                      now_.node_feat.begin() + static_cast<std::ptrdiff_t>((row + 1) * width_));
    append(now_.node_op[row], features.data(), -1);
  }
  size_t rows() const { return now_.node_op.size(); }

  void get_rows() {
    now_.node_op.reserve(sizes_.nodes);
    now_.node_feat.reserve(sizes_.nodes * width_);
    from_.reserve(sizes_.nodes);
    while (rows() < sizes_.nodes) {
      const uint64_t head = in_.get_varint();
      const auto kind = static_cast<Run>(head & 3);
      const uint64_t length = head >> 2;
      if (kind == Run::changed) {
        get_changed(length);
        continue;
      }
      if (length == 0 || length > sizes_.nodes - rows())
        fail("observation code: a run of {} nodes where {} are left", length, sizes_.nodes - rows());
      if (kind == Run::again) {
        const size_t distance = get_at_most(in_, "distance of a row", rows());
        if (distance == 0) fail("observation code: a row that refers to itself");
        for (uint64_t k = 0; k < length; ++k) append_again(rows() - distance);
        continue;
      }
      if (kind == Run::moved) move_cursor();
      if (cursor_ > base_nodes_ || length > base_nodes_ - cursor_)
        fail("observation code: rows {} to {} of a base of {}", cursor_, cursor_ + length, base_nodes_);
      for (uint64_t k = 0; k < length; ++k) append_from_base(cursor_++, true);
    }
  }

  void move_cursor() {
    cursor_ =
        checked(get_signed(in_, "a move to a row") + static_cast<int64_t>(cursor_), "row of the base", base_nodes_);
  }

  void get_changed(uint64_t reference) {
    static constexpr float kZeros[kMaxWidth] = {};
    switch (static_cast<Reference>(std::min<uint64_t>(reference, 255))) {
      case Reference::moved:
        move_cursor();
        [[fallthrough]];
      case Reference::next:
        if (cursor_ >= base_nodes_) fail("observation code: row {} of a base of {}", cursor_, base_nodes_);
        append_from_base(cursor_++, true);
        break;
      case Reference::other:
        append_from_base(get_index(in_, "row of the base", base_nodes_), false);
        break;
      case Reference::again: {
        const size_t distance = get_at_most(in_, "distance of a row", rows());
        if (distance == 0) fail("observation code: a row that refers to itself");
        append_again(rows() - distance);
        break;
      }
      case Reference::nothing:
        append(0, kZeros, -1);
        break;
      default:
        fail("observation code: a row with reference {}", reference);
    }
    const uint64_t changed = in_.get_varint();
    if (changed & 1) now_.node_op.back() = static_cast<int32_t>(get_signed(in_, "an operator"));
    get_columns(changed >> 1, width_, now_.node_feat.data() + now_.node_feat.size() - width_);
  }

  void get_columns(uint64_t changed, size_t width, float* values) {
    if (changed >> width != 0) fail("observation code: changes in columns beyond {}", width);
    for (; changed != 0; changed &= changed - 1) values[std::countr_zero(changed)] = in_.get<float>();
  }

  void fill(const DerivedColumn& derived) {
    float* column = now_.node_feat.data() + derived.column;
    if (derived.kind == DerivedColumn::position) {
      for (size_t i = 0; i < sizes_.nodes; ++i) column[i * width_] = position_of(i, sizes_.nodes);
      return;
    }
    const float* source = now_.node_feat.data() + derived.source;
    Values values(sizes_.nodes);
    std::vector<uint32_t> numbers(sizes_.nodes);
    std::vector<float> different;
    for (size_t i = 0; i < sizes_.nodes; ++i) {
      bool added = false;
      numbers[i] = values.number(source[i * width_], &added);
      if (added) different.push_back(source[i * width_]);
    }
    const auto results = get_residuals(different, derived.ratio);
    for (size_t i = 0; i < sizes_.nodes; ++i) column[i * width_] = results[numbers[i]];
  }

  std::vector<float> get_residuals(const std::vector<float>& sources, double ratio) {
    std::vector<uint8_t> codes(sources.size());
    uint8_t byte = 0;
    for (size_t k = 0; k < codes.size(); ++k) {
      if (k % 4 == 0) byte = in_.get<uint8_t>();
      codes[k] = static_cast<uint8_t>(byte >> 2 * (k % 4) & 3);
    }
    std::vector<float> results;
    for (size_t k = 0; k < codes.size(); ++k) {
      static constexpr int64_t kResiduals[] = {0, 1, -1};
      const int64_t residual = codes[k] < 3 ? kResiduals[codes[k]] : get_signed(in_, "a residual", int64_t{1} << 33);
      results.push_back(float_of(rank_of(proportional(sources[k], ratio)) + residual));
    }
    return results;
  }

  void append_edge(size_t source, size_t node, const float* features) {
    now_.edge_src.push_back(static_cast<int32_t>(source));
    now_.edge_dst.push_back(static_cast<int32_t>(node));
    now_.edge_feat.insert(now_.edge_feat.end(), features, features + sizes_.edge_width);
    last_[source] = static_cast<int32_t>(now_.edge_src.size() - 1);
  }
  const float* base_edge(size_t e) const { return base_->edge_feat.data() + e * sizes_.edge_width; }

  void get_edges() {
    base_first_ = base_ == nullptr ? std::vector<int32_t>{0} : first_edges(*base_, base_nodes_);
    last_.assign(sizes_.nodes, -1);
    size_t others = get_at_most(in_, "number of nodes with new edges", sizes_.nodes);
    size_t next = others > 0 ? get_index(in_, "node with new edges", sizes_.nodes) : sizes_.nodes;
    for (size_t i = 0; i < sizes_.nodes; ++i) {
      if (i != next) {
        edges_as_before(i);
        continue;
      }
      const size_t count =
          get_at_most(in_, "number of edges into a node", sizes_.edges - std::min(sizes_.edges, now_.edge_src.size()));
      for (size_t k = 0; k < count; ++k) get_edge(i, k);
      if (--others > 0) next = i + 1 + get_index(in_, "node with new edges", sizes_.nodes - i - 1);
    }
    if (now_.edge_src.size() != sizes_.edges)
      fail("observation code: {} edges, not {}", now_.edge_src.size(), sizes_.edges);
  }

  void edges_as_before(size_t i) {
    if (from_[i] < 0) return;
    const auto b = static_cast<size_t>(from_[i]);
    for (auto e = static_cast<size_t>(base_first_[b]); e < static_cast<size_t>(base_first_[b + 1]); ++e) {
      const int32_t source = to_[static_cast<size_t>(base_->edge_src[e])];
      if (source < 0) fail("observation code: an edge of node {} comes from a node that is gone", i);
      append_edge(static_cast<size_t>(source), i, base_edge(e));
    }
  }

  void get_edge(size_t i, size_t place) {
    const size_t source =
        checked(static_cast<int64_t>(i) - 1 - get_signed(in_, "a step to a source"), "source of an edge", sizes_.nodes);
    const uint64_t head = in_.get_varint();
    append_edge_like(i, place, source, head & 7);
    get_columns(head >> 3, sizes_.edge_width, now_.edge_feat.data() + now_.edge_feat.size() - sizes_.edge_width);
  }

  void append_edge_like(size_t i, size_t place, size_t source, uint64_t kind) {
    const size_t edges = now_.edge_src.size();
    float features[kMaxWidth] = {};
    const auto copy = [&](const float* from) { std::copy_n(from, sizes_.edge_width, features); };
    const auto base_edges = base_ == nullptr ? 0 : base_->edge_src.size();
    if (kind == static_cast<uint64_t>(EdgeReference::place)) {
      if (from_[i] < 0) fail("observation code: node {} has no edges to refer to", i);
      const auto b = static_cast<size_t>(from_[i]);
      const size_t count = static_cast<size_t>(base_first_[b + 1] - base_first_[b]);
      copy(base_edge(static_cast<size_t>(base_first_[b]) +
                     checked(static_cast<int64_t>(place), "place of an edge", count)));
    } else if (kind == static_cast<uint64_t>(EdgeReference::source)) {
      if (last_[source] >= 0) {
        copy(now_.edge_feat.data() + static_cast<size_t>(last_[source]) * sizes_.edge_width);
      } else {
        const size_t found =
            from_[source] < 0
                ? base_edges
                : static_cast<size_t>(std::find(base_->edge_src.begin(), base_->edge_src.end(), from_[source]) -
                                      base_->edge_src.begin());
        if (found == base_edges) fail("observation code: node {} has no edges to refer to", source);
        copy(base_edge(found));
      }
    } else if (kind == static_cast<uint64_t>(EdgeReference::again)) {
      const size_t distance = get_at_most(in_, "distance of an edge", edges);
      if (distance == 0) fail("observation code: an edge that refers to itself");
      copy(now_.edge_feat.data() + (edges - distance) * sizes_.edge_width);
    } else if (kind == static_cast<uint64_t>(EdgeReference::other)) {
      copy(base_edge(get_index(in_, "edge of the base", base_edges)));
    } else if (kind != static_cast<uint64_t>(EdgeReference::nothing)) {
      fail("observation code: an edge with reference {}", kind);
    }
    append_edge(source, i, features);
  }

  void get_globals() {
    now_.globals.assign(sizes_.globals, 0.0f);
    if (base_ != nullptr) now_.globals = base_->globals;
    get_columns(in_.get_varint(), sizes_.globals, now_.globals.data());
  }

  ByteReader& in_;
  const Sizes sizes_;
  const size_t width_;
  const Observation* base_ = nullptr;
  size_t base_nodes_ = 0;
  bool locations_of_base_ = false;  // whether there are some that hold as much as these
  size_t cursor_ = 0;               // row of the base
  Observation now_;
  std::vector<DerivedColumn> derived_;
  std::vector<int32_t> from_, to_, base_first_;
  std::vector<int32_t> last_;  // [nodes] last edge from each source
};

}  // namespace

Observation decode_observation(const Observation* base, ByteReader& in) {
  switch (const auto kind = in.get<CodeKind>(); kind) {
    case CodeKind::whole:
    case CodeKind::whole_detailed:
      return get_whole(in, kind == CodeKind::whole_detailed);
    case CodeKind::difference:
    case CodeKind::difference_detailed:
      return Decoder(base, kind == CodeKind::difference_detailed, in).run();
    default:
      fail("observation code: kind {}, known are 0 to 3", static_cast<int>(kind));
  }
}

}  // namespace rlgo::mdp
