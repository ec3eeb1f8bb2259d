# Joins the boxes into libfxjit.so and describes how it is installed.
#
# LLVM is linked statically and hidden, so that it cannot meet a host process's
# own copy; oneDNN is a shared library found through a private rpath.

add_library(fxjit SHARED $<TARGET_OBJECTS:fxjit_compile>)
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
  fxjit_compile_closure fxjit_io_closure)
target_link_options(fxjit PRIVATE
  -Wl,--exclude-libs,ALL
  -Wl,--no-undefined
  -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/exports.map)
