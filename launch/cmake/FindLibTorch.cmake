# LibTorch::LibTorch from the PyPI wheel that set-up installed, or from LibTorch_ROOT (the folder with include/ and lib/).
#
# The wheel's own TorchConfig.cmake cannot be used: built for CUDA, it insists on a toolkit. rlgo links libtorch_cpu and
# libc10 alone (32 ranks must start fast and stay small); libtorch_cuda.so is opened at run time where a GPU is asked for.
file(GLOB _libtorch_wheels "${RLGO_CACHE_DIR}/venv/lib/python3*/site-packages/torch")
find_path(LibTorch_INCLUDE_DIR torch/csrc/api/include/torch/torch.h
          HINTS ${_libtorch_wheels} PATH_SUFFIXES include)
find_library(LibTorch_CPU_LIBRARY torch_cpu HINTS ${_libtorch_wheels} PATH_SUFFIXES lib)
find_library(LibTorch_C10_LIBRARY c10 HINTS ${_libtorch_wheels} PATH_SUFFIXES lib)
mark_as_advanced(LibTorch_INCLUDE_DIR LibTorch_CPU_LIBRARY LibTorch_C10_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LibTorch
  REQUIRED_VARS LibTorch_CPU_LIBRARY LibTorch_C10_LIBRARY LibTorch_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "run launch/scripts/setup.sh, or set LibTorch_ROOT")

if(LibTorch_FOUND AND NOT TARGET LibTorch::LibTorch)
  get_filename_component(_libtorch_lib "${LibTorch_CPU_LIBRARY}" DIRECTORY)
  add_library(LibTorch::c10 SHARED IMPORTED)
  set_target_properties(LibTorch::c10 PROPERTIES IMPORTED_LOCATION "${LibTorch_C10_LIBRARY}")
  add_library(LibTorch::LibTorch SHARED IMPORTED)
  set_target_properties(LibTorch::LibTorch PROPERTIES
    IMPORTED_LOCATION "${LibTorch_CPU_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${LibTorch_INCLUDE_DIR};${LibTorch_INCLUDE_DIR}/torch/csrc/api/include"
    INTERFACE_LINK_LIBRARIES LibTorch::c10
    INTERFACE_LINK_OPTIONS "LINKER:--allow-shlib-undefined")
  # The wheel shows which C++ ABI it was built with.
  file(GLOB _libtorch_config "${_libtorch_lib}/../share/cmake/Torch/TorchConfig.cmake")
  if(_libtorch_config)
    file(STRINGS "${_libtorch_config}" _libtorch_abi REGEX "_GLIBCXX_USE_CXX11_ABI=[01]")
    if(_libtorch_abi MATCHES "_GLIBCXX_USE_CXX11_ABI=([01])")
      set_property(TARGET LibTorch::LibTorch PROPERTY
                   INTERFACE_COMPILE_DEFINITIONS "_GLIBCXX_USE_CXX11_ABI=${CMAKE_MATCH_1}")
    endif()
  endif()
endif()
