// What equalities and lower bounds among a rule's conditions ask of its variables, as hints for wild_instance.h:
// followed most of the time, so that conditions which chance seldom meets are met. Whether they hold, the matcher
// decides.
#pragma once

#include <functional>
#include <vector>

#include "core/rules/compiled.h"

namespace rlgo::rulegen {

class WildWishes {
 public:
  explicit WildWishes(const rules::CompiledRule& rule);

  // Shape of tensor variable number `tensor`, where it has one by now.
  using Known = std::function<const ops::Shape*(int tensor)>;
  // `shape` of tensor variable `tensor` changed to what is asked of it; extents that come new are 1.
  void grant(int tensor, ops::Shape& shape, const Known& known) const;

 private:
  struct Side {
    enum class Kind : uint8_t { other, number, rank, dim, shape } kind = Kind::other;
    int tensor = -1;     // rank, dim, shape
    int64_t number = 0;  // the number, or the axis
  };
  static Side side_of(const rules::Expr& expr);
  void look(const rules::Expr& expr);

  std::vector<std::pair<Side, Side>> equal_;  // the first is of a tensor
};

}  // namespace rlgo::rulegen
