// The last two layers of a head over many items in one pass, without the items' hidden rows in memory.
#pragma once

#include <span>

#include "core/nets/graph_ops.h"

namespace rlgo::nets {

// [K]: score[k] = bias + w . relu(sum over t of tables[t].table[tables[t].index[k]] + features[k] . directions).
// 1 to 3 tables [*,W] with index [K] each; `features` [K,F] with `directions` [F,W], or both undefined; w [W], bias [].
// Features get no gradient. Plain loops on the CPU, LibTorch's operations elsewhere.
Tensor score_rows(std::span<const Rows> tables, const Tensor& features, const Tensor& directions, const Tensor& w,
                  const Tensor& bias);

namespace native {
Tensor score_rows(std::span<const Rows> tables, const Tensor& features, const Tensor& directions, const Tensor& w,
                  const Tensor& bias);
}  // namespace native

}  // namespace rlgo::nets
