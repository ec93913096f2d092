include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

configure_build_run(add_subdirectory ${version} -D kernelet_source=${source})
