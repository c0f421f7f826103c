// The legal locations of a state as the world model sees them: what each is like, and which share nodes. A dream starts
// with those of a real state and keeps the list by itself: what an action does to it is predicted (world_model.h).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/base/bytes.h"
#include "core/mdp/mdp.h"

namespace rlgo::nets {

// One location. Never changes, so that lists share it.
struct MenuItem {
  int32_t rule = 0;
  int32_t root = 0;             // index of its first matched node in the real observation that the list began with
  std::vector<int32_t> nodes;   // all its matched nodes there, sorted; of a dreamed one: those of what made it
  std::vector<float> features;  // [place_width]: embedding, change of cost in percent, whether that is an estimate
};

// What an action does to the list, per rule: how many locations go, and those that come.
struct MenuChange {
  std::span<const int64_t> gone;  // [X]
  std::span<const int64_t> come;  // [X]
  std::vector<float> features;    // [sum(come), place_width], by rule
};

// The list.
class Menu {
 public:
  // Without locations.
  Menu() = default;
  // Of a real observation. `features` [L, width], as WorldModel::places gives them.
  Menu(const mdp::Observation& observation, std::span<const float> features, int64_t width);

  size_t size() const { return items_.size(); }
  std::vector<int32_t> counts(int32_t rules) const;  // locations of each rule
  // Throws Error where the action is not legal. NO-OP has no item.
  const MenuItem& at(mdp::Action action) const;
  // Locations of each rule that share a matched node with the action's, itself among them; zero for NO-OP.
  void overlap(mdp::Action action, std::span<float> of_rule) const;
  // The action's own location goes, whatever is predicted; besides it those that share most nodes with it, then the
  // nearest by root. What comes stands where the action's location stood. At most `max_locations` of a rule stay.
  void apply(mdp::Action action, const MenuChange& change, int32_t max_locations);
  // Features of all items, one after the other, behind what `to` has.
  void append_features(std::vector<float>& to) const;

  void put(ByteWriter& out) const;  // as bytes
  static Menu get(ByteReader& in);  // what put() wrote; throws Error on malformed bytes

 private:
  using Item = std::shared_ptr<const MenuItem>;
  size_t index(mdp::Action action) const;
  std::vector<Item> items_;  // by rule, then location
};

}  // namespace rlgo::nets
