// The zoo's graphs in sizes that a test can run.
#pragma once

#include <string>

#include "core/zoo/zoo.h"

namespace rlgo {

// Few layers and small pictures; vgg19 has no smaller size (144 million weights).
inline zoo::ZooOptions small_options(const std::string& name) {
  if (name == "resnet18" || name == "resnet50" || name == "resnext50") return {.image = 32};
  if (name == "squeezenet1_1") return {.image = 48};
  if (name == "inception_v3") return {.image = 75};
  if (name == "nasnet_a") return {.layers = 1, .image = 64};
  if (name == "bert") return {.layers = 1, .sequence = 8};
  if (name == "gpt2") return {.layers = 1, .sequence = 8};
  if (name == "vit_b16") return {.layers = 1, .image = 32};
  if (name == "nasrnn") return {.sequence = 2};
  return {};
}

}  // namespace rlgo
