// The C interface of the NCCL plug-in. Plain C types only: the plug-in is opened with dlopen, where a GPU is asked for.
#pragma once

#include <cstddef>

extern "C" {

constexpr int kRlgoNcclPluginVersion = 1;
constexpr size_t kRlgoNcclIdBytes = 128;

// All functions return 0, or write what went wrong into error[error_size] (ends with 0) and return 1.
struct RlgoNcclPlugin {
  int version;
  int (*unique_id)(char id[kRlgoNcclIdBytes], char* error, size_t error_size);
  // Blocks until all `size` ranks have called it with the same id. *group is to be destroyed.
  int (*init)(const char id[kRlgoNcclIdBytes], int rank, int size, int device, void** group, char* error,
              size_t error_size);
  // data: `count` floats on the group's device. Returns when the sum is there.
  int (*all_reduce_sum)(void* group, float* data, size_t count, char* error, size_t error_size);
  void (*destroy)(void* group);
};

// The symbol that the plug-in exports.
using RlgoNcclPluginFunction = const RlgoNcclPlugin* (*)();
const RlgoNcclPlugin* rlgo_nccl_plugin();
}
