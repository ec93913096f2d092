include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

configure_build_run(add_subdirectory ${CMAKE_CURRENT_LIST_DIR}/add_subdirectory
    -D kernelet_source=${source} -D Eigen3_DIR=${eigen})
