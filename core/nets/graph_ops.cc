#include "core/nets/graph_ops.h"

#include <ATen/Dispatch.h>
#include <torch/csrc/autograd/custom_function.h>

#include "core/agent/kernels.h"
#include "core/base/error.h"

namespace rlgo::nets {
namespace {

namespace kernels = agent::kernels;

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

// Rows contiguous in themselves, at any distance.
Tensor with_dense_rows(const Tensor& x) { return x.dim() == 2 && x.stride(1) == 1 ? x : x.contiguous(); }

void add_to(Tensor& out, const Tensor& table, const Tensor& index) {
  const auto rows = with_dense_rows(table);
  AT_DISPATCH_FLOATING_TYPES(out.scalar_type(), "add_rows", [&] {
    kernels::add_rows<scalar_t>(out.data_ptr<scalar_t>(), rows.const_data_ptr<scalar_t>(), rows.stride(0),
                                index.const_data_ptr<int64_t>(), index.size(0), out.size(1));
  });
}

Tensor scatter_raw(const Tensor& x, const Tensor& index, int64_t rows) {
  auto out = torch::zeros({rows, x.size(1)}, x.options());
  const auto from = with_dense_rows(x);
  AT_DISPATCH_FLOATING_TYPES(out.scalar_type(), "scatter_sum", [&] {
    kernels::scatter_rows<scalar_t>(out.data_ptr<scalar_t>(), from.const_data_ptr<scalar_t>(), from.stride(0),
                                    index.const_data_ptr<int64_t>(), index.size(0), out.size(1));
  });
  return out;
}

// Takes no undefined tensors: where there is no base, or fewer than three tables, `base` or the rest repeat the first
// table.
struct AddRows : Function<AddRows> {
  static Tensor forward(AutogradContext* ctx, bool has_base, int64_t tables, const Tensor& base, const Tensor& table_a,
                        const Tensor& index_a, const Tensor& table_b, const Tensor& index_b, const Tensor& table_c,
                        const Tensor& index_c) {
    auto out = has_base ? base.clone(at::MemoryFormat::Contiguous)
                        : torch::zeros({index_a.size(0), table_a.size(1)}, table_a.options().requires_grad(false));
    add_to(out, table_a, index_a);
    if (tables > 1) add_to(out, table_b, index_b);
    if (tables > 2) add_to(out, table_c, index_c);
    ctx->save_for_backward({index_a, index_b, index_c});
    ctx->saved_data["has_base"] = has_base;
    ctx->saved_data["tables"] = tables;
    ctx->saved_data["rows"] = std::vector<int64_t>{table_a.size(0), table_b.size(0), table_c.size(0)};
    return out;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    const auto index = ctx->get_saved_variables();
    const auto rows = ctx->saved_data["rows"].toIntVector();
    const auto tables = static_cast<size_t>(ctx->saved_data["tables"].toInt());
    variable_list result(9);  // one for each argument of forward
    if (ctx->saved_data["has_base"].toBool()) result[2] = grads[0];
    for (size_t i = 0; i < tables; ++i) result[3 + 2 * i] = scatter_raw(grads[0], index[i], rows[i]);
    return result;
  }
};

struct ScatterSum : Function<ScatterSum> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x, const Tensor& index, int64_t rows) {
    ctx->save_for_backward({index});
    return scatter_raw(x, index, rows);
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    return {grads[0].index_select(0, ctx->get_saved_variables()[0]), Tensor(), Tensor()};
  }
};

Tensor link_raw(const Tensor& x, const Tensor& from, const Tensor& to, int64_t rows) {
  auto out = torch::zeros({rows, x.size(1)}, x.options());
  const auto dense = with_dense_rows(x);
  AT_DISPATCH_FLOATING_TYPES(out.scalar_type(), "link_sum", [&] {
    kernels::link_rows<scalar_t>(out.data_ptr<scalar_t>(), dense.const_data_ptr<scalar_t>(), dense.stride(0),
                                 from.const_data_ptr<int64_t>(), to.const_data_ptr<int64_t>(), from.size(0),
                                 out.size(1));
  });
  return out;
}

struct LinkSum : Function<LinkSum> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x, const Tensor& from, const Tensor& to, int64_t rows) {
    ctx->save_for_backward({from, to});
    ctx->saved_data["rows"] = x.size(0);
    return link_raw(x, from, to, rows);
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    const auto saved = ctx->get_saved_variables();
    return {link_raw(grads[0], saved[1], saved[0], ctx->saved_data["rows"].toInt()), Tensor(), Tensor(), Tensor()};
  }
};

struct CountedSum : Function<CountedSum> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x, const Tensor& begin, const Tensor& row,
                        const Tensor& count, const Tensor& chained) {
    auto out = torch::empty({chained.size(0), x.size(1)}, x.options());
    const auto from = with_dense_rows(x);
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "counted_sum", [&] {
      kernels::counted_sum<scalar_t>(out.data_ptr<scalar_t>(), from.const_data_ptr<scalar_t>(), from.stride(0),
                                     begin.const_data_ptr<int64_t>(), row.const_data_ptr<int64_t>(),
                                     count.const_data_ptr<int64_t>(), chained.const_data_ptr<int64_t>(), out.size(0),
                                     out.size(1));
    });
    ctx->save_for_backward({begin, row, count, chained});
    ctx->saved_data["rows"] = x.size(0);
    return out;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    const auto saved = ctx->get_saved_variables();
    auto scratch = grads[0].clone(at::MemoryFormat::Contiguous);
    auto grad = torch::zeros({ctx->saved_data["rows"].toInt(), scratch.size(1)}, scratch.options());
    AT_DISPATCH_FLOATING_TYPES(grad.scalar_type(), "counted_sum_backward", [&] {
      kernels::counted_sum_backward<scalar_t>(grad.data_ptr<scalar_t>(), scratch.data_ptr<scalar_t>(),
                                              saved[0].const_data_ptr<int64_t>(), saved[1].const_data_ptr<int64_t>(),
                                              saved[2].const_data_ptr<int64_t>(), saved[3].const_data_ptr<int64_t>(),
                                              scratch.size(0), scratch.size(1));
    });
    return {grad, Tensor(), Tensor(), Tensor(), Tensor()};
  }
};

struct SegmentMax : Function<SegmentMax> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x, const Tensor& segment, int64_t segments) {
    auto out = torch::empty({segments, x.size(1)}, x.options());
    auto argmax = torch::empty({segments, x.size(1)}, segment.options());
    const auto from = with_dense_rows(x);
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "segment_max", [&] {
      kernels::segment_max<scalar_t>(out.data_ptr<scalar_t>(), argmax.data_ptr<int64_t>(),
                                     from.const_data_ptr<scalar_t>(), from.stride(0), segment.const_data_ptr<int64_t>(),
                                     x.size(0), x.size(1));
    });
    ctx->save_for_backward({argmax});
    ctx->saved_data["rows"] = x.size(0);
    return out;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    const auto argmax = ctx->get_saved_variables()[0];
    auto grad = torch::zeros({ctx->saved_data["rows"].toInt(), argmax.size(1)}, grads[0].options());
    grad.scatter_(0, argmax, grads[0]);  // each target is named once at most per column
    return {grad, Tensor(), Tensor()};
  }
};

struct SegmentLogSoftmax : Function<SegmentLogSoftmax> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x, const Tensor& segment) {
    const auto from = x.contiguous();
    auto out = torch::empty_like(from);
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "segment_log_softmax", [&] {
      kernels::segment_log_softmax<scalar_t>(out.data_ptr<scalar_t>(), from.const_data_ptr<scalar_t>(),
                                             segment.const_data_ptr<int64_t>(), x.size(0));
    });
    ctx->save_for_backward({out, segment});
    return out;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    const auto saved = ctx->get_saved_variables();
    const auto grad = grads[0].contiguous();
    auto grad_x = torch::empty_like(grad);
    AT_DISPATCH_FLOATING_TYPES(grad.scalar_type(), "segment_log_softmax_backward", [&] {
      kernels::segment_log_softmax_backward<scalar_t>(grad_x.data_ptr<scalar_t>(), grad.const_data_ptr<scalar_t>(),
                                                      saved[0].const_data_ptr<scalar_t>(),
                                                      saved[1].const_data_ptr<int64_t>(), grad.size(0));
    });
    return {grad_x, Tensor()};
  }
};

}  // namespace

Tensor add_rows(const Tensor& base, const Rows& a, const Rows& b, const Rows& c) {
  if (!a.table.is_cpu()) return native::add_rows(base, a, b, c);
  const Rows& second = b.table.defined() ? b : a;
  const Rows& third = c.table.defined() ? c : a;
  const int64_t tables = c.table.defined() ? 3 : b.table.defined() ? 2 : 1;
  return AddRows::apply(base.defined(), tables, base.defined() ? base : a.table, a.table, a.index, second.table,
                        second.index, third.table, third.index);
}

Tensor scatter_sum(const Tensor& x, const Tensor& index, int64_t rows) {
  return x.is_cpu() ? ScatterSum::apply(x, index, rows) : native::scatter_sum(x, index, rows);
}

Tensor link_sum(const Tensor& x, const Tensor& from, const Tensor& to, int64_t rows) {
  return x.is_cpu() ? LinkSum::apply(x, from, to, rows) : native::link_sum(x, from, to, rows);
}

Tensor counted_sum(const Tensor& x, const SparseCounts& counts) {
  return x.is_cpu() ? CountedSum::apply(x, counts.begin, counts.row, counts.count, counts.chained)
                    : native::counted_sum(x, counts);
}

Tensor segment_max(const Tensor& x, const Tensor& segment, int64_t segments) {
  return x.is_cpu() ? SegmentMax::apply(x, segment, segments) : native::segment_max(x, segment, segments);
}

Tensor segment_log_softmax(const Tensor& x, const Tensor& segment, int64_t segments) {
  return x.is_cpu() ? SegmentLogSoftmax::apply(x, segment) : native::segment_log_softmax(x, segment, segments);
}

Tensor largest_and_sum(const Tensor& x, const Tensor& group, int64_t groups) {
  const auto none = torch::zeros({groups}, x.options());
  return torch::stack({none.scatter_reduce(0, group, x, "amax"), none.scatter_add(0, group, x).log1p()}, 1);
}

namespace native {

Tensor add_rows(const Tensor& base, const Rows& a, const Rows& b, const Rows& c) {
  auto out = a.table.index_select(0, a.index);
  if (base.defined()) out = out + base;
  if (b.table.defined()) out = out + b.table.index_select(0, b.index);
  if (c.table.defined()) out = out + c.table.index_select(0, c.index);
  return out;
}

Tensor scatter_sum(const Tensor& x, const Tensor& index, int64_t rows) {
  return torch::zeros({rows, x.size(1)}, x.options()).index_add(0, index, x);
}

Tensor link_sum(const Tensor& x, const Tensor& from, const Tensor& to, int64_t rows) {
  return scatter_sum(x.index_select(0, from), to, rows);
}

Tensor counted_sum(const Tensor& x, const SparseCounts& counts) {
  RLGO_CHECK(!counts.chains);
  const auto weighted = x.index_select(0, counts.row) * counts.count.to(x.scalar_type()).unsqueeze(1);
  return scatter_sum(weighted, counts.sum, counts.chained.size(0));
}

Tensor segment_max(const Tensor& x, const Tensor& segment, int64_t segments) {
  return torch::zeros({segments, x.size(1)}, x.options())
      .scatter_reduce(0, segment.unsqueeze(1).expand_as(x), x, "amax", /*include_self=*/false);
}

Tensor segment_log_softmax(const Tensor& x, const Tensor& segment, int64_t segments) {
  const auto top = segment_max(x.detach().unsqueeze(1), segment, segments).squeeze(1);
  const auto shifted = x - top.index_select(0, segment);
  const auto sums = torch::zeros({segments}, x.options()).index_add(0, segment, shifted.exp());
  return shifted - sums.log().index_select(0, segment);
}

}  // namespace native
}  // namespace rlgo::nets
