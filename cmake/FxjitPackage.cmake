# What the folder of the Python package holds beside its Python files and the
# extension module: the component `package`, with `native_kernels` once the target
# fxjit_package is built, or with `portable_kernels` once fxjit_portable_package is.
# cmake/FxjitBuiltLibrary.cmake puts them into wheels.

set(fxjit_package_targets fxjit)
set(to_package DESTINATION . COMPONENT package EXCLUDE_FROM_ALL)

# Wheels have no links: the library gets the name that it is loaded by.
install(TARGETS fxjit LIBRARY ${to_package} NAMELINK_SKIP)
install(CODE "
  set(folder \$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX})
  file(RENAME \${folder}/$<TARGET_FILE_NAME:fxjit>
    \${folder}/$<TARGET_SONAME_FILE_NAME:fxjit>)"
  COMPONENT package EXCLUDE_FROM_ALL)
set(to_libraries DESTINATION fxjit COMPONENT package EXCLUDE_FROM_ALL)
get_target_property(fxjit_dnnl_type DNNL::dnnl TYPE)
if(fxjit_dnnl_type STREQUAL "SHARED_LIBRARY")
  install(PROGRAMS $<TARGET_FILE:DNNL::dnnl> ${to_libraries}
    RENAME $<TARGET_SONAME_FILE_NAME:DNNL::dnnl>)
  install(CODE "execute_process(COMMAND ${CMAKE_STRIP} --strip-unneeded
      \$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/fxjit/$<TARGET_SONAME_FILE_NAME:DNNL::dnnl>
      COMMAND_ERROR_IS_FATAL ANY)"
    COMPONENT package EXCLUDE_FROM_ALL)
endif()
# That of the machine is taken where it is loaded already.
execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libgomp.so.1
  OUTPUT_STRIP_TRAILING_WHITESPACE OUTPUT_VARIABLE fxjit_gomp)
get_filename_component(fxjit_gomp ${fxjit_gomp} REALPATH)
install(FILES ${fxjit_gomp} ${to_libraries} RENAME libgomp.so.1)

if(TARGET fxjit_command)
  list(APPEND fxjit_package_targets fxjit_command)
  set_property(TARGET fxjit_command APPEND PROPERTY INSTALL_RPATH $ORIGIN/..)
  install(TARGETS fxjit_command RUNTIME
    DESTINATION bin COMPONENT package EXCLUDE_FROM_ALL)
  install(FILES ${PROJECT_BINARY_DIR}/share/fxjit/contestant.py
    ${PROJECT_BINARY_DIR}/share/fxjit/reference.py
    DESTINATION share/fxjit COMPONENT package EXCLUDE_FROM_ALL)
endif()
set(fxjit_portable_targets ${fxjit_package_targets})
if(TARGET fxjit_pack)  # tools/kernel_pack says how the files are installed.
  list(APPEND fxjit_package_targets fxjit_pack)
  list(APPEND fxjit_portable_targets fxjit_portable_pack)
endif()
add_custom_target(fxjit_package)
add_dependencies(fxjit_package ${fxjit_package_targets})
add_custom_target(fxjit_portable_package)
add_dependencies(fxjit_portable_package ${fxjit_portable_targets})
