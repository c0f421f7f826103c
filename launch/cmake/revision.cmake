# cmake -DSOURCE=... -DVERSION=... -DOUTPUT=revision.cc -P revision.cmake: writes the git revision as C++, when it changed.
execute_process(COMMAND git -C "${SOURCE}" describe --always --dirty --abbrev=12
  OUTPUT_VARIABLE revision OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE status)
if(NOT status EQUAL 0 OR revision STREQUAL "")
  set(revision unknown)
endif()
file(CONFIGURE OUTPUT "${OUTPUT}" CONTENT [[#include "launch/revision.h"

namespace rlgo::launch {

const char* const kVersion = "@VERSION@";
const char* const kRevision = "@revision@";

}  // namespace rlgo::launch
]] @ONLY)
