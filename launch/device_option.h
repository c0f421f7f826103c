// An option that commands without training share.
#pragma once

#include <string>

#include "core/base/options.h"

namespace rlgo::launch {

// --device: where --target libtorch and cuda time operators and models.
inline void declare_device(OptionSink& sink, std::string& device) {
  sink.text("device", device, "cpu, cuda, cuda:N, auto: of the targets libtorch and cuda");
}

}  // namespace rlgo::launch
