// What the allocator does with memory that is freed. One setting for the whole process.
#pragma once

namespace rlgo::exec {

// From now on it is kept. Otherwise large outputs are mapped and unmapped again at every run, and the page faults (up
// to six times the work of a convolution: measured) are counted or not as chance has it. Runtimes keep arenas for the
// same reason.
void keep_freed_memory();

// From now on it goes back to the system, as does what was kept. For runs that are not timed and whose tensors are of
// many sizes: in memory that is kept, large blocks are cut up by smaller ones, until no room is left.
void return_freed_memory();

}  // namespace rlgo::exec
