include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

configure_build_run(fetch_content ${version} -D kernelet_source=${source})
