include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

configure_build_run(find_package ${CMAKE_CURRENT_LIST_DIR}/find_package
    -D CMAKE_PREFIX_PATH=${stage} -D Eigen3_DIR=${eigen} -D expected_version=${version})
