# fxjit_add_box(<target> FOLDERS <folder>... [LINK <library>...])
#
# A box is one OBJECT library of all .cpp files below the given folders of the
# source tree. It sees include/ and the repository root, plus the third-party
# libraries that LINK names: this is what keeps LLVM in jit/ and oneDNN in
# kernels/. All boxes are joined into libfxjit.so (FxjitLibrary.cmake).
function(fxjit_add_box target)
  cmake_parse_arguments(PARSE_ARGV 1 box "" "" "FOLDERS;LINK")
  set(sources)
  foreach(folder IN LISTS box_FOLDERS)
    file(GLOB_RECURSE found CONFIGURE_DEPENDS
      ${PROJECT_SOURCE_DIR}/${folder}/*.cpp)
    list(APPEND sources ${found})
  endforeach()
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
  set_property(GLOBAL APPEND PROPERTY FXJIT_BOXES ${target})
endfunction()
