// Signed numbers of codes, which come from files and other ranks: bounded before anything is computed with them. Only
// for core/codec/*.cc.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/base/bytes.h"
#include "core/base/error.h"

namespace rlgo::mdp {

// A number from -most to most; fails and names `what` where it is another. most <= 2^62: sums of two stay within int64.
inline int64_t get_signed(ByteReader& in, std::string_view what, int64_t most = INT32_MAX) {
  const int64_t number = in.get_signed_varint();
  if (number < -most || number > most) fail("damaged code: {} is {}", what, number);
  return number;
}

}  // namespace rlgo::mdp
