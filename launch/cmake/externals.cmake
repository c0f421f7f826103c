# Third-party libraries. launch/modules.tsv names them in its third column; rlgo_ext_NAME is the target behind a name.
# A library that a module may show in its headers is linked PUBLIC (RLGO_PUBLIC_EXTERNALS), every other one PRIVATE.
set(RLGO_PUBLIC_EXTERNALS spdlog torch json)

find_package(Threads REQUIRED)

find_package(spdlog REQUIRED)
add_library(rlgo_ext_spdlog INTERFACE)
target_link_libraries(rlgo_ext_spdlog INTERFACE spdlog::spdlog Threads::Threads)
# LibTorch's headers bring a newer fmt than the one that spdlog was built with. This folder, which every target searches
# first (rlgo_flags), has spdlog's alone; no header that rlgo includes from LibTorch needs the other.
find_path(RLGO_FMT_INCLUDE_DIR fmt/core.h NO_CACHE REQUIRED)
file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/include")
file(CREATE_LINK "${RLGO_FMT_INCLUDE_DIR}/fmt" "${PROJECT_BINARY_DIR}/include/fmt" SYMBOLIC)
target_include_directories(rlgo_flags SYSTEM BEFORE INTERFACE "${PROJECT_BINARY_DIR}/include")

find_package(nlohmann_json REQUIRED)
add_library(rlgo_ext_json INTERFACE)
target_link_libraries(rlgo_ext_json INTERFACE nlohmann_json::nlohmann_json)

find_package(Boost REQUIRED COMPONENTS program_options)
add_library(rlgo_ext_boost_po INTERFACE)
target_link_libraries(rlgo_ext_boost_po INTERFACE Boost::program_options)

find_package(Protobuf REQUIRED)
file(GLOB _onnx_folders "${RLGO_CACHE_DIR}/onnx-*")
find_package(ONNX 1.21 REQUIRED CONFIG HINTS ${_onnx_folders})
add_library(rlgo_ext_onnx INTERFACE)
target_link_libraries(rlgo_ext_onnx INTERFACE ONNX::onnx)
target_include_directories(rlgo_ext_onnx SYSTEM INTERFACE "${ONNX_DIR}/../../../include")  # its own targets name none

find_path(CBC_INCLUDE_DIR coin/Cbc_C_Interface.h REQUIRED)
find_library(CBC_LIBRARY CbcSolver REQUIRED)
add_library(rlgo_ext_cbc INTERFACE)
target_include_directories(rlgo_ext_cbc SYSTEM INTERFACE "${CBC_INCLUDE_DIR}" "${CBC_INCLUDE_DIR}/coin")
target_link_libraries(rlgo_ext_cbc INTERFACE "${CBC_LIBRARY}")

find_package(Eigen3 REQUIRED NO_MODULE)  # headers alone
add_library(rlgo_ext_eigen INTERFACE)
target_link_libraries(rlgo_ext_eigen INTERFACE Eigen3::Eigen)

find_package(Z3 REQUIRED)
add_library(rlgo_ext_z3 INTERFACE)
target_link_libraries(rlgo_ext_z3 INTERFACE Z3::Z3)

# nccl: headers of CUDA and NCCL and RLGO_WITH_CUDA=1 where a toolkit is found, nothing elsewhere. The libraries
# themselves are linked by plug-ins only (rlgo_cuda_plugin), so that rlgo starts where they are missing.
add_library(rlgo_ext_nccl INTERFACE)

# What only training needs. Modules that link one of these are left out of a build without (rlgo_present_modules).
set(RLGO_TRAINING_EXTERNALS torch mpi hdf5)
if(RLGO_TRAINING)
  find_package(LibTorch REQUIRED)
  add_library(rlgo_ext_torch INTERFACE)
  target_link_libraries(rlgo_ext_torch INTERFACE LibTorch::LibTorch ${CMAKE_DL_LIBS})

  find_package(MPI REQUIRED COMPONENTS C)
  add_library(rlgo_ext_mpi INTERFACE)
  target_link_libraries(rlgo_ext_mpi INTERFACE MPI::MPI_C)
  target_compile_definitions(rlgo_ext_mpi INTERFACE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)

  find_package(HDF5 REQUIRED COMPONENTS C)
  add_library(rlgo_ext_hdf5 INTERFACE)
  # The C library alone: what Debian's own wrapper adds (curl, crypto, static pthread) nobody calls.
  target_link_libraries(rlgo_ext_hdf5 INTERFACE "$<TARGET_FILE:hdf5::hdf5>")
  target_include_directories(rlgo_ext_hdf5 SYSTEM INTERFACE ${HDF5_C_INCLUDE_DIRS})

  include(cuda)
endif()

# nanobind: launch/python links it by nanobind's own functions, which name the interpreter too.
add_library(rlgo_ext_nanobind INTERFACE)
