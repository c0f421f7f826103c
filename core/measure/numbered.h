// Numbers things in the order in which they come.
#pragma once

#include <cstddef>
#include <optional>
#include <unordered_map>
#include <vector>

namespace rlgo::measure {

// Few are looked through, of many a table is kept: groups mostly have a handful of operators, and some have thousands.
template <typename T, typename Hash = std::hash<T>>
class Numbered {
 public:
  size_t size() const { return all_.size(); }
  const T& operator[](size_t number) const { return all_[number]; }
  // Its number; nothing where it has none.
  std::optional<size_t> find(const T& one) const {
    if (all_.size() > kFew) {
      const auto at = numbers_.find(one);
      return at == numbers_.end() ? std::nullopt : std::optional(at->second);
    }
    for (size_t k = 0; k < all_.size(); ++k) {
      if (all_[k] == one) return k;
    }
    return std::nullopt;
  }
  bool contains(const T& one) const { return find(one).has_value(); }
  // Its number; the next one where it had none.
  size_t add(const T& one) {
    if (const auto known = find(one)) return *known;
    all_.push_back(one);
    if (all_.size() > kFew) {
      for (size_t k = numbers_.size(); k < all_.size(); ++k) numbers_.emplace(all_[k], k);
    }
    return all_.size() - 1;
  }

 private:
  static constexpr size_t kFew = 24;
  std::vector<T> all_;
  std::unordered_map<T, size_t, Hash> numbers_;  // of all, where they are more than a few
};

}  // namespace rlgo::measure
