# A made-up Eigen of each version, whose version file accepts its own major only, as Eigen's own does.
foreach(eigen_version IN ITEMS 3.3.9 3.4.0 5.0.1)
    set(folder ${scratch}/eigen-${eigen_version})
    file(REMOVE_RECURSE ${folder})
    file(WRITE ${folder}/Eigen3Config.cmake "add_library(Eigen3::Eigen INTERFACE IMPORTED)\n")
    string(REGEX MATCH "^[0-9]+" major ${eigen_version})
    file(WRITE ${folder}/Eigen3ConfigVersion.cmake "set(PACKAGE_VERSION ${eigen_version})
if(NOT PACKAGE_FIND_VERSION OR PACKAGE_FIND_VERSION_MAJOR EQUAL ${major})
    set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()\n")
    execute_process(
        COMMAND ${CMAKE_COMMAND} -S ${source} -B ${folder}/build -G ${generator} -D CMAKE_CXX_COMPILER=${compiler}
            -D Eigen3_DIR=${folder} -D KERNELET_BUILD_TESTS=OFF -D KERNELET_BUILD_EXAMPLES=OFF
            -D KERNELET_BUILD_BENCHMARKS=OFF
        RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)

    if(eigen_version VERSION_LESS 3.4)
        if(result EQUAL 0 OR NOT output MATCHES "needs Eigen 3.4 or newer")
            message(FATAL_ERROR "Eigen ${eigen_version} should be refused with a word why:\n${output}")
        endif()
    elseif(NOT result EQUAL 0)
        message(FATAL_ERROR "Eigen ${eigen_version} should be accepted:\n${output}")
    endif()
endforeach()
