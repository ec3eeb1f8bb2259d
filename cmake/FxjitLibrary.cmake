# Joins the boxes into libfxjit.so and describes how it is installed.
#
# LLVM is linked statically and hidden, so that it cannot meet a host process's
# own copy; oneDNN is a shared library found through a private rpath.

add_library(fxjit SHARED $<TARGET_OBJECTS:fxjit_check>)
add_library(fxjit::fxjit ALIAS fxjit)
set_target_properties(fxjit PROPERTIES
  LINKER_LANGUAGE CXX
  VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
  INSTALL_RPATH $ORIGIN/fxjit
  LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/exports.map)
target_compile_features(fxjit PUBLIC cxx_std_20)
target_include_directories(fxjit PUBLIC
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(fxjit PRIVATE
  fxjit_check_closure fxjit_io_closure fxjit_import_closure)
target_link_options(fxjit PRIVATE
  -Wl,--exclude-libs,ALL
  -Wl,-z,nodelete  # Threads of the pool run its code until the process ends.
  -Wl,--no-undefined
  -Wl,-O2  # Strings that end alike are kept once.
  -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/exports.map)

# The installed tree is relocatable: include/fxjit/, lib/libfxjit.so,
# lib/fxjit/libdnnl.so.3 (private, found through the rpath), lib/cmake/fxjit/.
include(CMakePackageConfigHelpers)
set(fxjit_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/fxjit)
configure_package_config_file(cmake/fxjitConfig.cmake.in
  ${PROJECT_BINARY_DIR}/package/fxjitConfig.cmake
  INSTALL_DESTINATION ${fxjit_package_dir})
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/package/fxjitConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(TARGETS fxjit EXPORT fxjitTargets LIBRARY
  DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT fxjitTargets NAMESPACE fxjit:: DESTINATION ${fxjit_package_dir})
install(FILES ${PROJECT_BINARY_DIR}/package/fxjitConfig.cmake
  ${PROJECT_BINARY_DIR}/package/fxjitConfigVersion.cmake
  DESTINATION ${fxjit_package_dir})
install(DIRECTORY include/fxjit DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN *.h PATTERN *.inc
  PATTERN thread_pool.h EXCLUDE)  # For the library itself.
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
get_target_property(fxjit_dnnl_type DNNL::dnnl TYPE)
if(fxjit_dnnl_type STREQUAL "SHARED_LIBRARY")
  install(PROGRAMS $<TARGET_FILE:DNNL::dnnl>
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/fxjit
    RENAME $<TARGET_SONAME_FILE_NAME:DNNL::dnnl>)
endif()
