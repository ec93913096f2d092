# Preprocessed only: with headers alone to find, the flags are right when every #include is found.
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

set(ENV{PKG_CONFIG_PATH} ${stage}/share/pkgconfig:$ENV{PKG_CONFIG_PATH})
run(${pkg_config} --modversion kernelet)
string(STRIP "${output}" output)
if(NOT output STREQUAL version)
    message(FATAL_ERROR "version.hpp says ${version}, kernelet.pc ${output}")
endif()

run(${pkg_config} --cflags kernelet)
separate_arguments(flags UNIX_COMMAND "${output}")
run(${compiler} -std=c++20 -E ${flags} ${CMAKE_CURRENT_LIST_DIR}/version_only.cpp)
