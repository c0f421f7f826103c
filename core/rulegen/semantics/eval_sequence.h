// Meaning of operators on sequences.
#pragma once

#include "core/rulegen/semantics/eval_elementwise.h"

namespace rlgo::rulegen {

// The weights of one query's keys: exp of scaled, capped and masked products, divided by their sum. `mask`: what is
// added to each; `keys`: how many there are for this query.
template <class R, class M>
std::vector<typename R::Element> attention_weights(Eval<R>& e, const typename R::Element* q,
                                                   const typename R::Element* k, int64_t features, int64_t keys,
                                                   M mask) {
  using ops::Attr;
  const auto scale = e.ring.number(e.attrs.f(Attr::scale));
  const double cap = e.attrs.f(Attr::softcap);
  typename R::Sum total(e.ring);
  std::vector<typename R::Element> weights;
  for (int64_t j = 0; j < keys; ++j) {
    typename R::Sum product(e.ring);
    for (int64_t i = 0; i < features; ++i) product.add_product(q[i], k[j * features + i]);
    auto score = e.ring.mul(product.finish(), scale);
    if (cap > 0) {
      const auto least = e.ring.number(cap);
      score = e.ring.mul(e.ring.apply(Fn::tanh, e.ring.div(score, least)), least);
    }
    weights.push_back(e.ring.apply(Fn::exp, mask(j, score)));
    total.add(weights.back());
  }
  const auto inverse = e.ring.div(e.ring.integer(1), total.finish());
  for (auto& weight : weights) weight = e.ring.mul(weight, inverse);
  return weights;
}

// Of heads with an axis of their own; a mask of booleans has no meaning over the reals.
template <class R>
bool eval_attention(Eval<R>& e) {
  using ops::Attr;
  if (e.attrs.i(Attr::heads) != 0 || (e.in.size() == 4 && e.in[3]->type.dtype == ops::DType::boolean)) return false;
  auto& y = e.make();
  const auto &qs = e.shape(0), &ks = e.shape(1), &vs = e.shape(2);
  const int64_t heads = qs[1], queries = qs[2], features = qs[3], keys = ks[2], columns = vs[3];
  std::vector<size_t> masks;
  if (e.in.size() == 4) {
    const ops::Shape scores{qs[0], heads, queries, keys};
    walk(scores, broadcast_steps(e.shape(3), scores), [&](size_t, size_t from) { masks.push_back(from); });
  }
  for (int64_t row = 0; row < qs[0] * heads * queries; ++row) {
    const int64_t head = row / queries, query = row % queries;
    const int64_t shared = head / heads * ks[1] + head % heads / (heads / ks[1]);
    const int64_t seen = e.attrs.i(Attr::causal) == 1 ? std::min(keys, query + 1) : keys;
    const auto weights = attention_weights(
        e, e.in[0]->data.data() + row * features, e.in[1]->data.data() + shared * keys * features, features, seen,
        [&](int64_t j, const auto& score) {
          return masks.empty() ? score : e.ring.add(score, e.in[3]->data[masks[static_cast<size_t>(row * keys + j)]]);
        });
    for (int64_t column = 0; column < columns; ++column) {
      typename R::Sum sum(e.ring);
      for (int64_t j = 0; j < seen; ++j)
        sum.add_product(weights[static_cast<size_t>(j)],
                        e.in[2]->data[static_cast<size_t>((shared * keys + j) * columns + column)]);
      y.data[static_cast<size_t>(row * columns + column)] = sum.finish();
    }
  }
  return true;
}

}  // namespace rlgo::rulegen
