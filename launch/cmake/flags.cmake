# rlgo_flags: what every target of the project is compiled and linked with.
add_library(rlgo_flags INTERFACE)
target_compile_features(rlgo_flags INTERFACE cxx_std_20)
target_include_directories(rlgo_flags INTERFACE "${PROJECT_SOURCE_DIR}")
# -fPIC everywhere, programs too: a precompiled header serves only what is compiled with the same flags.
target_compile_options(rlgo_flags INTERFACE
  -fPIC -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual
  # GCC 12 takes a string's own buffer for too small in `"..." + std::string` (its bug 105651): a warning, no error.
  $<$<BOOL:${RLGO_WERROR}>:-Werror>
  $<$<AND:$<BOOL:${RLGO_WERROR}>,$<CXX_COMPILER_ID:GNU>>:-Wno-error=array-bounds>
  $<$<AND:$<BOOL:${RLGO_WERROR}>,$<CXX_COMPILER_ID:GNU>>:-Wno-error=restrict>
  $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)  # ccache needs it with precompiled headers
# Where programs and plug-ins look for what they open at run time: the plug-ins, LibTorch and, where there is one, the
# toolkit (added in externals.cmake and cuda.cmake). RPATH rather than RUNPATH, because it also counts for what an
# opened library needs itself: libtorch_cuda.so finds cuBLAS and cuDNN that way.
target_link_options(rlgo_flags INTERFACE LINKER:--disable-new-dtags "LINKER:-rpath,${PROJECT_BINARY_DIR}/plugins")
if(RLGO_SANITIZE)
  target_compile_options(rlgo_flags INTERFACE
    -fsanitize=${RLGO_SANITIZE} -fno-sanitize=vptr -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(rlgo_flags INTERFACE -fsanitize=${RLGO_SANITIZE})
endif()
