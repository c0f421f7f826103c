// rlgo [train]: the main job.
#include <cstdio>

#include "core/base/error.h"
#include "core/base/text_file.h"
#include "core/base/usage.h"
#include "launch/train/commands.h"
#include "launch/train/followers.h"
#include "launch/train/roles.h"
#include "launch/train/run_parts.h"
#include "learner/session/gpu_sizes.h"
#include "learner/session/latency_ranks.h"
#include "learner/session/run_folder.h"

namespace rlgo::launch {
namespace {

// Command line over --config file over the resumed run's options over defaults.
void read_options(const comm::Comm& comm, const std::vector<std::string>& arguments, Options& options,
                  RunConfig& config) {
  const auto words = options.parse_command_line(arguments);
  if (!words.empty()) fail_usage("command line: unexpected '{}'; options begin with --", words[0]);
  if (!config.resume.empty()) {
    const learner::RunFolder folder{config.resume};
    read_run_options(options, config, folder);
  }
  if (!config.config.empty()) options.parse_config(read_text(config.config), config.config, Source::file);
  check(config);
  check_ranks(config, comm.size());
  const auto unset = [&](const std::string& key) { return options.source(key) == Source::fallback; };
  std::string sizes;
  if (comm.rank() < config.loop.learners && config.agent != Agent::random && !config.learns_latency() &&
      learner::learns_on_gpu(learners_options(config)))
    sizes = learner::fit_gpu(unset, config.loop, config.ppo, config.dream.trainer);
  for (const auto& notice : {options.notice(), sizes})
    if (comm.rank() == 0 && !notice.empty()) std::fprintf(stderr, "rlgo: note: %s\n", notice.c_str());
}

}  // namespace

int run_train(Context& context) {
  RunConfig config;
  Options options;
  declare_problem(options, config);
  declare(options, config.output);
  declare_run(options, config);
  if (asks_for_help(context.arguments)) {
    read_command_line(options, context.arguments, "");
    return 0;
  }
  try {
    read_options(*context.comm, context.arguments, options, config);
  } catch (const Error& e) {
    if (stopped_too(*context.comm)) return exit_status(e);
    throw;
  }
  make_reproducible(config);
  const std::string text = options.dump({"resume", "config", "name", "runs", "json", "quiet", "verbose"});
  if (context.comm->size() == 1) return run_alone(config, text);
  if (config.learns_latency()) {
    learner::keep_cores(context.comm->nodes(), config.timers, context.comm->rank());
    return context.comm->rank() == 0 ? run_learner(config, text, *context.comm)
                                     : run_latency_rank(config, *context.comm);
  }
  learner::choose_ranks(config.loop, config.inference.place, context.comm->nodes());
  if (context.comm->rank() == 0) return run_learner(config, text, *context.comm);
  return context.comm->rank() < config.loop.learners ? run_follower(config, *context.comm)
                                                     : run_actor(config, *context.comm);
}

}  // namespace rlgo::launch
