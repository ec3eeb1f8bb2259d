# The libraries fxjit is built from. scripts/setup provides them all.

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS CXX)

# LLVM: static libraries, for jit/ only.
find_package(LLVM 19.1 REQUIRED CONFIG HINTS /usr/lib/llvm-19)
separate_arguments(fxjit_llvm_definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")
llvm_map_components_to_libnames(fxjit_llvm_libs
  core orcjit passes support target X86)
add_library(fxjit_llvm INTERFACE)
target_include_directories(fxjit_llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
target_compile_definitions(fxjit_llvm INTERFACE ${fxjit_llvm_definitions})
target_link_libraries(fxjit_llvm INTERFACE ${fxjit_llvm_libs})
message(STATUS "LLVM ${LLVM_PACKAGE_VERSION}: ${LLVM_DIR}")

# oneDNN: scripts/setup unpacks it under build/deps; -Ddnnl_DIR or
# CMAKE_PREFIX_PATH names another v3.
find_package(dnnl 3.2 REQUIRED CONFIG
  HINTS ${PROJECT_SOURCE_DIR}/build/deps/onednn)
message(STATUS "oneDNN ${dnnl_VERSION}: ${dnnl_DIR}")
