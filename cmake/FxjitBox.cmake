# fxjit_add_box(<box> FOLDERS <folder>... [EXCEPT <folder>] [USES <box>...]
#   [LINK <library>...] [BY_CLANG <header>...])
#
# A box is one OBJECT library, fxjit_<box>, of all .cpp files below the given
# folders, EXCEPT a folder that is a box of its own. It sees include/ and the repository root, plus the third-party
# libraries that LINK names: this is what keeps LLVM in jit/ and oneDNN in
# kernels/.
#
# fxjit_<box>_closure is the box with every box it USES and what they link. The
# shared library joins all of them; a box's tests link its closure alone, so a
# call against the dependency direction does not link there.
#
# BY_CLANG: a second library, fxjit_<box>_clang, has the same sources compiled by
# clang (FxjitClang.cmake), with these headers precompiled. Targets with the
# property FXJIT_CLANG get it from the closure in place of the first.
function(fxjit_add_box name)
  cmake_parse_arguments(PARSE_ARGV 1 box "" "EXCEPT" "FOLDERS;USES;LINK;BY_CLANG")
  set(target fxjit_${name})
  set(sources)
  foreach(folder IN LISTS box_FOLDERS)
    file(GLOB_RECURSE found CONFIGURE_DEPENDS
      ${PROJECT_SOURCE_DIR}/${folder}/*.cpp)
    list(APPEND sources ${found})
  endforeach()
  if(box_EXCEPT)
    list(FILTER sources EXCLUDE REGEX
      "^${PROJECT_SOURCE_DIR}/${box_EXCEPT}/")
  endif()
  if(NOT sources)
    # CMake refuses a library without sources; an empty box is fine with us.
    set(empty ${PROJECT_BINARY_DIR}/generated/${target}_empty.cpp)
    file(CONFIGURE OUTPUT ${empty} CONTENT "// No sources yet.\n")
    set(sources ${empty})
  endif()
  add_library(${target} OBJECT ${sources})
  target_include_directories(${target} PRIVATE
    ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR})
  target_link_libraries(${target} PRIVATE Threads::Threads ${box_LINK})
  fxjit_join_sources(${target})

  set(objects $<TARGET_OBJECTS:${target}>)
  if(box_BY_CLANG AND FXJIT_CLANG_TESTS)
    add_library(${target}_clang OBJECT ${sources})
    target_include_directories(${target}_clang PRIVATE
      ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR})
    target_link_libraries(${target}_clang PRIVATE Threads::Threads ${box_LINK})
    fxjit_compile_by_clang(${target}_clang ${box_BY_CLANG})
    target_compile_options(${target}_clang PRIVATE -w)
    fxjit_join_sources(${target}_clang)
    set(objects $<IF:$<BOOL:$<TARGET_PROPERTY:FXJIT_CLANG>>,$<TARGET_OBJECTS:${target}_clang>,${objects}>)
  endif()

  add_library(${target}_closure INTERFACE)
  target_sources(${target}_closure INTERFACE ${objects})
  target_include_directories(${target}_closure INTERFACE
    ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR})
  target_link_libraries(${target}_closure INTERFACE
    Threads::Threads ${box_LINK})
  foreach(used IN LISTS box_USES)
    target_link_libraries(${target}_closure INTERFACE fxjit_${used}_closure)
  endforeach()
endfunction()
