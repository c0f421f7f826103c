#include "core/comm/launcher.h"

#include <initializer_list>
#include <optional>

#include "core/base/error.h"
#include "core/base/text.h"

namespace rlgo::comm {
namespace {

constexpr const char* kRemedy =
    "use `srun --mpi=pmix` (`srun --mpi=list` shows whether this Slurm has it), or mpirun within the allocation; for "
    "independent runs a job array (launch/scripts/slurm-sweep.sh)";

}  // namespace

Launch look_at_launcher(const std::function<const char*(const char*)>& variable) {
  const auto first = [&](std::initializer_list<const char*> names) -> std::optional<int> {
    for (const char* name : names) {
      const char* text = variable(name);
      if (const auto number = parse_int(text == nullptr ? "" : text)) return static_cast<int>(*number);
    }
    return {};
  };
  Launch launch;
  launch.mpi = first({"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK"}).has_value();
  launch.rank = first({"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}).value_or(0);
  // Of a step of srun; a batch script has no number of tasks of its own.
  const int tasks = first({"SLURM_STEP_NUM_TASKS"}).value_or(1);
  launch.size = launch.mpi ? first({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}).value_or(tasks) : tasks;
  if (!launch.mpi && tasks > 1)
    launch.problem =
        fmt::format("srun started {} processes without MPI, each would be a run of its own: {}", tasks, kRemedy);
  return launch;
}

std::string why_alone(const Launch& launch) {
  return fmt::format(
      "{} processes were started, but MPI connects none of them (it was built without this launcher's interface): {}",
      launch.size, kRemedy);
}

}  // namespace rlgo::comm
