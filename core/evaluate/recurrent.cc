// Recurrent networks, step by step in double.
#include <cmath>

#include "core/evaluate/kernels.h"

namespace rlgo::evaluate {
namespace {

using ops::Attr;

double dot(const double* a, const double* b, int64_t count) {
  std::array<double, 8> lanes{};
  int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    for (size_t k = 0; k < 8; ++k) lanes[k] += a[i + static_cast<int64_t>(k)] * b[i + static_cast<int64_t>(k)];
  }
  for (; i < count; ++i) lanes[0] += a[i] * b[i];
  return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// The network of one direction.
class Network {
 public:
  Network(const Call& call, std::span<const Tensor> in, int64_t direction)
      : run_(call.run),
        gates_(call.attrs().i(Attr::gates)),
        batch_(in[0].shape()[1]),
        inputs_(in[0].shape()[2]),
        units_(in[2].shape()[2]),
        reset_after_(call.attrs().i(Attr::reset_after) == 1),
        h_(static_cast<size_t>(batch_ * units_)),
        c_(h_.size()),
        sums_(static_cast<size_t>(batch_ * gates_ * units_)),
        recurrent_(sums_.size()) {
    const int64_t rows = gates_ * units_;
    w_ = in[1].data<double>() + direction * rows * inputs_;
    r_ = in[2].data<double>() + direction * rows * units_;
    if (in.size() > 3) bias_ = in[3].data<double>() + direction * 2 * rows;
    const auto state = [&](size_t k, std::vector<double>& to) {
      if (in.size() > k) std::copy_n(in[k].data<double>() + direction * std::ssize(to), to.size(), to.begin());
    };
    state(4, h_);
    state(5, c_);
  }

  // [B,H]
  const std::vector<double>& h() const { return h_; }
  const std::vector<double>& c() const { return c_; }

  // x[B,I] of one step.
  void step(const double* x) {
    const int64_t rows = gates_ * units_;
    // The last gate of a GRU reads the state behind the reset gate.
    const int64_t later = gates_ == 3 && !reset_after_ ? units_ : 0;
    products(x, 0, rows - later);
    if (later > 0) {
      std::vector<double> kept = h_;
      for (int64_t at = 0; at < batch_ * units_; ++at) h_[static_cast<size_t>(at)] *= gate(1, at);
      products(x, rows - later, rows);
      h_ = std::move(kept);
    }
    for (int64_t at = 0; at < batch_ * units_; ++at) update(at);
  }

 private:
  // Of rows [from, to): what the input adds to the gates, and what the state does.
  void products(const double* x, int64_t from, int64_t to) {
    const int64_t rows = gates_ * units_, count = to - from;
    parallel(run_, batch_ * count, std::max<int64_t>(1, kPiece / (inputs_ + units_)), [&](int64_t begin, int64_t end) {
      for (int64_t at = begin; at < end; ++at) {
        const int64_t b = at / count, row = from + at % count;
        const auto place = static_cast<size_t>(b * rows + row);
        sums_[place] = dot(x + b * inputs_, w_ + row * inputs_, inputs_) + (bias_ != nullptr ? bias_[row] : 0);
        recurrent_[place] =
            dot(h_.data() + b * units_, r_ + row * units_, units_) + (bias_ != nullptr ? bias_[rows + row] : 0);
      }
    });
  }

  size_t place(int64_t gate, int64_t at) const {
    return static_cast<size_t>((at / units_ * gates_ + gate) * units_ + at % units_);
  }
  double sum(int64_t gate, int64_t at) const { return sums_[place(gate, at)] + recurrent_[place(gate, at)]; }
  double gate(int64_t gate, int64_t at) const { return sigmoid(sum(gate, at)); }

  void update(int64_t at) {
    double& state = h_[static_cast<size_t>(at)];
    double& cell = c_[static_cast<size_t>(at)];
    if (gates_ == 4) {
      cell = gate(2, at) * cell + gate(0, at) * std::tanh(sum(3, at));
      state = gate(1, at) * std::tanh(cell);
    } else if (gates_ == 3) {
      const double reset = reset_after_ ? gate(1, at) : 1;
      const double fresh = std::tanh(sums_[place(2, at)] + reset * recurrent_[place(2, at)]), keep = gate(0, at);
      state = (1 - keep) * fresh + keep * state;
    } else {
      state = std::tanh(sum(0, at));
    }
  }

  const Run run_;
  const int64_t gates_, batch_, inputs_, units_;
  const bool reset_after_;
  const double *w_ = nullptr, *r_ = nullptr, *bias_ = nullptr;

  std::vector<double> h_, c_;
  std::vector<double> sums_, recurrent_;  // [B,G*H]
};

}  // namespace

Tensors recurrent_kernel(const Call& call) {
  Tensors in;
  for (const Tensor& x : call.in) in.push_back(cast(x, ops::DType::f64, call.run));
  Tensors exact;
  for (const auto& type : call.info.outputs) exact.emplace_back(ops::DType::f64, type.shape);
  const auto& shape = exact[0].shape();
  const int64_t steps = shape[0], directions = shape[1], state = shape[2] * shape[3],
                step_inputs = shape[2] * in[0].shape()[2];
  for (int64_t d = 0; d < directions; ++d) {
    Network network(call, in, d);
    const bool backwards = d == 1 || call.attrs().i(Attr::reverse) == 1;
    for (int64_t s = 0; s < steps; ++s) {
      const int64_t t = backwards ? steps - 1 - s : s;
      network.step(in[0].data<double>() + t * step_inputs);
      std::ranges::copy(network.h(), exact[0].data<double>() + (t * directions + d) * state);
    }
    std::ranges::copy(network.h(), exact[1].data<double>() + d * state);
    if (exact.size() > 2) std::ranges::copy(network.c(), exact[2].data<double>() + d * state);
  }
  Tensors out;
  for (size_t p = 0; p < exact.size(); ++p) out.push_back(cast(exact[p], call.output(p).dtype(), call.run));
  return out;
}

}  // namespace rlgo::evaluate
