#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

#include "core/base/error.h"
#include "launch/python/padded_env.h"

namespace rlgo::python {

// Threads that wait for work: environments are dealt out one at a time, as their steps take unequally long.
struct BatchStepper::Pool {
  explicit Pool(int helpers) {
    for (int k = 0; k < helpers; ++k) threads.emplace_back([this] { serve(); });
  }
  ~Pool() {
    {
      const std::lock_guard lock(mutex);
      ended = true;
    }
    begin.notify_all();
    for (auto& thread : threads) thread.join();
  }

  // Calls work(k) for k in [0, count). Throws what the first failing call threw, when all have ended.
  void run(size_t count, const std::function<void(size_t)>& work) {
    {
      const std::lock_guard lock(mutex);
      task = &work;
      next = 0;
      end = count;
      failure = nullptr;
      busy = static_cast<int>(threads.size());
      ++round;
    }
    begin.notify_all();
    take_part();
    std::unique_lock lock(mutex);
    done.wait(lock, [this] { return busy == 0; });
    task = nullptr;
    if (failure) std::rethrow_exception(failure);
  }

  void serve() {
    uint64_t seen = 0;
    for (;;) {
      {
        std::unique_lock lock(mutex);
        begin.wait(lock, [&] { return ended || round != seen; });
        if (ended) return;
        seen = round;
      }
      take_part();
      const std::lock_guard lock(mutex);
      if (--busy == 0) done.notify_one();
    }
  }

  void take_part() {
    for (;;) {
      size_t k = 0;
      {
        const std::lock_guard lock(mutex);
        if (next == end) return;
        k = next++;
      }
      try {
        (*task)(k);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!failure) failure = std::current_exception();
      }
    }
  }

  std::vector<std::thread> threads;
  std::mutex mutex;  // of all below
  std::condition_variable begin, done;
  const std::function<void(size_t)>* task = nullptr;
  size_t next = 0, end = 0;
  int busy = 0;
  uint64_t round = 0;
  bool ended = false;
  std::exception_ptr failure;
};

BatchStepper::BatchStepper(std::vector<std::shared_ptr<PaddedEnv>> envs, int threads)
    : envs_(std::move(envs)),
      pool_(std::make_unique<Pool>(std::max(0, std::min(threads, static_cast<int>(envs_.size())) - 1))) {}
BatchStepper::~BatchStepper() = default;

std::vector<Outcome> BatchStepper::step(std::span<const mdp::Action> actions, std::span<const Arrays> arrays) {
  RLGO_CHECK_EQ(actions.size(), size());
  RLGO_CHECK_EQ(arrays.size(), size());
  std::vector<Outcome> out(size());
  pool_->run(size(), [&](size_t k) {
    PaddedEnv& env = *envs_[k];
    if (!env.running()) {
      out[k] = env.reset(0);
      out[k].reset = true;
    } else {
      out[k] =
          actions[k].location == PaddedEnv::kChosenByIndex ? env.step_index(actions[k].rule) : env.step(actions[k]);
    }
    env.write(arrays[k]);
  });
  return out;
}

std::vector<Outcome> BatchStepper::reset(std::span<const uint8_t> which, std::span<const uint64_t> keys,
                                         std::span<const Arrays> arrays) {
  RLGO_CHECK_EQ(which.size(), size());
  RLGO_CHECK_EQ(keys.size(), size());
  std::vector<Outcome> out(size());
  pool_->run(size(), [&](size_t k) {
    if (which[k] == 0) return;
    out[k] = envs_[k]->reset(keys[k]);
    envs_[k]->write(arrays[k]);
  });
  return out;
}

}  // namespace rlgo::python
