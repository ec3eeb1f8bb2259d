# Installs fxjit, moves the installed tree (it must be relocatable), builds the
# outside program against it, and runs that with neither tree's libraries on a
# search path. Run by ctest as cmake -D... -P.
#
#   BUILD_DIR    fxjit's build folder     SOURCE_DIR  this folder
#   WORK_DIR     emptied and used         CONFIG      build type
#   LINK_FLAGS   sanitizer flags, if any

function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE result
    OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${ARGV}\nfailed (${result}):\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK_DIR})
run(${CMAKE_COMMAND} --install ${BUILD_DIR} --config ${CONFIG}
  --prefix ${WORK_DIR}/first)
file(RENAME ${WORK_DIR}/first ${WORK_DIR}/moved)
run(${CMAKE_COMMAND} -G Ninja -S ${SOURCE_DIR} -B ${WORK_DIR}/build
  -DCMAKE_BUILD_TYPE=${CONFIG} -DCMAKE_PREFIX_PATH=${WORK_DIR}/moved
  "-DCMAKE_CXX_FLAGS=${LINK_FLAGS}")
run(${CMAKE_COMMAND} --build ${WORK_DIR}/build)
run(${WORK_DIR}/build/outside)
message(STATUS "${output}")

file(GLOB_RECURSE pack ${WORK_DIR}/moved/kernels.pack)
if(pack AND NOT output MATCHES "kernels of the installed tree: found")
  message(FATAL_ERROR "${pack} is not used")
endif()

# The command finds the script that calls other runtimes, which /bin/false will
# not run.
if(EXISTS ${WORK_DIR}/moved/bin/fxjit)
  foreach(shared fxjit/contestant.py fxjit/reference.py man/man1/fxjit.1
      bash-completion/completions/fxjit)
    if(NOT EXISTS ${WORK_DIR}/moved/share/${shared})
      message(FATAL_ERROR "share/${shared} is not installed")
    endif()
  endforeach()
  execute_process(
    COMMAND ${WORK_DIR}/moved/bin/fxjit bench
      ${SOURCE_DIR}/../import/models/attention.pt2 --seconds 0.001 --rounds 1
      --against torch --python /bin/false
    OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE result)
  if(NOT result EQUAL 1 OR NOT output MATCHES "torch +it ended: with status 1")
    message(FATAL_ERROR "the installed fxjit bench ended with ${result}:\n"
      "${output}")
  endif()
endif()

# Only public headers are installed, one with the list that it includes, and
# nothing names the build folder.
file(GLOB_RECURSE headers RELATIVE ${WORK_DIR}/moved/include
  ${WORK_DIR}/moved/include/*)
foreach(header IN LISTS headers)
  if(NOT header MATCHES "^fxjit/.*\\.h$" AND
     NOT header STREQUAL "fxjit/prims.inc")
    message(FATAL_ERROR "installed, but no public header: ${header}")
  endif()
endforeach()
foreach(header IN LISTS headers)
  file(STRINGS ${WORK_DIR}/moved/include/${header} includes REGEX "^#include \"")
  foreach(line IN LISTS includes)
    string(REGEX REPLACE "^#include \"([^\"]+)\".*" "\\1" included "${line}")
    if(NOT EXISTS ${WORK_DIR}/moved/include/${included})
      message(FATAL_ERROR "${header} includes ${included}, not installed")
    endif()
  endforeach()
endforeach()
file(GLOB_RECURSE package_files ${WORK_DIR}/moved/*.cmake)
foreach(package_file IN LISTS package_files)
  file(READ ${package_file} text)
  string(FIND "${text}" "${BUILD_DIR}" place)
  if(NOT place EQUAL -1)
    message(FATAL_ERROR "${package_file} names ${BUILD_DIR}")
  endif()
endforeach()
