include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

configure_build_run(find_package "[1-9][0-9]* kernels" -D CMAKE_PREFIX_PATH=${stage} -D expected_version=${version})
