# A second compiler for some targets, beside the one that CMake was given.
#
# C++ leaves open in which order the arguments of a call are evaluated: g++ goes
# from right to left, clang from left to right. Where that shows in a traced graph,
# the mirror tests fail with one of them. FXJIT_CLANG_TESTS says whether they are
# built with both. clang then compiles most other tests in place of g++, since it
# takes half of the time.

find_program(FXJIT_CLANG clang++-19)
mark_as_advanced(FXJIT_CLANG)
# The two compilers have sanitizers of their own, which do not mix.
set(FXJIT_CLANG_TESTS OFF)
if(FXJIT_TESTS AND NOT FXJIT_SANITIZE)
  if(FXJIT_CLANG)
    set(FXJIT_CLANG_TESTS ON)
  else()
    message(WARNING
      "No clang++-19 (scripts/setup has it): the tests mirror_clang are not built, "
      "others take twice as long to build")
  endif()
endif()

# fxjit_compile_by_clang(<target> <header>...)
# Has the sources of a target compiled by clang, quickly rather than to fast code
# unless options of the target say otherwise. The headers, which most of them
# include, are compiled once. Sources that g++ compiles, too, have its warnings and
# need no others: -w.
function(fxjit_compile_by_clang target)
  set_target_properties(${target} PROPERTIES
    # Without ccache: it does not know which files precompiled headers stand for.
    CXX_COMPILER_LAUNCHER
      "${PROJECT_SOURCE_DIR}/cmake/compile_by;${FXJIT_CLANG};--")
  target_compile_options(${target} BEFORE PRIVATE
    -O0 -fpch-instantiate-templates
    # The standard library's own are outside of what it takes for a system's.
    -Wno-deprecated-declarations)
  target_precompile_headers(${target} PRIVATE ${ARGN})
endfunction()
