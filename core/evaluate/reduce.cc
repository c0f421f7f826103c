// Sums over axes, and the normalisations built on them. Sums are formed in double.
#include <cmath>
#include <limits>

#include "core/evaluate/kernels.h"
#include "core/evaluate/strided.h"

namespace rlgo::evaluate {
namespace {

using ops::Attr;
using ops::Ints;

constexpr double kInf = std::numeric_limits<double>::infinity();

// out[o] = finish(fold of f over the elements of x along `axes`, from `start`), in row-major order.
template <typename F, typename G>
void reduce(const Run& run, const Tensor& x, const Ints& axes, Tensor& out, double start, F f, G finish) {
  ops::Shape kept, folded;
  std::vector<int64_t> kept_steps, folded_steps;
  const auto steps = row_major(x.shape());
  for (int64_t d = 0; d < x.rank(); ++d) {
    const bool folds = std::ranges::find(axes, d) != axes.end();
    (folds ? folded : kept).push_back(x.shape()[static_cast<size_t>(d)]);
    (folds ? folded_steps : kept_steps).push_back(steps[static_cast<size_t>(d)]);
  }
  kept.push_back(1);  // rows of one element: each() visits outputs one by one
  kept_steps.push_back(0);
  const int64_t most = std::max<int64_t>(1, x.elements() / std::max<int64_t>(out.elements(), 1));
  visit_float(x.dtype(), [&]<typename T>() {
    const T* from = x.data<T>();
    T* to = out.data<T>();
    const Walk<1> inner(folded, {folded_steps});
    const auto kept_count = out.elements();
    parallel(run, kept_count, std::max<int64_t>(1, (int64_t{1} << 15) / most), [&](int64_t begin, int64_t end) {
      for (int64_t o = begin; o < end; ++o) {
        int64_t base = 0, rest = o;
        for (size_t d = kept.size(); d-- > 0;) {
          base += rest % kept[d] * kept_steps[d];
          rest /= kept[d];
        }
        double value = start;
        inner.each(0, inner.rows(), [&](const auto& at) {
          for (int64_t i = 0; i < inner.length(); ++i)
            value = f(value, static_cast<double>(from[base + at[0] + i * inner.step(0)]));
        });
        to[o] = static_cast<T>(finish(value));
      }
    });
  });
}

template <typename F, typename G>
Tensors reduced(const Call& call, double start, F f, G finish) {
  Tensor out = call.output();
  reduce(call.run, call.in[0], call.attrs().ints(Attr::axes), out, start, f, finish);
  return {out};
}

double plus(double a, double b) { return a + b; }
double same(double a) { return a; }
auto over(const Tensor& x, const Tensor& out) {  // division by the number of elements behind one of `out`
  const double count =
      out.elements() == 0 ? 1.0 : static_cast<double>(x.elements()) / static_cast<double>(out.elements());
  return [count](double sum) { return sum / count; };
}

}  // namespace

Tensors reduce_sum_kernel(const Call& call) { return reduced(call, 0, plus, same); }
Tensors reduce_mean_kernel(const Call& call) { return reduced(call, 0, plus, over(call.in[0], call.output())); }
Tensors reduce_max_kernel(const Call& call) {
  return reduced(
      call, -kInf, [](double a, double b) { return a != a || a > b ? a : b; }, same);
}

Tensors global_avg_pool_kernel(const Call& call) {
  Ints axes;
  for (int64_t d = 2; d < call.in[0].rank(); ++d) axes.push_back(d);
  Tensor out = call.output();
  reduce(call.run, call.in[0], axes, out, 0, plus, over(call.in[0], out));
  return {out};
}

Tensors softmax_kernel(const Call& call) {
  const Tensor& x = call.in[0];
  Tensor out = call.output();
  const auto axis = static_cast<size_t>(call.attrs().i(Attr::axis));
  const int64_t length = x.shape()[axis], step = row_major(x.shape())[axis];
  if (x.elements() == 0) return {out};
  visit_float(x.dtype(), [&]<typename T>() {
    const T* from = x.data<T>();
    T* to = out.data<T>();
    parallel(call.run, x.elements() / length, std::max<int64_t>(1, 4096 / length), [&](int64_t begin, int64_t end) {
      std::vector<double> row(static_cast<size_t>(length));
      for (int64_t r = begin; r < end; ++r) {
        const int64_t base = r / step * step * length + r % step;
        double most = -kInf, sum = 0;
        for (int64_t i = 0; i < length; ++i) most = std::max(most, static_cast<double>(from[base + i * step]));
        for (int64_t i = 0; i < length; ++i) {
          double& value = row[static_cast<size_t>(i)];
          value = std::exp(static_cast<double>(from[base + i * step]) - most);
          sum += value;
        }
        for (int64_t i = 0; i < length; ++i) to[base + i * step] = static_cast<T>(row[static_cast<size_t>(i)] / sum);
      }
    });
  });
  return {out};
}

Tensors layer_norm_kernel(const Call& call) {
  const Tensor &x = call.in[0], &scale = call.in[1];
  Tensor out = call.output();
  const int64_t length = scale.elements();
  const double eps = call.attrs().f(Attr::eps), count = static_cast<double>(length);
  if (x.elements() == 0) return {out};
  visit_float(x.dtype(), [&]<typename T>() {
    const T *from = x.data<T>(), *factor = scale.data<T>();
    const T* bias = call.in.size() == 3 ? call.in[2].data<T>() : nullptr;
    T* to = out.data<T>();
    parallel(call.run, x.elements() / length, std::max<int64_t>(1, 4096 / length), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin * length; r < end * length; r += length) {
        double mean = 0, variance = 0;
        for (int64_t i = 0; i < length; ++i) mean += static_cast<double>(from[r + i]);
        mean /= count;
        for (int64_t i = 0; i < length; ++i) {
          const double away = static_cast<double>(from[r + i]) - mean;
          variance += away * away;
        }
        const double inverse = 1 / std::sqrt(variance / count + eps);
        for (int64_t i = 0; i < length; ++i) {
          const double unit = (static_cast<double>(from[r + i]) - mean) * inverse * static_cast<double>(factor[i]);
          to[r + i] = static_cast<T>(unit + (bias != nullptr ? static_cast<double>(bias[i]) : 0.0));
        }
      }
    });
  });
  return {out};
}

Tensors batch_norm_kernel(const Call& call) {
  const Tensor& x = call.in[0];
  Tensor out = call.output();
  if (x.elements() == 0) return {out};
  const int64_t channels = x.shape()[1], planes = x.shape()[0] * channels, plane = x.elements() / planes;
  const double eps = call.attrs().f(Attr::eps);
  visit_float(x.dtype(), [&]<typename T>() {
    const auto at = [&](size_t k, int64_t c) { return static_cast<double>(call.in[k].data<T>()[c]); };
    const T* from = x.data<T>();
    T* to = out.data<T>();
    parallel(call.run, planes, std::max<int64_t>(1, (int64_t{1} << 14) / plane), [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p) {
        const int64_t c = p % channels;
        const double factor = at(1, c) / std::sqrt(at(4, c) + eps), bias = at(2, c), mean = at(3, c);
        for (int64_t i = p * plane; i < (p + 1) * plane; ++i)
          to[i] = static_cast<T>((static_cast<double>(from[i]) - mean) * factor + bias);
      }
    });
  });
  return {out};
}

}  // namespace rlgo::evaluate
