// --device of commands that time alone, without training.
#pragma once

#include <string>

#include "core/base/options.h"

namespace rlgo::launch {

// `device` keeps its value where the option is not given.
inline void declare_device(OptionSink& sink, std::string& device) {
  sink.text("device", device, "cpu, cuda, cuda:N, auto: of the targets libtorch and cuda");
}

}  // namespace rlgo::launch
