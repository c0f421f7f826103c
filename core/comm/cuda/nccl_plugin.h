// The C interface of the NCCL plug-in. Plain C types only: the plug-in is opened with dlopen, where a GPU is asked for.
#pragma once

#include <cstddef>

extern "C" {

constexpr int kRlgoNcclPluginVersion = 3;
constexpr int kRlgoNcclNoAnswer = 2;
constexpr size_t kRlgoNcclIdBytes = 128;
constexpr size_t kRlgoDeviceAddressBytes = 64;

// All functions return 0, or write what went wrong into error[error_size] (ends with 0) and return 1, or
// kRlgoNcclNoAnswer where another rank is silent or gone.
struct RlgoNcclPlugin {
  int version;
  int (*unique_id)(char id[kRlgoNcclIdBytes], char* error, size_t error_size);
  // Blocks until all `size` ranks have called it with the same id. *group is to be destroyed.
  int (*init)(const char id[kRlgoNcclIdBytes], int rank, int size, int device, void** group, char* error,
              size_t error_size);
  // data: `count` floats, or doubles where `is_double`, on the group's device. Waits on the device for what its default
  // stream was given so far; returns at once. May be called from any thread.
  int (*begin_sum)(void* group, void* data, size_t count, int is_double, char* error, size_t error_size);
  // Returns when all sums are there, or fails after timeout_s and gives the communicator up.
  int (*wait)(void* group, double timeout_s, char* error, size_t error_size);
  // The device's address on the bus, ends with 0.
  int (*address)(int device, char address[kRlgoDeviceAddressBytes], char* error, size_t error_size);
  void (*destroy)(void* group);
};

// The symbol that the plug-in exports.
using RlgoNcclPluginFunction = const RlgoNcclPlugin* (*)();
const RlgoNcclPlugin* rlgo_nccl_plugin();
}
