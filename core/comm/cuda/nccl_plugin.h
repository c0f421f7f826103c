// The C interface of the NCCL plug-in. Plain C types only: the plug-in is opened with dlopen, where a GPU is asked for.
#pragma once

#include <cstddef>

extern "C" {

constexpr int kRlgoNcclPluginVersion = 5;
// What functions return: done; failed here; another rank is silent or gone; under way.
constexpr int kRlgoNcclDone = 0, kRlgoNcclFailed = 1, kRlgoNcclNoAnswer = 2, kRlgoNcclBusy = 3;
constexpr size_t kRlgoNcclIdBytes = 128;

// Nothing in here waits for another rank: what takes long is begun, then asked for. All functions that return a number
// write what went wrong into error[error_size] (ends with 0).
struct RlgoNcclPlugin {
  int version;
  int (*unique_id)(char id[kRlgoNcclIdBytes], char* error, size_t error_size);
  // Begins to join the `size` ranks that call it with the same id. *group, where it is not null afterwards, is to be
  // destroyed or abandoned.
  int (*begin_init)(const char id[kRlgoNcclIdBytes], int rank, int size, int device, void** group, char* error,
                    size_t error_size);
  // data: `count` floats, or doubles where `is_double`, on the group's device. Waits on the device for what its default
  // stream was given so far. May be called from any thread, but only when poll_begun reports completion.
  int (*begin_sum)(void* group, void* data, size_t count, int is_double, char* error, size_t error_size);
  // Whether what begin_init or begin_sum began is in the device's hands (the first sums connect the ranks). From the
  // thread that began it.
  int (*poll_begun)(void* group, char* error, size_t error_size);
  // Whether all sums that were begun are there.
  int (*poll_sums)(void* group, char* error, size_t error_size);
  // After the last sum, where all went well: takes leave of the others.
  void (*destroy)(void* group);
  // Where something failed: ends what is under way on the device, in a thread of its own, as NCCL may wait there for
  // all ranks to do the same. Returns at once. The group is not used any more.
  void (*abandon)(void* group);
};

// The symbol that the plug-in exports.
using RlgoNcclPluginFunction = const RlgoNcclPlugin* (*)();
const RlgoNcclPlugin* rlgo_nccl_plugin();
}
