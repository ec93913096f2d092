include(CMakeFindDependencyMacro)
find_dependency(kernelet)
include(${CMAKE_CURRENT_LIST_DIR}/exported-targets.cmake)
