# Joined sources: a clean build that takes a third of the time.
#
# Two thirds of what a compiler does for one of our files is reading headers and
# instantiating templates that its neighbours need as well. FXJIT_JOIN_SOURCES has
# the sources of a room compiled together, some ${fxjit_joined_bytes} bytes at a time. An
# edit then compiles its neighbours, too: the preset `dev` leaves it off.
#
# So names in the anonymous namespaces of one room's sources must differ, and each
# source still includes what it uses: scripts/check_sources compiles those that a
# change touches alone.

option(FXJIT_JOIN_SOURCES
  "Compile the sources of a room together: fast clean builds, slower edits" ON)

# More than this gains little, and keeps one core busy while the others are done.
set(fxjit_joined_bytes 120000)

# fxjit_join_sources(<target>)
# Sources with compile options of their own stay alone, which is CMake's rule.
function(fxjit_join_sources target)
  if(NOT FXJIT_JOIN_SOURCES)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  list(SORT sources)
  set(total 0)
  set(joined)
  set(ends)
  foreach(source IN LISTS sources)
    get_filename_component(path ${source} ABSOLUTE)
    get_source_file_property(own_options ${source} COMPILE_OPTIONS)
    get_source_file_property(generated ${source} GENERATED)
    if(own_options OR generated)
      continue()
    endif()
    file(SIZE ${path} bytes)
    math(EXPR total "${total} + ${bytes}")
    list(APPEND joined ${source})
    list(APPEND ends ${total})
  endforeach()
  # As many units as it takes, all of one size.
  math(EXPR units "${total} / ${fxjit_joined_bytes} + 1")
  foreach(source end IN ZIP_LISTS joined ends)
    math(EXPR unit "(${end} - 1) * ${units} / ${total} + 1")
    set_property(SOURCE ${source} PROPERTY UNITY_GROUP ${unit})
  endforeach()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # g++ takes a source that another one includes for a header, in which a class
    # with members of unnamed namespaces would be wrong.
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  endif()
  set_target_properties(${target} PROPERTIES
    UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
