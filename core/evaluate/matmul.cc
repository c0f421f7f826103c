#include "core/evaluate/gemm.h"
#include "core/evaluate/kernels.h"
#include "core/evaluate/strided.h"

namespace rlgo::evaluate {
namespace {

// The axes before those of a matrix.
ops::Shape batch_of(const Tensor& x) { return ops::Shape(std::span(x.shape().data(), x.shape().size() - 2)); }

// How many matrices a tensor of rank 2 or more holds.
int64_t places_of(const Tensor& x) { return ops::TensorType(ops::DType::f32, batch_of(x)).elements(); }

// One matrix of each operand for every place along the batch axes. b may be float where T is double.
template <typename T>
std::vector<Product<T>> products_of(const Tensor& a, const Tensor& b, Tensor& out) {
  const size_t rank = out.shape().size();
  const ops::Shape batch = batch_of(out);
  const int64_t rows = out.shape()[rank - 2], columns = out.shape()[rank - 1], depth = a.shape()[a.shape().size() - 1];
  const auto a_steps = broadcast_steps(batch_of(a), batch), b_steps = broadcast_steps(batch_of(b), batch);
  const int64_t count = places_of(out);
  std::vector<Product<T>> products;
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i, a_at = 0, b_at = 0;
    for (size_t d = batch.size(); d-- > 0;) {
      a_at += rest % batch[d] * a_steps[d];
      b_at += rest % batch[d] * b_steps[d];
      rest /= batch[d];
    }
    Product<T> product{.rows = rows,
                       .columns = columns,
                       .depth = depth,
                       .a = a.data<T>() + a_at * rows * depth,
                       .a_row = depth,
                       .b_row = columns,
                       .c = out.data<T>() + i * rows * columns,
                       .c_row = columns};
    if (b.dtype() == dtype_of<T>()) {
      product.b = b.data<T>() + b_at * depth * columns;
      product.pack_b = pack_matrix<T>(product.b, columns, columns);
    } else {
      product.narrow_b = b.data<float>() + b_at * depth * columns;
      product.pack_b = pack_matrix<T>(product.narrow_b, columns, columns);
    }
    products.push_back(std::move(product));
  }
  return products;
}

constexpr int64_t kSmall = 1024;  // multiplications of a product for which a Product would take longer than they do

// c[rows, columns] += a[rows, depth] * b[depth, columns], all of them row by row in memory.
template <typename T, typename S>
void add_product(int64_t rows, int64_t columns, int64_t depth, const T* a, const S* b, T* c) {
  for (int64_t r = 0; r < rows; ++r, a += depth, c += columns) {
    const S* row = b;
    for (int64_t k = 0; k < depth; ++k, row += columns) {
      for (int64_t j = 0; j < columns; ++j) c[j] += a[k] * row[j];
    }
  }
}

// Many products of a few elements each, such as the transforms of all kernels of a convolution (Winograd).
template <typename T, typename S>
void multiply_small(const Tensor& a, const Tensor& b, Tensor& out, const Run& run) {
  const auto& shape = out.shape();
  const size_t rank = shape.size();
  const int64_t rows = shape[rank - 2], columns = shape[rank - 1], depth = a.shape()[a.shape().size() - 1];
  const ops::Shape batch = batch_of(out);
  const Walk<3> walk(batch,
                     {broadcast_steps(batch_of(a), batch), broadcast_steps(batch_of(b), batch), row_major(batch)});
  const T* left = a.data<T>();
  const S* right = b.data<S>();
  T* to = out.data<T>();
  walk.each(run, [=, &walk](const auto& at, int64_t count) {
    for (int64_t i = 0; i < count; ++i)
      add_product(rows, columns, depth, left + (at[0] + i * walk.step(0)) * rows * depth,
                  right + (at[1] + i * walk.step(1)) * depth * columns,
                  to + (at[2] + i * walk.step(2)) * rows * columns);
  });
}

}  // namespace

Tensors matmul_kernel(const Call& call) {
  const auto dtype = call.output().dtype();
  const auto wide = dtype == ops::DType::f64 ? dtype : ops::DType::f32;
  Tensor a = cast(call.in[0], wide, call.run);
  const Tensor b = call.in[1].dtype() == ops::DType::f32 ? call.in[1] : cast(call.in[1], wide, call.run);
  const auto& shape = call.info.outputs[0].shape;
  ops::Shape flat = shape;
  if (b.rank() == 2 && a.rank() > 2) {  // one product of many rows
    const int64_t depth = a.shape()[a.shape().size() - 1], columns = shape[shape.size() - 1];
    const int64_t rows = ops::TensorType(dtype, ops::Shape(std::span(shape.data(), shape.size() - 1))).elements();
    a = a.reshaped({rows, depth});
    flat = {rows, columns};
  }
  Tensor out(wide, flat);
  visit_float(wide, [&]<typename T>() {
    if constexpr (std::is_floating_point_v<T>) {
      T* to = out.data<T>();
      parallel(call.run, out.elements(), kPiece,
               [=](int64_t begin, int64_t end) { std::fill(to + begin, to + end, T(0)); });
      const bool many = out.rank() > 2 && out.elements() * a.shape()[a.shape().size() - 1] <= kSmall * places_of(out);
      if (many && b.dtype() == dtype_of<T>()) return multiply_small<T, T>(a, b, out, call.run);
      if (many) return multiply_small<T, float>(a, b, out, call.run);
      const auto products = products_of<T>(a, b, out);
      multiply<T>(products, call.run);
    }
  });
  out = out.reshaped(shape);
  if (call.in.size() == 3) add_to(out, cast(call.in[2], wide), call.run);
  activate(out, call.attrs().word(ops::Attr::act), call.run);
  return {cast(out, dtype, call.run)};
}

}  // namespace rlgo::evaluate
