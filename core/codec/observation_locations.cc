// Locations in the code of an observation: lists of matches, most of them as in the base.
#include <algorithm>
#include <array>

#include "core/codec/observation_align.h"
#include "core/codec/signed_number.h"

namespace rlgo::mdp {
namespace {

constexpr size_t kLookAhead = 48;  // locations that may be skipped at once

constexpr auto kAll = [] {
  std::array<uint32_t, kMaxWidth> mask{};
  mask.fill(~uint32_t{0});
  return mask;
}();

class LocationEncoder {
 public:
  LocationEncoder(const Observation& base, bool use_base, const std::vector<int32_t>& to, const Observation& now,
                  const Sizes& sizes, ByteWriter& out)
      : base_(base), use_base_(use_base), to_(to), now_(now), sizes_(sizes), out_(out) {}

  void run() {
    struct Other {
      size_t rule, base_at, at;
    };
    std::vector<Other> others;
    size_t base_at = 0, at = 0;
    const int32_t *counts = now_.counts.data(), *base_counts = base_.counts.data();
    for (size_t x = 0; x < sizes_.rules; ++x) {
      const auto before = use_base_ ? static_cast<size_t>(base_counts[x]) : 0;
      const auto count = static_cast<size_t>(counts[x]);
      if (before == 0 && count == 0) continue;
      bool same = before == count;
      for (size_t k = 0; same && k < count && sizes_.nodes > 0; ++k) same = same_location(base_at + k, at + k);
      if (!same) others.push_back({x, base_at, at});
      base_at += before;
      at += count;
    }
    out_.put_varint(others.size());
    size_t previous = 0;
    std::vector<size_t> before;  // of the base, that live on
    for (const auto& other : others) {
      out_.put_varint(other.rule - previous);
      previous = other.rule + 1;
      const int64_t count = now_.counts[other.rule], base_count = use_base_ ? base_.counts[other.rule] : 0;
      out_.put_signed_varint(count - base_count);
      if (sizes_.nodes == 0) continue;
      before.clear();
      for (size_t k = 0; k < static_cast<size_t>(base_count); ++k) {
        if (survives(other.base_at + k)) before.push_back(other.base_at + k);
      }
      put_list(before, other.at, static_cast<size_t>(count));
    }
  }

 private:
  // Whether a location of the base is, translated, a location of this observation.
  bool same_location(size_t before, size_t now) const {
    if (to_[base_.loc_node[before]] != now_.loc_node[now]) return false;
    const auto base_rest = rest_of(base_, before), rest = rest_of(now_, now);
    if (base_rest.size() != rest.size()) return false;
    for (size_t k = 0; k < rest.size(); ++k) {
      if (to_[base_rest[k]] != rest[k]) return false;
    }
    const size_t width = sizes_.location_width;
    return same_features(base_.loc_feat.data() + before * width, now_.loc_feat.data() + now * width, width);
  }
  // Whether all of its nodes are still there.
  bool survives(size_t before) const {
    const auto rest = rest_of(base_, before);
    return to_[base_.loc_node[before]] >= 0 && std::ranges::all_of(rest, [&](int32_t n) { return to_[n] >= 0; });
  }

  // The `count` locations from `first` on as copies from those of the base: copy c of them, skip s of them, insert n
  // new ones, and so on until it is full.
  void put_list(const std::vector<size_t>& before, size_t first, size_t count) {
    size_t at = 0, b = 0;
    const auto ahead = [&](size_t location) {  // how many to skip to get to it; kLookAhead: too many
      const size_t limit = std::min(kLookAhead, before.size() - b);
      for (size_t k = 0; k < limit; ++k) {
        if (same_location(before[b + k], location)) return k;
      }
      return kLookAhead;
    };
    while (at < count) {
      size_t copies = 0;
      while (at + copies < count && b + copies < before.size() &&
             same_location(before[b + copies], first + at + copies))
        ++copies;
      out_.put_varint(copies);
      at += copies;
      b += copies;
      if (at == count) return;
      size_t inserted = 0, skipped = kLookAhead;
      while (at + inserted < count && (skipped = ahead(first + at + inserted)) == kLookAhead) ++inserted;
      if (skipped == kLookAhead) skipped = 0;
      out_.put_varint(skipped);
      out_.put_varint(inserted);
      for (size_t k = 0; k < inserted; ++k) put_location(first + at + k, at + k == 0);
      at += inserted;
      b += skipped;
    }
  }

  // A location against the one before it in its list.
  void put_location(size_t location, bool first) {
    const int32_t node = now_.loc_node[location];
    out_.put_signed_varint(int64_t{node} - (first ? 0 : now_.loc_node[location - 1]));
    if (sizes_.rest) {
      const auto rest = rest_of(now_, location);
      out_.put_varint(rest.size());
      for (const int32_t other : rest) out_.put_signed_varint(int64_t{other} - node);
    }
    if (sizes_.location_width == 0) return;
    static constexpr float kZeros[kMaxWidth] = {};
    const float* row = now_.loc_feat.data() + location * sizes_.location_width;
    const uint64_t changed =
        changed_features(row, first ? kZeros : row - sizes_.location_width, kAll.data(), sizes_.location_width);
    out_.put_varint(changed);
    for (uint64_t left = changed; left != 0; left &= left - 1) out_.put(row[std::countr_zero(left)]);
  }

  const Observation& base_;
  const bool use_base_;
  const std::vector<int32_t>& to_;
  const Observation& now_;
  const Sizes& sizes_;
  ByteWriter& out_;
};

class LocationDecoder {
 public:
  LocationDecoder(const Observation* base, const std::vector<int32_t>& to, const Sizes& sizes, ByteReader& in,
                  Observation& now)
      : base_(base), to_(to), sizes_(sizes), in_(in), now_(now) {}

  void run() {
    size_t others = get_at_most(in_, "number of rules with new locations", sizes_.rules);
    size_t next = others > 0 ? get_index(in_, "rule with new locations", sizes_.rules) : sizes_.rules;
    size_t base_at = 0, total = 0;
    std::vector<size_t> before;  // of the base, that live on
    now_.counts.reserve(sizes_.rules);
    for (size_t x = 0; x < sizes_.rules; ++x) {
      const auto base_count = base_ != nullptr ? static_cast<size_t>(base_->counts[x]) : 0;
      size_t count = base_count;
      if (x == next)
        count = checked(get_signed(in_, "a change of a number of locations") + static_cast<int64_t>(base_count),
                        "number of locations", (sizes_.nodes > 0 ? kMaxLocations - total : INT32_MAX) + 1);
      now_.counts.push_back(static_cast<int32_t>(count));
      if (sizes_.nodes > 0) {
        before.clear();
        for (size_t k = base_at; k < base_at + base_count; ++k) {
          if (survives(k)) {
            before.push_back(k);
          } else if (x != next) {
            fail("observation code: a location of rule {} is at a node that is gone", x);
          }
        }
        if (x == next) {
          get_list(before, count);
        } else if (base_ != nullptr) {
          for (const size_t k : before) copy_location(k);
        }
        total += count;
        base_at += base_count;
      }
      if (x == next && --others > 0) next = x + 1 + get_index(in_, "rule with new locations", sizes_.rules - x - 1);
    }
  }

 private:
  bool survives(size_t location) const {
    const auto lives = [&](int32_t node) { return to_[static_cast<size_t>(node)] >= 0; };
    return lives(base_->loc_node[location]) && std::ranges::all_of(rest_of(*base_, location), lives);
  }

  void copy_location(size_t location) {
    const auto here = [&](int32_t node) { return to_[static_cast<size_t>(node)]; };
    now_.loc_node.push_back(here(base_->loc_node[location]));
    const float* row = base_->loc_feat.data() + location * sizes_.location_width;
    now_.loc_feat.insert(now_.loc_feat.end(), row, row + sizes_.location_width);
    for (const int32_t node : rest_of(*base_, location)) now_.loc_rest.push_back(here(node));
    end_rest();
  }

  void end_rest() {
    if (!sizes_.rest) return;
    if (now_.loc_rest.size() > kMaxLocations) fail("observation code: more than {} matched nodes", kMaxLocations);
    now_.loc_rest_end.push_back(static_cast<int32_t>(now_.loc_rest.size()));
  }

  void get_list(const std::vector<size_t>& before, size_t count) {
    size_t left = count, b = 0;
    const auto take = [&](std::string_view what, size_t limit) { return get_at_most(in_, what, limit); };
    const size_t start = now_.loc_node.size();
    while (left > 0) {
      const size_t copies = take("number of copied locations", std::min(left, before.size() - b));
      for (size_t k = 0; k < copies; ++k) copy_location(before[b + k]);
      b += copies;
      left -= copies;
      if (left == 0) return;
      b += take("number of skipped locations", before.size() - b);
      for (size_t inserted = take("number of new locations", left); inserted > 0; --inserted, --left)
        get_location(now_.loc_node.size() == start);
    }
  }

  void get_location(bool first) {
    const int64_t previous = first ? 0 : now_.loc_node.back();
    const size_t node = checked(previous + get_signed(in_, "a step to a node"), "node of a location", sizes_.nodes);
    now_.loc_node.push_back(static_cast<int32_t>(node));
    if (sizes_.rest) {
      for (size_t k = get_at_most(in_, "number of matched nodes", kMaxLocations - now_.loc_rest.size()); k > 0; --k) {
        now_.loc_rest.push_back(static_cast<int32_t>(
            checked(static_cast<int64_t>(node) + get_signed(in_, "a step to a node"), "matched node", sizes_.nodes)));
      }
    }
    end_rest();
    const size_t width = sizes_.location_width;
    if (width == 0) return;
    now_.loc_feat.resize(now_.loc_feat.size() + width);
    float* row = now_.loc_feat.data() + now_.loc_feat.size() - width;
    if (!first) std::copy_n(row - width, width, row);
    uint64_t changed = in_.get_varint();
    if (changed >> width != 0) fail("observation code: changes in columns beyond {} of a location", width);
    for (; changed != 0; changed &= changed - 1) row[std::countr_zero(changed)] = in_.get<float>();
  }

  const Observation* base_;
  const std::vector<int32_t>& to_;
  const Sizes& sizes_;
  ByteReader& in_;
  Observation& now_;
};

}  // namespace

void put_locations(const Observation& base, bool use_base, const std::vector<int32_t>& to, const Observation& now,
                   const Sizes& sizes, ByteWriter& out) {
  LocationEncoder(base, use_base, to, now, sizes, out).run();
}

void get_locations(const Observation* base, const std::vector<int32_t>& to, const Sizes& sizes, ByteReader& in,
                   Observation& now) {
  LocationDecoder(base, to, sizes, in, now).run();
}

}  // namespace rlgo::mdp
