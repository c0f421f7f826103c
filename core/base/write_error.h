// A file could not be written because of its place: the disk is full, the folder is not writable, or is gone.
#pragma once

#include "core/base/error.h"

namespace rlgo {

// Apart from other Errors, so that "the disk is full" is not taken for "a file of that format cannot hold this".
class WriteError : public Error {
 public:
  using Error::Error;
};

}  // namespace rlgo
