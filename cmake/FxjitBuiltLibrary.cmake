# The library of build/release as an imported target, for the extension module that
# pip builds: scripts/run, scripts/test and the wheels of all Pythons share one build
# of it, which Ninja brings up to date first. python/wheel/fxjit_backend.py has
# configured that folder.

option(FXJIT_PORTABLE_KERNELS
  "Kernels for any CPU of x86-64-v3 and v4 in the wheel, not this machine's" OFF)
set(fxjit_built ${PROJECT_SOURCE_DIR}/build/release)
set(fxjit_built_library ${fxjit_built}/lib/libfxjit.so)
if(FXJIT_PORTABLE_KERNELS)
  set(fxjit_built_target fxjit_portable_package)
  set(fxjit_built_components package portable_kernels)
else()
  set(fxjit_built_target fxjit_package)
  set(fxjit_built_components package native_kernels)
endif()

set(jobs $ENV{CMAKE_BUILD_PARALLEL_LEVEL})
if(NOT jobs)
  include(ProcessorCount)
  ProcessorCount(jobs)
endif()
# Without the modules of pip's own environment, should CMake run there again.
add_custom_target(fxjit_built ALL
  COMMAND ${CMAKE_COMMAND} -E env --unset=PYTHONPATH
    ${CMAKE_COMMAND} --build ${fxjit_built} -j ${jobs}
    --target ${fxjit_built_target}
  BYPRODUCTS ${fxjit_built_library}
  USES_TERMINAL VERBATIM)
add_library(fxjit SHARED IMPORTED GLOBAL)
set_target_properties(fxjit PROPERTIES IMPORTED_LOCATION ${fxjit_built_library})
target_include_directories(fxjit INTERFACE ${PROJECT_SOURCE_DIR}/include)
target_compile_features(fxjit INTERFACE cxx_std_20)
add_dependencies(fxjit fxjit_built)

foreach(component IN LISTS fxjit_built_components)
  install(CODE "execute_process(
    COMMAND ${CMAKE_COMMAND} --install ${fxjit_built} --strip
      --prefix \${CMAKE_INSTALL_PREFIX} --component ${component}
    COMMAND_ERROR_IS_FATAL ANY)"
    COMPONENT python EXCLUDE_FROM_ALL)
endforeach()
