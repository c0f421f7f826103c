#include "core/nets/menu.h"

#include <algorithm>
#include <cstdlib>
#include <tuple>

#include "core/base/error.h"

namespace rlgo::nets {
namespace {

int32_t shared_nodes(const MenuItem& a, const MenuItem& b) {
  int32_t shared = 0;
  for (size_t i = 0, k = 0; i < a.nodes.size() && k < b.nodes.size();) {
    if (a.nodes[i] == b.nodes[k])
      ++shared, ++i, ++k;
    else if (a.nodes[i] < b.nodes[k])
      ++i;
    else
      ++k;
  }
  return shared;
}

}  // namespace

Menu::Menu(const mdp::Observation& o, std::span<const float> features, int64_t width) {
  const auto w = static_cast<size_t>(width);
  RLGO_CHECK_EQ(features.size(), o.loc_node.size() * w);
  size_t l = 0;
  for (size_t x = 0; x < o.counts.size(); ++x) {
    for (int32_t i = 0; i < o.counts[x]; ++i, ++l) {
      MenuItem item{static_cast<int32_t>(x), o.loc_node[l], {o.loc_node[l]}, {}};
      if (!o.loc_rest_end.empty()) {
        const int32_t begin = l == 0 ? 0 : o.loc_rest_end[l - 1];
        item.nodes.insert(item.nodes.end(), o.loc_rest.begin() + begin, o.loc_rest.begin() + o.loc_rest_end[l]);
        std::sort(item.nodes.begin(), item.nodes.end());
      }
      const auto own = features.subspan(l * w, w);
      item.features.assign(own.begin(), own.end());
      items_.push_back(std::make_shared<const MenuItem>(std::move(item)));
    }
  }
}

std::vector<int32_t> Menu::counts(int32_t rules) const {
  std::vector<int32_t> counts(static_cast<size_t>(rules));
  for (const auto& item : items_) ++counts.at(static_cast<size_t>(item->rule));
  return counts;
}

size_t Menu::index(mdp::Action action) const {
  const auto rule_of = [](const Item& item) { return item->rule; };
  const auto first = std::ranges::lower_bound(items_, action.rule, {}, rule_of);
  if (action.location < 0 || action.location >= std::ranges::upper_bound(items_, action.rule, {}, rule_of) - first)
    fail("dream: action (rule {}, location {}) is not legal", action.rule, action.location);
  return static_cast<size_t>(first - items_.begin() + action.location);
}

const MenuItem& Menu::at(mdp::Action action) const { return *items_[index(action)]; }

void Menu::overlap(mdp::Action action, std::span<float> of_rule) const {
  std::ranges::fill(of_rule, 0.0f);
  if (static_cast<size_t>(action.rule) >= of_rule.size()) return;
  const auto& chosen = at(action);
  for (const auto& item : items_) {
    if (shared_nodes(chosen, *item) > 0) of_rule[static_cast<size_t>(item->rule)] += 1;
  }
}

void Menu::apply(mdp::Action action, const MenuChange& change, int32_t max_locations) {
  const Item chosen = items_[index(action)];
  std::vector<Item> left;
  const size_t width = chosen->features.size();
  const float* born = change.features.data();
  std::vector<Item> own;
  for (size_t at = 0, x = 0; x < change.gone.size(); ++x) {
    own.clear();
    for (; at < items_.size() && static_cast<size_t>(items_[at]->rule) == x; ++at) {
      if (items_[at] != chosen) own.push_back(items_[at]);
    }
    const bool is_own = static_cast<size_t>(chosen->rule) == x;
    const auto gone = static_cast<size_t>(std::max<int64_t>(change.gone[x] - (is_own ? 1 : 0), 0));
    if (gone > 0) {
      const auto by_nearness = [&](const Item& a, const Item& b) {
        const auto key = [&](const Item& i) {
          return std::tuple(-shared_nodes(*chosen, *i), std::abs(i->root - chosen->root));
        };
        return key(a) < key(b);
      };
      std::vector<Item> goes(own);
      std::stable_sort(goes.begin(), goes.end(), by_nearness);
      goes.resize(std::min(gone, goes.size()));
      std::erase_if(own, [&](const Item& i) { return std::ranges::find(goes, i) != goes.end(); });
    }
    auto place = std::ranges::upper_bound(own, chosen->root, {}, [](const Item& i) { return i->root; });
    for (int64_t k = 0; k < change.come[x]; ++k, born += width) {
      if (std::ssize(own) >= max_locations) continue;
      MenuItem item{static_cast<int32_t>(x), chosen->root, chosen->nodes, std::vector<float>(born, born + width)};
      place = std::next(own.insert(place, std::make_shared<const MenuItem>(std::move(item))));
    }
    left.insert(left.end(), own.begin(), own.end());
  }
  items_ = std::move(left);
}

void Menu::append_features(std::vector<float>& to) const {
  for (const auto& item : items_) to.insert(to.end(), item->features.begin(), item->features.end());
}

void Menu::put(ByteWriter& out) const {
  out.put<uint64_t>(items_.size());
  for (const auto& item : items_) {
    out.put(item->rule);
    out.put(item->root);
    out.put_vector(item->nodes);
    out.put_vector(item->features);
  }
}

Menu Menu::get(ByteReader& in) {
  Menu menu;
  const auto count = in.get<uint64_t>();
  for (uint64_t i = 0; i < count; ++i) {
    MenuItem item;
    item.rule = in.get<int32_t>();
    item.root = in.get<int32_t>();
    item.nodes = in.get_vector<int32_t>();
    item.features = in.get_vector<float>();
    menu.items_.push_back(std::make_shared<const MenuItem>(std::move(item)));
  }
  return menu;
}

}  // namespace rlgo::nets
