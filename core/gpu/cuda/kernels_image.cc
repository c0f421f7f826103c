// kernels.cu as nvcc compiled it (RLGO_GPU_KERNELS, launch/cmake/cuda.cmake), as bytes of the plug-in.
#if defined(__GNUC__)
__asm__(
    ".section .rodata\n"
    ".balign 16\n"
    ".global rlgo_gpu_kernels\n"
    ".hidden rlgo_gpu_kernels\n"
    "rlgo_gpu_kernels:\n"
    ".incbin \"" RLGO_GPU_KERNELS
    "\"\n"
    ".byte 0\n"
    ".previous\n");
#endif
