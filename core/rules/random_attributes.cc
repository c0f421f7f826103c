#include "core/rules/random_attributes.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "core/ops/moves.h"
#include "core/ops/windows.h"

namespace rlgo::rules {

using ops::Attr;
using ops::Ints;
using ops::Op;
using ops::Shape;

RandomAttributes::RandomAttributes(Rng& rng) : rng_(rng) {
  const int64_t count = between(1, 3);
  for (int64_t k = 0; k < count; ++k) extents_.push_back(between(1, 4));
  image_ = between(3, 7);
}

void RandomAttributes::vary_axes() { axes_ = static_cast<size_t>(chance(50) ? 2 : chance(70) ? 1 : 3); }

void RandomAttributes::ask(const std::vector<int64_t>& extents) {
  constexpr int64_t kMost = 64;  // larger ones make instances that are slow to check
  for (const int64_t extent : extents) {
    if (extent >= 1 && extent <= kMost && chance(50)) extents_.push_back(extent);
  }
}

Ints RandomAttributes::permutation(int64_t rank) {
  Ints perm(static_cast<size_t>(rank));
  std::iota(perm.begin(), perm.end(), 0);
  if (rank >= 2 && chance(40)) {
    std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
    return perm;
  }
  for (size_t k = perm.size(); k > 1; --k) std::swap(perm[k - 1], perm[rng_.below(k)]);
  return perm;
}

// More elements where there is one, and axes in front.
Ints RandomAttributes::expanded(const Shape& from) {
  Ints to(from.begin(), from.end());
  for (auto& length : to) length = length == 1 && chance(70) ? extent() : length;
  while (to.size() < 4 && chance(30)) to.insert(to.begin(), extent());
  return to;
}

Ints RandomAttributes::regrouped(const Shape& from) {
  Ints to(from.begin(), from.end());
  for (int round = 0; round < 2; ++round) {
    const uint64_t kind = rng_.below(5);
    if (kind == 0 && to.size() >= 2) {  // merge two neighbours
      const size_t at = rng_.below(to.size() - 1);
      to[at] *= to[at + 1];
      to.erase(to.begin() + static_cast<ptrdiff_t>(at) + 1);
    } else if (kind == 1 && !to.empty()) {  // take an even extent apart
      const size_t at = rng_.below(to.size());
      if (to[at] % 2 == 0) {
        to[at] /= 2;
        to.insert(to.begin() + static_cast<ptrdiff_t>(at), 2);
      }
    } else if (kind == 2) {
      to.insert(to.begin() + static_cast<ptrdiff_t>(rng_.below(to.size() + 1)), 1);
    } else if (kind == 3 && to.size() >= 2) {  // flatten
      to = {to[0], std::accumulate(to.begin() + 1, to.end(), int64_t{1}, std::multiplies<>())};
    }
  }
  return to;
}

Ints RandomAttributes::window_list(const Draft& draft, Attr key) {
  const size_t axes = axes_of(draft);
  if (key == Attr::output_padding) return Ints(axes, 0);
  Ints made(axes, 1);
  if (chance(key == Attr::strides ? 60 : key == Attr::dilations ? 75 : 20)) return made;
  for (auto& item : made) item = between(1, key == Attr::kernel ? 3 : 2);
  return made;
}

// All begins, then all ends.
Ints RandomAttributes::window_pads(const Ints& window, bool below_window) {
  const size_t axes = window.size();
  Ints pads(2 * axes, 0);
  if (chance(40)) return pads;
  const bool same = chance(60);
  for (size_t d = 0; d < axes; ++d) {
    const int64_t most = below_window ? std::min<int64_t>(window[d] - 1, 2) : 2;
    pads[d] = same ? (window[d] - 1) / 2 : between(0, most);
    pads[d + axes] = same ? pads[d] : between(0, most);
  }
  return pads;
}

std::optional<ops::AttrValue> RandomAttributes::split_sizes(const Draft& draft, const Shape& input) {
  const int64_t axis = draft.attrs.i(Attr::axis);
  if (axis < 0 || axis >= std::ssize(input)) return std::nullopt;
  int64_t rest = input[static_cast<size_t>(axis)];
  const auto wanted = draft.wanted_lengths.find(Attr::sizes);
  const auto count = wanted == draft.wanted_lengths.end() ? between(1, 3) : static_cast<int64_t>(wanted->second);
  Ints sizes;
  for (int64_t k = 0; k + 1 < count; ++k) {
    sizes.push_back(between(0, rest));
    rest -= sizes.back();
  }
  sizes.push_back(rest);
  return std::ranges::find(sizes, 0) == sizes.end() ? std::optional<ops::AttrValue>(sizes) : std::nullopt;
}

std::optional<ops::AttrValue> RandomAttributes::slice_list(const Draft& draft, const Shape& input, Attr key) {
  Ints out;
  const auto& axes = draft.attrs.ints(Attr::axes);
  for (size_t k = 0; k < axes.size(); ++k) {
    if (axes[k] < 0 || axes[k] >= std::ssize(input)) return std::nullopt;
    const int64_t extent = input[static_cast<size_t>(axes[k])];
    if (key == Attr::steps) out.push_back(chance(80) ? 1 : 2);
    if (key == Attr::ends) out.push_back(chance(50) ? extent : between(1, std::max<int64_t>(extent, 1)));
    if (key == Attr::starts)
      out.push_back(chance(50) ? 0 : between(0, std::max<int64_t>(draft.attrs.ints(Attr::ends)[k] - 1, 0)));
  }
  return out;
}

std::optional<ops::AttrValue> RandomAttributes::list_attribute(const Draft& draft, Attr key) {
  const bool has_input = !draft.types.empty() && draft.types[0];
  const Shape input = has_input ? draft.types[0]->shape : Shape();
  const auto rank = static_cast<int64_t>(input.size());
  if (ops::is_window_list(key) && key != Attr::pads) return window_list(draft, key);
  switch (key) {
    case Attr::pads: {
      if (draft.op == Op::conv_transpose) {
        Ints ends(2 * axes_of(draft), 0);
        if (!chance(50)) ends.front() = ends.back() = 1;
        return ends;
      }
      if (draft.op == Op::conv2d) {
        const Shape& w = draft.types[1]->shape;
        return window_pads({w.begin() + std::min<ptrdiff_t>(2, std::ssize(w)), w.end()}, false);
      }
      if (draft.op != Op::pad) return window_pads(draft.attrs.ints(Attr::kernel), true);
      Ints pads(2 * input.size(), 0);
      for (size_t d = 0; d < pads.size(); ++d)
        pads[d] = (rank == 4 && d % 4 < 2 && chance(80)) || chance(30) ? 0 : between(0, 2);
      return pads;
    }
    case Attr::perm:
      return permutation(rank);
    case Attr::shape:
      return draft.op == Op::expand ? expanded(input) : regrouped(input);
    case Attr::axes: {
      if (rank == 4 && draft.op != Op::slice && chance(50)) return Ints{2, 3};
      Ints axes;
      for (int64_t d = 0; d < rank; ++d) {
        if (chance(40)) axes.push_back(d);
      }
      return axes;
    }
    case Attr::sizes:
      return split_sizes(draft, input);
    case Attr::ends:
    case Attr::starts:
    case Attr::steps:
      return slice_list(draft, input, key);
    default:
      return std::nullopt;
  }
}

std::optional<ops::AttrValue> RandomAttributes::word(Op op, Attr key) {
  constexpr std::array<const char*, 8> kActs{"none", "none", "none", "relu", "sigmoid", "tanh", "gelu", "hard_swish"};
  switch (key) {
    case Attr::act:
      return std::string(kActs[rng_.below(kActs.size())]);
    case Attr::approximate:
      return std::string(chance(50) ? "none" : "tanh");
    case Attr::to:
      return std::string("f32");
    case Attr::mode:
      return std::string(op == Op::resize ? "nearest" : chance(50) ? "DCR" : "CRD");
    case Attr::coordinates:
      return std::string(chance(50) ? "asymmetric" : "half_pixel");
    case Attr::rounding:
      return std::string(chance(50) ? "floor" : "round_prefer_floor");
    default:
      return std::nullopt;
  }
}

std::optional<ops::AttrValue> RandomAttributes::number(Op op, Attr key) {
  switch (key) {
    case Attr::group:
      return chance(70) ? int64_t{1} : between(2, 3);
    case Attr::ceil_mode:
      return static_cast<int64_t>(chance(25) ? 1 : 0);
    case Attr::count_include_pad:
    case Attr::keepdims:
    case Attr::causal:
    case Attr::select_last:
    case Attr::exclusive:
    case Attr::reset_after:
    case Attr::reverse:
    case Attr::upper:
      return static_cast<int64_t>(rng_.below(2));
    case Attr::fmod:
      return int64_t{1};
    case Attr::order:
    case Attr::blocksize:
      return between(1, 2);
    case Attr::heads:
    case Attr::kv_heads:
      return int64_t{0};
    case Attr::gates:
      return std::array<int64_t, 3>{1, 3, 4}[rng_.below(3)];
    case Attr::scale:
      return 0.25 * static_cast<double>(between(1, 4));
    case Attr::softcap:
      return chance(70) ? 0.0 : 2.0;
    case Attr::diagonal:
      return between(-1, 1);
    case Attr::gamma:
      return 0.5 * static_cast<double>(between(1, 4));
    case Attr::eps:
      return chance(50) ? 1e-5 : 1e-3;
    case Attr::min:
      return chance(40) ? 0.0 : -0.5 * static_cast<double>(between(0, 4));
    case Attr::max:
      return chance(40) ? 6.0 : 0.5 * static_cast<double>(between(1, 4));
    case Attr::alpha:
      return op == Op::hard_sigmoid && chance(50) ? 1.0 / 6.0 : 0.1 * static_cast<double>(between(1, 5));
    case Attr::beta:
      return 0.5;
    case Attr::scale_h:
    case Attr::scale_w:
      return static_cast<double>(between(1, 3));
    case Attr::value:
      return chance(60) ? 0.0 : 0.5 * static_cast<double>(between(-3, 3));
    default:
      return std::nullopt;
  }
}

std::optional<ops::AttrValue> RandomAttributes::attribute(const Draft& draft, const ops::AttrSpec& spec) {
  if (spec.key == Attr::axis) {
    const auto known = std::ranges::find_if(draft.types, [](const auto& t) { return t.has_value(); });
    const int64_t rank = known == draft.types.end() ? 4 : (*known)->rank();
    if (rank == 0) return std::nullopt;
    return draft.op == Op::layer_norm || draft.op == Op::rms_norm ? rank - 1
           : chance(40) && rank > 1                               ? 1
                                                                  : between(0, rank - 1);
  }
  if (std::holds_alternative<Ints>(spec.fallback)) return list_attribute(draft, spec.key);
  if (std::holds_alternative<std::string>(spec.fallback)) return word(draft.op, spec.key);
  return number(draft.op, spec.key);
}

bool RandomAttributes::complete(Draft& draft) {
  const auto& specs = ops::spec(draft.op).attrs;
  const auto fill = [&](Attr key) {
    const auto spec = std::ranges::find_if(specs, [&](const auto& s) { return s.key == key; });
    if (spec == specs.end() || draft.attrs.find(key)) return true;
    auto value = attribute(draft, *spec);
    if (value) draft.attrs.set(key, std::move(*value));
    return value.has_value();
  };
  // What operand types depend on.
  if (!fill(Attr::group) || !fill(Attr::blocksize) || !fill(Attr::gates)) return false;
  if (draft.op == Op::concat && !fill(Attr::axis)) return false;
  for (size_t k = 0; k < draft.types.size(); ++k) {
    if (draft.types[k]) continue;
    auto shape = operand(draft, k);
    if (!shape) return false;
    const bool index = draft.indices || ops::holds_places(draft.op, k);
    draft.types[k] = ops::TensorType(index ? ops::DType::i64 : ops::DType::f32, std::move(*shape));
  }
  for (const auto& spec : specs) {
    if (!fill(spec.key)) return false;
  }
  return true;
}

}  // namespace rlgo::rules
