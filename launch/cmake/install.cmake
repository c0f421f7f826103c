# cmake --install BUILD --prefix FOLDER: a tree that can be moved. bin/rlgo is a script that finds LibTorch and the CUDA
# libraries, which come from outside, and starts libexec/rlgo/rlgo; that finds its libraries in lib/ ($ORIGIN), rules and
# configurations in share/rlgo. launch/scripts/package.sh adds the libraries that another machine may lack.
include(GNUInstallDirs)

# As files, not as targets: CMake would want to edit a search path that the flags have set.
install(PROGRAMS $<TARGET_FILE:rlgo> DESTINATION libexec/rlgo)
set(_rpath_of "libexec/rlgo/rlgo")
foreach(_plugin rlgo_core_comm_cuda rlgo_core_gpu_cuda)
  if(TARGET ${_plugin})
    install(PROGRAMS $<TARGET_FILE:${_plugin}> DESTINATION libexec/rlgo/plugins)
    list(APPEND _rpath_of libexec/rlgo/plugins/${_plugin}.so)
  endif()
endforeach()
# The GPU tests travel along, where they were built: the machine with the GPU may have no compiler.
if(TARGET test_gpu)
  install(PROGRAMS $<TARGET_FILE:test_gpu> DESTINATION libexec/rlgo OPTIONAL)
  list(APPEND _rpath_of libexec/rlgo/test_gpu)
endif()
install(DIRECTORY configs/ DESTINATION share/rlgo/configs)
install(DIRECTORY docs/ DESTINATION share/doc/rlgo)
install(FILES README.md DESTINATION share/doc/rlgo)
install(PROGRAMS launch/scripts/rlgo.sh DESTINATION . RENAME rlgo)
install(PROGRAMS launch/scripts/rlgo.sh DESTINATION bin RENAME rlgo)
install(DIRECTORY launch/measurers/ DESTINATION share/rlgo/measurers FILES_MATCHING PATTERN "*.py")

# The analysis of runs: bin/rlgo-analyse is results/analyse.
install(DIRECTORY results/rlgo_results DESTINATION share/rlgo/analysis PATTERN "__pycache__" EXCLUDE)
install(PROGRAMS results/analyse DESTINATION share/rlgo/analysis)
install(CODE "
  set(_bin \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/bin\")
  file(CREATE_LINK ../share/rlgo/analysis/analyse \"\${_bin}/rlgo-analyse\" SYMBOLIC)")

# Manual page and completion, as the program itself shows them.
foreach(_text "man;share/man/man1/rlgo.1" "completion bash;share/bash-completion/completions/rlgo"
              "completion zsh;share/zsh/site-functions/_rlgo")
  list(GET _text 0 _command)
  list(GET _text 1 _file)
  string(REPLACE " " ";" _command "${_command}")
  install(CODE "
    set(_file \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${_file}\")
    get_filename_component(_folder \"\${_file}\" DIRECTORY)
    file(MAKE_DIRECTORY \"\${_folder}\")
    execute_process(COMMAND \"$<TARGET_FILE:rlgo>\" ${_command} OUTPUT_FILE \"\${_file}\" COMMAND_ERROR_IS_FATAL ANY)")
endforeach()
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
