// Functions that are compiled for several processors, of which the one at hand is taken at run time.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
// The results are the same on all: none reorders sums.
#define RLGO_CLONES __attribute__((target_clones("avx2", "default")))
// With products and sums in one rounding where the processor has that: results differ in their last bits. (Not
// arch=haswell: that means this one family of processors, not those that can do what it can.)
#define RLGO_FUSED_CLONES __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define RLGO_CLONES
#define RLGO_FUSED_CLONES
#endif
