# Compiler, linker and output settings that hold for every target.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

# No -march: generated code and the kernels choose the CPU level at run time.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_CXX_FLAGS_DEBUG "-Og -g1")
add_compile_options(-Wall -Wextra -fno-semantic-interposition
  -ffunction-sections -fdata-sections)
add_link_options(-Wl,--as-needed -Wl,--gc-sections)
if(FXJIT_WERROR)
  add_compile_options(-Werror)
endif()

if(FXJIT_SANITIZE)
  add_compile_options(-fsanitize=${FXJIT_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${FXJIT_SANITIZE})
endif()

find_program(FXJIT_CCACHE ccache)
mark_as_advanced(FXJIT_CCACHE)
if(FXJIT_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${FXJIT_CCACHE})
endif()

# LLVM's static archives make linking the slowest step: take the fastest linker
# there is. -B lets g++ find an lld that is installed under LLVM's own prefix.
find_program(FXJIT_LLD ld.lld HINTS /usr/lib/llvm-19/bin)
find_program(FXJIT_MOLD ld.mold)
find_program(FXJIT_GOLD ld.gold)
mark_as_advanced(FXJIT_LLD FXJIT_MOLD FXJIT_GOLD)
if(FXJIT_LLD)
  get_filename_component(fxjit_lld_dir ${FXJIT_LLD} DIRECTORY)
  add_link_options(-B${fxjit_lld_dir} -fuse-ld=lld)
elseif(FXJIT_MOLD)
  add_link_options(-fuse-ld=mold)
elseif(FXJIT_GOLD)
  add_link_options(-fuse-ld=gold)
endif()

# Linking needs about 1 GB each; two at a time suit a small machine.
set_property(GLOBAL APPEND PROPERTY JOB_POOLS fxjit_link=2)
set(CMAKE_JOB_POOL_LINK fxjit_link)

# fxjit_compile_quickly(<target> [<level>])
# For programs that read a command line and call the library: nobody waits for their
# own code, but everybody for its compilation. The level is -O0 unless it is given.
function(fxjit_compile_quickly target)
  set(level ${ARGN} -O0)
  list(GET level 0 level)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:${level}>)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # With less inlined, g++ takes members of nlohmann's json for uninitialised.
    target_compile_options(${target} PRIVATE -Wno-maybe-uninitialized)
  endif()
endfunction()

# A program that links libfxjit.so is as good with a newer one: only names that come
# or go would matter, and then its own sources change, too.
set(CMAKE_LINK_DEPENDS_NO_SHARED ON)
