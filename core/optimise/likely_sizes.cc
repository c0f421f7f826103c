#include "core/optimise/likely_sizes.h"

#include <algorithm>
#include <cctype>
#include <deque>
#include <map>

namespace rlgo::optimise {
namespace {

constexpr int64_t kPicture[] = {320, 64, 224, 48, 640, 32, 256, 512, 128, 96, 1024, 28};
constexpr int64_t kOther[] = {64, 512, 576, 48, 16000, 128, 320, 256, 8, 224, 100, 1024};
constexpr size_t kApart = 6;  // of these that one dimension apart from the rest is tried with
constexpr size_t kMostFitting = 8;
constexpr size_t kMostSets = 400;
constexpr size_t kNearOperators = 24;  // that read weights, from the inputs on

enum class Role : uint8_t { batch, channels, picture, other };

bool is_batch(const onnx_io::OpenDim& dim) {
  std::string name = dim.name;
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
  return (dim.axis == 0 && dim.rank >= 2) || name.find("batch") != std::string::npos;
}

Role role_of(const onnx_io::OpenDim& dim, std::span<const onnx_io::OpenDim> places) {
  if (is_batch(dim)) return Role::batch;
  if (dim.rank != 4) return Role::other;
  // Where all three are open, pictures have their channels in front (in most files) or at the end.
  const auto is_open = [&](int axis) {
    return std::ranges::any_of(places, [&](const auto& o) { return o.input == dim.input && o.axis == axis; });
  };
  if (dim.axis == 1 && is_open(2) && is_open(3)) return Role::channels;
  return Role::picture;
}

class Sets {
 public:
  Sets(std::map<std::string, Role> roles, const Sizes& given) : roles_(std::move(roles)), given_(given) {}
  // Sizes by role, but for those of `apart`.
  void add(int64_t batch, int64_t channels, int64_t picture, int64_t other, const Sizes& apart = {}) {
    Sizes sizes;
    for (const auto& [name, role] : roles_) {
      const auto fixed = given_.find(name), own = apart.find(name);
      sizes[name] = fixed != given_.end()    ? fixed->second
                    : own != apart.end()     ? own->second
                    : role == Role::batch    ? batch
                    : role == Role::channels ? channels
                    : role == Role::picture  ? picture
                                             : other;
    }
    if (sets_.size() < kMostSets && seen_.insert(sizes).second) sets_.push_back(std::move(sizes));
  }
  std::vector<std::string> with(Role role) const {
    std::vector<std::string> names;
    for (const auto& [name, has] : roles_) {
      if (has == role && !given_.contains(name)) names.push_back(name);
    }
    return names;
  }
  std::vector<Sizes> take() { return std::move(sets_); }

 private:
  std::map<std::string, Role> roles_;
  const Sizes& given_;
  std::vector<Sizes> sets_;
  std::set<Sizes> seen_;
};

// Each of `names` has another size than the rest.
void add_apart(Sets& sets, const std::vector<std::string>& names, std::span<const int64_t> sizes, int64_t batch) {
  for (const int64_t rest : sizes.first(std::min(kApart, sizes.size()))) {
    for (const int64_t own : sizes.first(std::min(kApart, sizes.size()))) {
      for (const auto& name : names) {
        if (own != rest) sets.add(batch, 3, rest, rest, {{name, own}});
      }
    }
  }
}

}  // namespace

std::vector<Sizes> likely_sizes(std::span<const onnx_io::OpenDim> places, const Sizes& given,
                                std::span<const int64_t> fitting) {
  std::map<std::string, Role> roles;
  for (const auto& place : places) {
    const Role role = role_of(place, places);
    const auto [at, is_new] = roles.emplace(place.name, role);
    if (!is_new) at->second = std::min(at->second, role);
  }
  if (roles.empty()) return {};
  Sets sets(roles, given);
  const auto pictures = sets.with(Role::picture), others = sets.with(Role::other), channels = sets.with(Role::channels);
  std::vector<int64_t> other(std::begin(kOther), std::end(kOther));
  const auto few = fitting.first(std::min(fitting.size(), kMostFitting));
  other.insert(other.begin() + 2, few.begin(), few.end());
  const size_t most = std::max(other.size(), std::size(kPicture));
  for (const int64_t batch : {2, 1}) {
    for (size_t k = 0; k < most; ++k) sets.add(batch, 3, kPicture[k % std::size(kPicture)], other[k % other.size()]);
  }
  for (const int64_t batch : {2, 1}) {
    for (size_t k = 0; k < most; ++k) {
      const int64_t picture = kPicture[k % std::size(kPicture)], rest = other[k % other.size()];
      for (const auto& name : others) sets.add(batch, 3, picture, rest, {{name, batch}});  // a state, by batch
      if (!channels.empty()) sets.add(batch, 1, picture, rest);
      // Channels at the end: the other two are height and width.
      if (!channels.empty()) {
        Sizes last;
        for (const auto& place : places) {
          if (place.rank == 4 && place.axis > 0) last[place.name] = place.axis == 3 ? 3 : picture;
        }
        sets.add(batch, 3, picture, rest, last);
      }
    }
  }
  for (const int64_t batch : {2, 1}) {
    if (pictures.size() > 1) add_apart(sets, pictures, kPicture, batch);
    if (others.size() > 1) add_apart(sets, others, other, batch);
  }
  return sets.take();
}

std::vector<int64_t> fitting_extents(const graph::Graph& graph) {
  std::vector<int64_t> found;
  std::set<graph::NodeId> seen;
  std::deque<graph::NodeId> front(graph.inputs().begin(), graph.inputs().end());
  size_t readers = 0;
  while (!front.empty() && readers < kNearOperators) {
    const auto& node = graph.node(front.front());
    front.pop_front();
    bool reads = false;
    for (const auto& input : node.inputs) {
      const auto& type = graph.type(input);
      if (!graph.node(input.node).constant || !type.is_static() || type.rank() < 2) continue;
      reads = true;
      for (const int64_t extent : type.shape) {
        const bool fits = extent >= 2 && extent <= 8192;
        if (fits && std::ranges::find(found, extent) == found.end()) found.push_back(extent);
      }
    }
    readers += reads;
    for (const auto& use : node.uses) {
      if (seen.insert(use.user).second) front.push_back(use.user);
    }
  }
  return found;
}

}  // namespace rlgo::optimise
