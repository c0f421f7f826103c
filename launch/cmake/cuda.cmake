# The system's CUDA toolkit. Sets RLGO_WITH_CUDA; where it is true NCCL::NCCL and CUDA::cudart exist.
set(RLGO_WITH_CUDA FALSE)
if(NOT RLGO_CUDA STREQUAL "off")
  find_package(CUDAToolkit 13.0 QUIET)  # the major version that LibTorch was built with
  if(CUDAToolkit_FOUND)
    find_path(NCCL_INCLUDE_DIR nccl.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
    find_library(NCCL_LIBRARY NAMES nccl libnccl.so.2 HINTS "${CUDAToolkit_LIBRARY_DIR}")
  endif()
  if(CUDAToolkit_FOUND AND NCCL_INCLUDE_DIR AND NCCL_LIBRARY)
    set(RLGO_WITH_CUDA TRUE)
    add_library(NCCL::NCCL UNKNOWN IMPORTED)
    set_target_properties(NCCL::NCCL PROPERTIES
      IMPORTED_LOCATION "${NCCL_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${NCCL_INCLUDE_DIR}")
    target_compile_definitions(rlgo_ext_nccl INTERFACE RLGO_WITH_CUDA=1)
    target_include_directories(rlgo_ext_nccl SYSTEM INTERFACE ${CUDAToolkit_INCLUDE_DIRS} "${NCCL_INCLUDE_DIR}")
    target_link_options(rlgo_flags INTERFACE "LINKER:-rpath,${CUDAToolkit_LIBRARY_DIR}")
    message(STATUS "rlgo: CUDA ${CUDAToolkit_VERSION} and NCCL found")
  elseif(RLGO_CUDA STREQUAL "on")
    message(FATAL_ERROR "RLGO_CUDA=on, but no CUDA toolkit with NCCL was found. "
                        "Set CUDAToolkit_ROOT, or configure with RLGO_CUDA=off.")
  else()
    message(STATUS "rlgo: no CUDA toolkit with NCCL found: CPU only")
  endif()
endif()
