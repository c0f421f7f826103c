// Plug-ins of rlgo: shared modules for hardware that most machines lack, opened where it is asked for.
#pragma once

#include <string>

namespace rlgo {

// The function `symbol` of the plug-in `file` ("rlgo_core_comm_cuda.so"). Looked for where the loader looks, next to
// the program (build tree, package's bin), and next to a program in libexec/rlgo (the package's tests). It stays open
// until the process ends: CUDA does not survive being unloaded. Throws Error: "the `what` does not load: ...", with the
// loader's reason for each place, or that the file is no such plug-in.
void* plugin_function(const std::string& what, const std::string& file, const std::string& symbol);

}  // namespace rlgo
