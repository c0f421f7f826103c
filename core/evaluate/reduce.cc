// Folds over axes, in double precision.
#include <array>
#include <cmath>
#include <limits>

#include "core/evaluate/kernels.h"
#include "core/evaluate/strided.h"

namespace rlgo::evaluate {
namespace {

using ops::Attr;
using ops::Ints;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr size_t kLanes = 8;  // folded side by side: a processor need not wait for each result

// The fold of g over f(x[i * step], o) for i < length, from `start`, which g leaves alone.
template <typename T, typename F, typename G>
double fold(const T* x, int64_t step, int64_t length, int64_t o, double start, F f, G g) {
  std::array<double, kLanes> lanes;
  lanes.fill(start);
  int64_t i = 0;
  for (; i + static_cast<int64_t>(kLanes) <= length; i += kLanes) {
    for (size_t k = 0; k < kLanes; ++k)
      lanes[k] = g(lanes[k], f(static_cast<double>(x[(i + static_cast<int64_t>(k)) * step]), o));
  }
  for (; i < length; ++i) lanes[0] = g(lanes[0], f(static_cast<double>(x[i * step]), o));
  for (size_t k = kLanes / 2; k > 0; k /= 2) {
    for (size_t j = 0; j < k; ++j) lanes[j] = g(lanes[j], lanes[j + k]);
  }
  return lanes[0];
}

// For each output o, g folded over f(element, o) of the elements of x along `axes`. Flat, f64.
template <typename F, typename G>
Tensor reduce(const Run& run, const Tensor& x, const Ints& axes, double start, F f, G g) {
  ops::Shape kept, folded;
  std::vector<int64_t> kept_steps, folded_steps;
  const auto steps = row_major(x.shape());
  for (int64_t d = 0; d < x.rank(); ++d) {
    const bool folds = std::ranges::find(axes, d) != axes.end();
    (folds ? folded : kept).push_back(x.shape()[static_cast<size_t>(d)]);
    (folds ? folded_steps : kept_steps).push_back(steps[static_cast<size_t>(d)]);
  }
  const int64_t count = ops::TensorType(x.dtype(), kept).elements(),
                most = std::max<int64_t>(1, x.elements() / std::max<int64_t>(count, 1));
  Tensor out(ops::DType::f64, {count});
  const Walk<1> inner(folded, {folded_steps}), outer(kept, {kept_steps});
  visit_float(x.dtype(), [&]<typename T>() {
    const T* from = x.data<T>();
    double* to = out.data<double>();
    parallel(run, count, std::max<int64_t>(1, kPiece / most), [&](int64_t begin, int64_t end) {
      for (int64_t o = begin; o < end; ++o) {
        const T* base = from + outer.offset(o);
        double value = start;
        inner.each(0, inner.rows(), [&](const auto& at) {
          value = g(value, fold(base + at[0], inner.step(0), inner.length(), o, start, f, g));
        });
        to[o] = value;
      }
    });
  });
  return out;
}

Tensors finished(const Call& call, const Tensor& flat) {
  const auto& type = call.info.outputs[0];
  return {cast(flat.reshaped(type.shape), held(type.dtype, call.precision), call.run)};
}

double plus(double a, double b) { return a + b; }
double greater(double a, double b) { return a != a || a > b ? a : b; }  // a NaN stays one
double lesser(double a, double b) { return a != a || a < b ? a : b; }
double same(double x, int64_t) { return x; }

template <typename F, typename G, typename H>
Tensors reduced(const Call& call, double start, F f, G g, H finish) {
  Tensor flat = reduce(call.run, call.in[0], call.attrs().ints(Attr::axes), start, f, g);
  double* value = flat.data<double>();
  for (int64_t o = 0; o < flat.elements(); ++o) value[o] = finish(value[o], o);
  return finished(call, flat);
}
template <typename F>
Tensors summed(const Call& call, F f) {
  return reduced(call, 0, f, plus, same);
}

Tensors mean(const Call& call, const Ints& axes) {
  Tensor sums = reduce(call.run, call.in[0], axes, 0, same, plus);
  const double count = static_cast<double>(call.in[0].elements()) / static_cast<double>(sums.elements());
  for (int64_t o = 0; o < sums.elements(); ++o) sums.data<double>()[o] /= count;
  return finished(call, sums);
}

// Where the first (or last) of the most extreme elements stands; a NaN is more extreme than any number, as in LibTorch.
template <typename F>
Tensors place(const Call& call, F is_before) {
  const Tensor& x = call.in[0];
  Tensor out = call.output();
  const auto axis = static_cast<size_t>(call.attrs().i(Attr::axis));
  const int64_t length = x.shape()[axis], step = row_major(x.shape())[axis];
  const bool last = call.attrs().i(Attr::select_last) == 1;
  if (length == 0) fail("the most extreme of no elements");
  visit(x.dtype(), [&]<typename T>() {
    const auto wins = [&](Arith<T> a, Arith<T> b) { return b == b && (a != a || is_before(a, b)); };
    const T* from = x.data<T>();
    int64_t* to = out.data<int64_t>();
    parallel(call.run, out.elements(), std::max<int64_t>(1, kPiece / length), [&](int64_t begin, int64_t end) {
      for (int64_t o = begin; o < end; ++o) {
        const T* row = from + o / step * step * length + o % step;
        const auto at = [&](int64_t i) { return static_cast<Arith<T>>(row[(last ? length - 1 - i : i) * step]); };
        int64_t best = 0;
        for (int64_t i = 1; i < length; ++i) best = wins(at(i), at(best)) ? i : best;
        to[o] = last ? length - 1 - best : best;
      }
    });
  });
  return {out};
}

}  // namespace

Tensors reduce_sum_kernel(const Call& call) { return summed(call, same); }
Tensors reduce_mean_kernel(const Call& call) { return mean(call, call.attrs().ints(Attr::axes)); }
Tensors reduce_max_kernel(const Call& call) { return reduced(call, -kInf, same, greater, same); }
Tensors reduce_min_kernel(const Call& call) { return reduced(call, kInf, same, lesser, same); }
Tensors reduce_prod_kernel(const Call& call) {
  return reduced(
      call, 1, same, [](double a, double b) { return a * b; }, same);
}
Tensors reduce_l1_kernel(const Call& call) {
  return summed(call, [](double x, int64_t) { return std::abs(x); });
}
Tensors reduce_sum_square_kernel(const Call& call) {
  return summed(call, [](double x, int64_t) { return x * x; });
}
Tensors reduce_l2_kernel(const Call& call) {
  return reduced(
      call, 0, [](double x, int64_t) { return x * x; }, plus, [](double sum, int64_t) { return std::sqrt(sum); });
}
Tensors reduce_log_sum_kernel(const Call& call) {
  return reduced(call, 0, same, plus, [](double sum, int64_t) { return std::log(sum); });
}
Tensors reduce_log_sum_exp_kernel(const Call& call) {
  Tensor shift = reduce(call.run, call.in[0], call.attrs().ints(Attr::axes), -kInf, same, greater);
  double* most = shift.data<double>();
  for (int64_t o = 0; o < shift.elements(); ++o) most[o] = std::isinf(most[o]) ? 0 : most[o];
  return reduced(
      call, 0, [=](double x, int64_t o) { return std::exp(x - most[o]); }, plus,
      [=](double sum, int64_t o) { return std::log(sum) + most[o]; });
}

Tensors global_avg_pool_kernel(const Call& call) {
  Ints axes;
  for (int64_t d = 2; d < call.in[0].rank(); ++d) axes.push_back(d);
  return mean(call, axes);
}

Tensors arg_max_kernel(const Call& call) {
  return place(call, [](auto a, auto b) { return a > b; });
}
Tensors arg_min_kernel(const Call& call) {
  return place(call, [](auto a, auto b) { return a < b; });
}

}  // namespace rlgo::evaluate
