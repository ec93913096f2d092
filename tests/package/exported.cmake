# A vendored copy in a project that exports a library: CMake must generate, and the installed library must be usable.
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

function(configure_exported library install)
    set(binary ${scratch}/exported-${library}-${install})
    file(REMOVE_RECURSE ${binary})
    run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/exported -B ${binary} -G ${generator}
        -D CMAKE_CXX_COMPILER=${compiler} -D CMAKE_BUILD_TYPE=Release -D CMAKE_CXX_FLAGS_RELEASE=-O0
        -D Eigen3_DIR=${eigen} -D kernelet_source=${source} -D library=${library} -D KERNELET_INSTALL=${install})
endfunction()

foreach(library IN ITEMS headers compiled)
    foreach(install IN ITEMS OFF ON)
        configure_exported(${library} ${install})
    endforeach()
endforeach()

foreach(install IN ITEMS OFF ON)
    set(binary ${scratch}/exported-headers-${install})
    set(prefix ${scratch}/exported-prefix-${install})
    file(REMOVE_RECURSE ${prefix})
    run(${CMAKE_COMMAND} --build ${binary})
    run(${CMAKE_COMMAND} --install ${binary} --prefix ${prefix})
endforeach()
if(EXISTS ${scratch}/exported-prefix-OFF/include/kernelet)
    message(FATAL_ERROR "a vendored copy is installed without KERNELET_INSTALL")
endif()
if(EXISTS ${scratch}/exported-headers-ON/CPackConfig.cmake)
    message(FATAL_ERROR "a vendored copy configures CPack, which is its parent's")
endif()

set(consumer exported_consumer ${version} -D CMAKE_CXX_FLAGS_RELEASE=-O0)
# Installed alone, it needs a kernelet installed elsewhere, here the stage.
configure_build_run(${consumer} -D exported_DIR=${scratch}/exported-prefix-OFF/share/cmake/exported
    -D CMAKE_PREFIX_PATH=${stage})
configure_build_run(${consumer} -D CMAKE_PREFIX_PATH=${scratch}/exported-prefix-ON)
