// Of a build without LibTorch, MPI and HDF5 (RLGO_TRAINING=OFF).
#include "launch/training.h"

namespace rlgo::launch {

const Training* training() { return nullptr; }

}  // namespace rlgo::launch
