# cmake --install BUILD --prefix FOLDER: a tree that can be moved. Programs find their libraries in lib/ beside bin/
# ($ORIGIN), rules and configurations in share/rlgo; LibTorch and the CUDA libraries come from outside (rlgo.sh finds
# them). launch/scripts/package.sh adds the libraries that another machine may lack.
include(GNUInstallDirs)

# As files, not as targets: CMake would want to edit a search path that the flags have set.
install(PROGRAMS $<TARGET_FILE:rlgo> DESTINATION bin)
set(_rpath_of "bin/rlgo")
if(TARGET rlgo_core_comm_cuda)
  install(PROGRAMS $<TARGET_FILE:rlgo_core_comm_cuda> DESTINATION bin/plugins)
  list(APPEND _rpath_of bin/plugins/rlgo_core_comm_cuda.so)
endif()
# The GPU tests travel along, where they were built: the machine with the GPU may have no compiler.
if(TARGET test_gpu)
  install(PROGRAMS $<TARGET_FILE:test_gpu> DESTINATION libexec/rlgo OPTIONAL)
  list(APPEND _rpath_of libexec/rlgo/test_gpu)
endif()
install(DIRECTORY configs/ DESTINATION share/rlgo/configs)
install(DIRECTORY docs/ DESTINATION share/doc/rlgo)
install(FILES README.md DESTINATION share/doc/rlgo)
install(PROGRAMS launch/scripts/rlgo.sh DESTINATION . RENAME rlgo)
install(PROGRAMS launch/scripts/gpu-check.sh DESTINATION .)

# The build's search path names folders of this machine.
foreach(_file IN LISTS _rpath_of)
  string(REGEX REPLACE "[^/]+/" "../" _up "${_file}")
  get_filename_component(_up "${_up}" DIRECTORY)
  install(CODE "
    set(_file \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${_file}\")
    if(EXISTS \"\${_file}\")
      file(RPATH_SET FILE \"\${_file}\" NEW_RPATH \"\\\$ORIGIN/${_up}/lib\")
    endif()")
endforeach()
