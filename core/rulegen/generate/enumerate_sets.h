// The families that the generator knows, by name: the table behind make_family().
#pragma once

#include <span>

#include "core/rulegen/generate/enumerate_family.h"

namespace rlgo::rulegen {

struct NamedFamily {
  const char* name;
  Family (*make)();  // without permutations
};
std::span<const NamedFamily> named_families();

}  // namespace rlgo::rulegen
