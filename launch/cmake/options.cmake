# Options, the cache folder that set-up fills, build types and the compiler cache.

if(DEFINED ENV{RLGO_CACHE})
  set(_cache "$ENV{RLGO_CACHE}")
elseif(DEFINED ENV{XDG_CACHE_HOME})
  set(_cache "$ENV{XDG_CACHE_HOME}/rlgo")
else()
  set(_cache "$ENV{HOME}/.cache/rlgo")
endif()
set(RLGO_CACHE_DIR "${_cache}" CACHE PATH "Folder that launch/scripts/setup.sh fills (Python environment, ONNX, ccache)")
set(RLGO_PYTHON "${RLGO_CACHE_DIR}/venv/bin/python3" CACHE FILEPATH "Python that runs the script tests")
set(_cuda auto)
if(DEFINED ENV{RLGO_CUDA})
  set(_cuda "$ENV{RLGO_CUDA}")
endif()
set(RLGO_CUDA "${_cuda}" CACHE STRING "Use the system's CUDA toolkit: auto (where found), on (an error when missing), off")
set_property(CACHE RLGO_CUDA PROPERTY STRINGS auto on off)
if(SKBUILD)  # the Python package is built (pyproject.toml)
  set(_all OFF)
else()
  set(_all ON)
endif()
option(RLGO_TRAINING "Build what trains agents and the target libtorch (LibTorch, MPI, HDF5)" ${_all})
option(RLGO_TESTS "Build the tests" ${RLGO_TRAINING})
if(RLGO_TESTS AND NOT RLGO_TRAINING)
  message(FATAL_ERROR "RLGO_TESTS=ON needs RLGO_TRAINING=ON")
endif()
option(RLGO_WERROR "Turn warnings into errors" OFF)
set(RLGO_SANITIZE "" CACHE STRING "Sanitizers, as for -fsanitize= (address,undefined); empty for none")

# Two build types. Checks stay on in both: neither defines NDEBUG.
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release (-O2) or RelWithDebInfo (-O1 -g1)" FORCE)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O2")
set(CMAKE_C_FLAGS_RELEASE "-O2")
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O1 -g1")
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O1 -g1")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}")

# ccache with settings that let another build folder or another clone on this machine hit the same entries.
find_program(RLGO_CCACHE ccache)
if(RLGO_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER
      "${CMAKE_COMMAND}" -E env "CCACHE_DIR=${RLGO_CACHE_DIR}/ccache" "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}"
      CCACHE_NOHASHDIR=1 CCACHE_MAXSIZE=10G
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime "${RLGO_CCACHE}")
  set(CMAKE_C_COMPILER_LAUNCHER "${CMAKE_CXX_COMPILER_LAUNCHER}")
endif()
