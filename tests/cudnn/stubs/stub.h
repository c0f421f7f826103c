// Stand-ins for libcudnn.so.9 and libcublasLt.so.13 over the one for libcudart.so.13 (tests/nccl/stubs): they compute
// what their descriptors state, in loops, refuse what the libraries refuse, and take the time that the script states.
#pragma once

#include <cstddef>
#include <vector>

struct StubLibraries {
  std::vector<double> conv_us = {50, 30, 40};  // of cuDNN's algorithms 0, 1, ... in the order that it proposes them
  std::vector<double> matmul_us = {20, 10};    // of cuBLASLt's proposals
  int failing_conv = -1;                       // the algorithm that fails when it runs
  bool conv_unsupported = false;               // cuDNN proposes none
  bool matmul_unsupported = false;
  bool no_handle = false;  // cudnnCreate fails
};
// Of libcudnn.so.9 and of libcublasLt.so.13. From here on.
void stub_cudnn(const StubLibraries& script);
void stub_cublaslt(const StubLibraries& script);

// What ran so far, since the script was set.
struct StubConvs {
  int plain = 0, fused = 0, transposed = 0, additions = 0;
};
StubConvs stub_convs();
std::vector<int> stub_epilogues();  // of the products
