# rlgo_precompiled(FILE...): lets sources read other people's headers precompiled, each the smallest set that has what it
# meets. A file then takes 0.8 s less with the standard library's, 5 s less with LibTorch's. Each set is made once for the
# whole build tree, by the target rlgo_pch_SET; sources include what they need all the same (clang-tidy reads them without).
#
#   std      the standard library and fmt                    what meets no LibTorch
#   tensor   LibTorch's tensors                              core/exec
#   nets     tensors, modules, optimisers                    core/nets and what is above it
#   test     the standard library, fmt, GoogleTest; -O1      tests that meet no LibTorch
#
# <torch/torch.h> is never included: it takes twice as long as what rlgo uses of it.

set(_std <algorithm> <array> <cmath> <cstdint> <functional> <map> <memory> <numeric> <optional> <set> <span>
  <string> <string_view> <unordered_map> <utility> <variant> <vector> <spdlog/fmt/fmt.h>)
set(_tensor ${_std} <torch/types.h> <torch/utils.h>)
set(_nets ${_tensor} <torch/nn/module.h> <torch/nn/modules/linear.h> <torch/nn/modules/normalization.h> <torch/optim/adam.h>)
set(_test ${_std} <gmock/gmock.h> <gtest/gtest.h>)
set(RLGO_TEST_OPTIONS $<$<CONFIG:Release>:-O1>)  # after -O2: it counts

set(_sets std)
if(RLGO_TRAINING)
  list(APPEND _sets tensor nets)
endif()
if(RLGO_TESTS)
  list(APPEND _sets test)
endif()
foreach(_set IN LISTS _sets)
  file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/pch_${_set}.cc" CONTENT "// Owner of a precompiled header.\n")
  add_library(rlgo_pch_${_set} STATIC "${PROJECT_BINARY_DIR}/pch_${_set}.cc")
  target_link_libraries(rlgo_pch_${_set} PRIVATE rlgo_flags rlgo_ext_spdlog)
  target_precompile_headers(rlgo_pch_${_set} PRIVATE ${_${_set}})
endforeach()
if(RLGO_TRAINING)
  target_link_libraries(rlgo_pch_tensor PRIVATE rlgo_ext_torch)
  target_link_libraries(rlgo_pch_nets PRIVATE rlgo_ext_torch)
endif()
if(RLGO_TESTS)
  find_package(GTest REQUIRED)
  target_link_libraries(rlgo_pch_test PRIVATE GTest::gmock)  # its macros must be those of the tests
  target_compile_options(rlgo_pch_test PRIVATE ${RLGO_TEST_OPTIONS})
endif()

# What a file meets of LibTorch, through all that it includes: 0 nothing, 1 tensors, 2 modules or optimisers.
function(rlgo_torch_level file out)
  get_property(known GLOBAL PROPERTY "rlgo_torch_level:${file}")
  if("${known}" STREQUAL "")
    set(known 0)
    set(lines "")
    set_property(GLOBAL PROPERTY "rlgo_torch_level:${file}" 0)  # ends circles
    if(EXISTS "${PROJECT_SOURCE_DIR}/${file}")
      file(STRINGS "${PROJECT_SOURCE_DIR}/${file}" lines REGEX "^#include (\"|<torch/|<ATen/|<c10/)")
    endif()
    foreach(line IN LISTS lines)
      set(level 1)
      if(line MATCHES "^#include \"([^\"]+)\"")
        rlgo_torch_level("${CMAKE_MATCH_1}" level)
      elseif(line MATCHES "<torch/(nn|optim)/")
        set(level 2)
      endif()
      if(level GREATER known)
        set(known ${level})
      endif()
    endforeach()
    set_property(GLOBAL PROPERTY "rlgo_torch_level:${file}" ${known})
  endif()
  set(${out} ${known} PARENT_SCOPE)
endfunction()

# A header that begins to include LibTorch counts from the next configuration on: until then its readers compile slowly.
# A source with SKIP_PRECOMPILE_HEADERS reads none: what has flags of its own cannot.
function(rlgo_precompiled)
  foreach(source IN LISTS ARGN)
    get_source_file_property(skip "${source}" SKIP_PRECOMPILE_HEADERS)
    if(skip)
      continue()
    endif()
    file(RELATIVE_PATH name "${PROJECT_SOURCE_DIR}" "${source}")
    rlgo_torch_level("${name}" level)
    if(level EQUAL 2)
      set(set nets)
    elseif(level EQUAL 1)
      set(set tensor)
    elseif(name MATCHES "^tests/")
      set(set test)
      set_property(SOURCE "${source}" APPEND PROPERTY COMPILE_OPTIONS ${RLGO_TEST_OPTIONS})
    else()
      set(set std)
    endif()
    # By hand, because CMake knows only one precompiled header for all sources of a target.
    set(header "${PROJECT_BINARY_DIR}/CMakeFiles/rlgo_pch_${set}.dir/cmake_pch.hxx")
    set_property(SOURCE "${source}" APPEND PROPERTY COMPILE_OPTIONS -Winvalid-pch -include "${header}")
    set_property(SOURCE "${source}" APPEND PROPERTY OBJECT_DEPENDS "${header}.gch")
  endforeach()
endfunction()
