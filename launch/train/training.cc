#include "launch/training.h"

#include "core/comm/mpi/mpi_comm.h"
#include "core/exec/device.h"
#include "core/exec/runtime.h"
#include "core/gpu/runtime.h"
#include "launch/train/commands.h"
#include "launch/train/run_report.h"
#include "learner/session/inspect.h"
#include "learner/session/trained_search.h"
#include "replay/compact.h"

namespace rlgo::launch {
namespace {

std::shared_ptr<cost::Runtime> libtorch_runtime(const optimise::RuntimeOptions& options, const Log& log,
                                                std::function<bool()> should_stop) {
  exec::MeasureOptions how{options.timing};
  how.deadline = Deadline::when(std::move(should_stop));
  std::string remark;
  const auto device = exec::resolve_device(options.device, &remark);
  if (!remark.empty()) log.warn("{}", remark);
  return std::make_shared<exec::LibTorchRuntime>(device, how);
}

std::shared_ptr<cost::Runtime> cuda_runtime(const optimise::RuntimeOptions& options, const Log&,
                                            std::function<bool()> should_stop) {
  exec::MeasureOptions how{options.timing};
  how.deadline = Deadline::when(std::move(should_stop));
  return std::make_shared<gpu::CudaRuntime>(gpu::gpu_for(options.device), how);
}

std::string compact(const std::filesystem::path& rollouts) {
  const auto done = replay::compact(rollouts);
  return fmt::format("merged {} parts into {}\n", done.parts_before, done.parts_after);
}

std::string write_report(const std::filesystem::path& run) {
  write_run_report({run});
  return learner::RunFolder{run}.report().string();
}

}  // namespace

const Training* training() {
  static const Training kTraining{
      run_train,         run_evaluate,   run_replay,       run_training_bench,          run_bench_scale,
      learner::describe, write_report,   compact,          learner::search_by_training, libtorch_runtime,
      cuda_runtime,      comm::mpi_comm, exec::set_threads};
  return &kTraining;
}

}  // namespace rlgo::launch
