// Attention: two matrix products for each head, and a softmax in double between them.
#include <cmath>
#include <limits>

#include "core/evaluate/gemm.h"
#include "core/evaluate/kernels.h"
#include "core/evaluate/strided.h"

namespace rlgo::evaluate {
namespace {

using ops::Attr;

// A tensor by batch, head, position and feature: [B,H,S,D], or [B,S,H*D] where `heads` are given.
struct Heads {
  int64_t heads, positions, features, batch_step, head_step, row_step;

  static Heads of(const ops::Shape& shape, int64_t heads) {
    if (heads == 0)
      return {shape[1], shape[2], shape[3], shape[1] * shape[2] * shape[3], shape[2] * shape[3], shape[3]};
    const int64_t features = shape[2] / heads;
    return {heads, shape[1], features, shape[1] * shape[2], features, shape[2]};
  }
  int64_t at(int64_t batch, int64_t head) const { return batch * batch_step + head * head_step; }
};

// What is added to scores: the mask, and -inf for keys behind the query of a causal attention.
class Mask {
 public:
  Mask(const Call& call, const ops::Shape& scores) : causal_(call.attrs().i(Attr::causal) == 1) {
    if (call.in.size() < 4) return;
    truth_ = call.in[3].dtype() == ops::DType::boolean;
    values_ = cast(call.in[3], ops::DType::f64, call.run);
    steps_ = broadcast_steps(values_.shape(), scores);
  }
  double operator()(int64_t batch, int64_t head, int64_t query, int64_t key) const {
    constexpr double kNever = -std::numeric_limits<double>::infinity();
    if (causal_ && key > query) return kNever;
    if (!values_.defined()) return 0;
    const double value =
        values_.data<double>()[batch * steps_[0] + head * steps_[1] + query * steps_[2] + key * steps_[3]];
    return truth_ ? (value != 0 ? 0 : kNever) : value;
  }

 private:
  bool causal_, truth_ = false;
  Tensor values_;
  std::vector<int64_t> steps_;
};

// The line's softmax, after scale, cap and mask; of a line of -inf NaN.
template <typename F>
void softmax(std::vector<double>& line, double scale, double cap, F mask) {
  double most = -std::numeric_limits<double>::infinity(), sum = 0;
  for (size_t k = 0; k < line.size(); ++k) {
    line[k] *= scale;
    if (cap > 0) line[k] = cap * std::tanh(line[k] / cap);
    line[k] += mask(static_cast<int64_t>(k));
    most = line[k] > most ? line[k] : most;
  }
  for (double& value : line) sum += value = std::exp(value - most);
  for (double& value : line) value /= sum;
}

}  // namespace

Tensors attention_kernel(const Call& call) {
  const auto dtype = call.output().dtype(), wide = dtype == ops::DType::f64 ? dtype : ops::DType::f32;
  const Tensor q = cast(call.in[0], wide, call.run), k = cast(call.in[1], wide, call.run),
               v = cast(call.in[2], wide, call.run);
  Tensor out(wide, call.info.outputs[0].shape);
  const int64_t given = call.attrs().i(Attr::heads), given_kv = call.attrs().i(Attr::kv_heads), batches = q.shape()[0];
  const Heads of_q = Heads::of(q.shape(), given), of_k = Heads::of(k.shape(), given_kv),
              of_v = Heads::of(v.shape(), given_kv), of_out = Heads::of(out.shape(), given);
  const int64_t rows = of_q.positions, keys = of_k.positions;
  const Mask mask(call, {batches, of_q.heads, rows, keys});
  const double scale = call.attrs().f(Attr::scale), cap = call.attrs().f(Attr::softcap);
  visit_float(wide, [&]<typename T>() {
    if constexpr (std::is_floating_point_v<T>) {
      std::fill(out.data<T>(), out.data<T>() + out.elements(), T(0));
      std::vector<T> scores(static_cast<size_t>(rows * keys));
      for (int64_t at = 0; at < batches * of_q.heads; ++at) {
        const int64_t b = at / of_q.heads, h = at % of_q.heads, shared = h / (of_q.heads / of_k.heads);
        const T *key = k.data<T>() + of_k.at(b, shared), *value = v.data<T>() + of_v.at(b, shared);
        const auto turned = [=](int64_t from, int64_t depth, int64_t n, int64_t width, T* to) {
          for (int64_t i = 0; i < depth; ++i) {
            for (int64_t j = 0; j < width; ++j, ++to)
              *to = n + j < keys ? key[(n + j) * of_k.row_step + from + i] : T(0);
          }
        };
        std::ranges::fill(scores, T(0));
        const Product<T> first{.rows = rows,
                               .columns = keys,
                               .depth = of_q.features,
                               .a = q.data<T>() + of_q.at(b, h),
                               .a_row = of_q.row_step,
                               .pack_b = turned,
                               .c = scores.data(),
                               .c_row = keys};
        multiply<T>({&first, 1}, call.run);
        parallel(call.run, rows, std::max<int64_t>(1, kPiece / 16 / keys), [&](int64_t begin, int64_t end) {
          std::vector<double> line(static_cast<size_t>(keys));
          for (int64_t row = begin; row < end; ++row) {
            T* score = scores.data() + row * keys;
            std::copy(score, score + keys, line.begin());
            softmax(line, scale, cap, [&](int64_t key_at) { return mask(b, h, row, key_at); });
            std::ranges::transform(line, score, [](double one) { return static_cast<T>(one); });
          }
        });
        const Product<T> second{.rows = rows,
                                .columns = of_v.features,
                                .depth = keys,
                                .a = scores.data(),
                                .a_row = keys,
                                .pack_b = pack_matrix<T>(value, of_v.row_step, of_v.features),
                                .b = value,
                                .b_row = of_v.row_step,
                                .c = out.data<T>() + of_out.at(b, h),
                                .c_row = of_out.row_step};
        multiply<T>({&second, 1}, call.run);
      }
    }
  });
  return {cast(out, dtype, call.run)};
}

}  // namespace rlgo::evaluate
