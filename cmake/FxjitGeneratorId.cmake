# Writes the hash that stands for the code generator: the emitters and engine of jit/,
# the forms of steps that they read, the formats of packed weights, the primitives of
# scalar bodies. An edit to one of these makes other code possible, so the kernels of
# earlier builds are not used any more. Whoever lets an emitter read another room adds
# it here.
#
# Included, it defines fxjit_add_generator_id(<target>); run as a script, it writes
# OUTPUT for the sources that are listed in LIST.

if(CMAKE_SCRIPT_MODE_FILE)
  cmake_minimum_required(VERSION 3.25)
  file(STRINGS ${LIST} sources)
  set(hashes ${COMPILER})
  foreach(source IN LISTS sources)
    file(SHA256 ${source} hash)
    list(APPEND hashes ${hash})
  endforeach()
  string(SHA256 id "${hashes}")
  file(CONFIGURE OUTPUT ${OUTPUT} CONTENT
"#include \"src/support/machine/generator_id.h\"

namespace fxjit::support {

std::string_view generator_id() { return \"@id@\"; }

}  // namespace fxjit::support
" @ONLY)
  return()
endif()

# fxjit_add_generator_id(<target>)
# Has the target define generator_id(). FXJIT_GENERATOR_ID is the file that changes
# when the generator does.
function(fxjit_add_generator_id target)
  set(sources)
  foreach(folder IN ITEMS jit src/weights src/program/attention src/program/columns
      src/program/driver src/program/integers src/program/resampling src/program/rows
      src/program/steps src/program/tiles src/program/windows src/program/winograd)
    file(GLOB_RECURSE found CONFIGURE_DEPENDS
      ${PROJECT_SOURCE_DIR}/${folder}/*.cpp ${PROJECT_SOURCE_DIR}/${folder}/*.h)
    list(APPEND sources ${found})
  endforeach()
  foreach(file IN ITEMS include/fxjit/prims.inc include/fxjit/scalar_body.h
      include/fxjit/dtype.h src/ops/table/prims.h src/ops/table/prims.cpp
      src/program/cost/body_work.h src/program/cost/body_work.cpp
      src/support/rounding.h)
    list(APPEND sources ${PROJECT_SOURCE_DIR}/${file})
  endforeach()
  list(SORT sources)
  set(folder ${PROJECT_BINARY_DIR}/generated)
  list(JOIN sources "\n" lines)
  file(CONFIGURE OUTPUT ${folder}/generator_sources.txt CONTENT "${lines}\n")
  set(made ${folder}/generator_id.cpp)
  # file(CONFIGURE) keeps a file that would be the same, hence the stamp.
  add_custom_command(OUTPUT ${folder}/generator_id.stamp BYPRODUCTS ${made}
    COMMAND ${CMAKE_COMMAND} -DLIST=${folder}/generator_sources.txt -DOUTPUT=${made}
      "-DCOMPILER=${LLVM_PACKAGE_VERSION} ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION} ${CMAKE_BUILD_TYPE} ${FXJIT_SANITIZE}"
      -P ${PROJECT_SOURCE_DIR}/cmake/FxjitGeneratorId.cmake
    COMMAND ${CMAKE_COMMAND} -E touch ${folder}/generator_id.stamp
    DEPENDS ${sources} ${folder}/generator_sources.txt
      ${PROJECT_SOURCE_DIR}/cmake/FxjitGeneratorId.cmake
    COMMENT "Hashing the code generator" VERBATIM)
  add_custom_target(fxjit_generator_id DEPENDS ${folder}/generator_id.stamp)
  set_source_files_properties(${made} PROPERTIES GENERATED ON)
  target_sources(${target} PRIVATE ${made})
  add_dependencies(${target} fxjit_generator_id)
  set(FXJIT_GENERATOR_ID ${made} PARENT_SCOPE)
endfunction()
