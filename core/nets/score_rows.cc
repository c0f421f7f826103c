#include "core/nets/score_rows.h"

#include <ATen/Dispatch.h>
#include <torch/csrc/autograd/custom_function.h>

#include <array>

#include "core/agent/kernels.h"
#include "core/base/error.h"

namespace rlgo::nets {
namespace {

namespace kernels = agent::kernels;

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

constexpr size_t kTables = 3;

// The tensors of a call in the order of forward's arguments; unused ones have no rows.
struct Parts {
  std::array<Tensor, kTables> table, index;
  Tensor features, directions, w;
};

template <typename T>
kernels::ScoreInput<T> input_of(const Parts& p, int64_t tables, T bias,
                                std::array<kernels::TableRows<const T>, kTables>& rows) {
  for (size_t t = 0; t < static_cast<size_t>(tables); ++t)
    rows[t] = {p.table[t].const_data_ptr<T>(), p.index[t].const_data_ptr<int64_t>()};
  return {rows.data(),
          static_cast<int>(tables),
          p.features.const_data_ptr<T>(),
          p.directions.const_data_ptr<T>(),
          p.directions.size(0),
          p.w.const_data_ptr<T>(),
          bias,
          p.index[0].size(0),
          p.w.size(0)};
}

struct ScoreRows : Function<ScoreRows> {
  static Tensor forward(AutogradContext* ctx, int64_t tables, const Tensor& table_a, const Tensor& index_a,
                        const Tensor& table_b, const Tensor& index_b, const Tensor& table_c, const Tensor& index_c,
                        const Tensor& features, const Tensor& directions, const Tensor& w, const Tensor& bias) {
    const Parts p{{table_a.contiguous(), table_b.contiguous(), table_c.contiguous()},
                  {index_a, index_b, index_c},
                  features.contiguous(),
                  directions.contiguous(),
                  w.contiguous()};
    auto out = torch::empty({index_a.size(0)}, w.options().requires_grad(false));
    AT_DISPATCH_FLOATING_TYPES(out.scalar_type(), "score_rows", [&] {
      std::array<kernels::TableRows<const scalar_t>, kTables> rows;
      kernels::score_rows<scalar_t>(out.data_ptr<scalar_t>(),
                                    input_of<scalar_t>(p, tables, bias.item<scalar_t>(), rows));
    });
    ctx->save_for_backward(
        {p.table[0], index_a, p.table[1], index_b, p.table[2], index_c, p.features, p.directions, p.w});
    ctx->saved_data["tables"] = tables;
    return out;
  }

  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    const auto s = ctx->get_saved_variables();
    const Parts p{{s[0], s[2], s[4]}, {s[1], s[3], s[5]}, s[6], s[7], s[8]};
    const auto tables = ctx->saved_data["tables"].toInt();
    const auto grad = grads[0].contiguous();
    variable_list result(11);
    for (size_t t = 0; t < static_cast<size_t>(tables); ++t) result[1 + 2 * t] = torch::zeros_like(p.table[t]);
    result[8] = torch::zeros_like(p.directions);
    result[9] = torch::zeros_like(p.w);
    result[10] = grad.sum();
    AT_DISPATCH_FLOATING_TYPES(grad.scalar_type(), "score_rows_backward", [&] {
      std::array<kernels::TableRows<const scalar_t>, kTables> rows;
      std::array<scalar_t*, kTables> to{};
      for (size_t t = 0; t < static_cast<size_t>(tables); ++t) to[t] = result[1 + 2 * t].data_ptr<scalar_t>();
      kernels::score_rows_backward<scalar_t>(grad.const_data_ptr<scalar_t>(), input_of<scalar_t>(p, tables, 0, rows),
                                             to.data(), result[8].data_ptr<scalar_t>(), result[9].data_ptr<scalar_t>());
    });
    return result;
  }
};

}  // namespace

Tensor score_rows(std::span<const Rows> tables, const Tensor& features, const Tensor& directions, const Tensor& w,
                  const Tensor& bias) {
  RLGO_CHECK(!tables.empty() && tables.size() <= kTables);
  if (!w.is_cpu()) return native::score_rows(tables, features, directions, w, bias);
  const auto none = w.new_zeros({0, w.size(0)});
  const auto at = [&](size_t t) -> const Rows& { return tables[t < tables.size() ? t : 0]; };
  return ScoreRows::apply(static_cast<int64_t>(tables.size()), at(0).table, at(0).index, at(1).table, at(1).index,
                          at(2).table, at(2).index, features.defined() ? features : none,
                          directions.defined() ? directions : none, w, bias);
}

namespace native {

Tensor score_rows(std::span<const Rows> tables, const Tensor& features, const Tensor& directions, const Tensor& w,
                  const Tensor& bias) {
  auto hidden = tables[0].table.index_select(0, tables[0].index);
  for (const auto& rows : tables.subspan(1)) hidden = hidden + rows.table.index_select(0, rows.index);
  if (features.defined()) hidden = hidden + torch::matmul(features, directions);
  return torch::mv(torch::relu(hidden), w) + bias;
}

}  // namespace native
}  // namespace rlgo::nets
