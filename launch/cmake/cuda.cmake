# The system's CUDA toolkit. Sets RLGO_WITH_CUDA; where it is true NCCL::NCCL and CUDA::cudart exist. And
# RLGO_WITH_CUDNN: then CUDNN::cudnn, CUDA::cublasLt and nvcc do, too.
set(RLGO_WITH_CUDA FALSE)
set(RLGO_WITH_CUDNN FALSE)
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
    find_path(CUDNN_INCLUDE_DIR cudnn.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
    find_library(CUDNN_LIBRARY NAMES cudnn libcudnn.so.9 HINTS "${CUDAToolkit_LIBRARY_DIR}")
    if(CUDNN_INCLUDE_DIR AND CUDNN_LIBRARY AND TARGET CUDA::cublasLt AND CUDAToolkit_NVCC_EXECUTABLE)
      set(RLGO_WITH_CUDNN TRUE)
      add_library(CUDNN::cudnn UNKNOWN IMPORTED)
      set_target_properties(CUDNN::cudnn PROPERTIES
        IMPORTED_LOCATION "${CUDNN_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${CUDNN_INCLUDE_DIR}")
      target_compile_definitions(rlgo_ext_nccl INTERFACE RLGO_WITH_CUDNN=1)
      message(STATUS "rlgo: cuDNN, cuBLASLt and nvcc found")
    endif()
  elseif(RLGO_CUDA STREQUAL "on")
    message(FATAL_ERROR "RLGO_CUDA=on, but no CUDA toolkit with NCCL was found. "
                        "Set CUDAToolkit_ROOT, or configure with RLGO_CUDA=off.")
  else()
    message(STATUS "rlgo: no CUDA toolkit with NCCL found: CPU only")
  endif()
endif()

# The kernels of a plug-in, compiled by nvcc for the GPUs that LibTorch serves (and newer ones, which compile the last
# form themselves), become bytes of the plug-in: FILE.cu in cuda/ is the file RLGO_GPU_KERNELS for FILE_image.cc.
function(rlgo_cuda_kernels target source)
  get_filename_component(name "${source}" NAME_WE)
  get_filename_component(folder "${source}" DIRECTORY)
  set(image "${PROJECT_BINARY_DIR}/plugins/${target}_${name}.fatbin")
  file(GLOB headers CONFIGURE_DEPENDS "${folder}/*.h" "${folder}/*.def" "${folder}/../*.h" "${folder}/../*.def"
       "${PROJECT_SOURCE_DIR}/core/ops/functions.def")
  file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/plugins")
  add_custom_command(OUTPUT "${image}"
    COMMAND "${CUDAToolkit_NVCC_EXECUTABLE}" --fatbin -std=c++20 -O3 --compress-mode=size -I "${PROJECT_SOURCE_DIR}"
            -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=[sm_90,compute_90] -o "${image}" "${source}"
    DEPENDS "${source}" ${headers} VERBATIM COMMENT "Compiling the kernels ${name}.cu")
  set_source_files_properties("${folder}/${name}_image.cc" TARGET_DIRECTORY ${target} PROPERTIES
    OBJECT_DEPENDS "${image}" COMPILE_DEFINITIONS "RLGO_GPU_KERNELS=\"${image}\"")
endfunction()
