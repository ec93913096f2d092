include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# Headers only: nothing depends on the architecture, so that everything goes below share/, not lib/.
set(kernelet_config_dir ${CMAKE_INSTALL_DATADIR}/cmake/kernelet)
set(kernelet_pkgconfig_dir ${CMAKE_INSTALL_DATADIR}/pkgconfig)

install(TARGETS kernelet EXPORT kernelet-targets FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT kernelet-targets NAMESPACE kernelet:: DESTINATION ${kernelet_config_dir})
# For a parent project that calls export(EXPORT) on a library that links kernelet.
export(EXPORT kernelet-targets NAMESPACE kernelet:: FILE ${PROJECT_BINARY_DIR}/kernelet-targets.cmake)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/src/ DESTINATION ${kernelet_config_dir}/src) # for kernelet_add_compiled

# The archive depends on the architecture: below lib/, with an export file of its own.
set(kernelet_compiled_dir ${CMAKE_INSTALL_LIBDIR}/cmake/kernelet-compiled)
if(KERNELET_BUILD_COMPILED)
    install(TARGETS kernelet_compiled EXPORT kernelet-compiled-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
    install(EXPORT kernelet-compiled-targets NAMESPACE kernelet:: DESTINATION ${kernelet_compiled_dir})
    export(EXPORT kernelet-compiled-targets NAMESPACE kernelet::
        FILE ${PROJECT_BINARY_DIR}/kernelet-compiled-targets.cmake)
endif()

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/kernelet-config.cmake.in
    ${PROJECT_BINARY_DIR}/kernelet-config.cmake INSTALL_DESTINATION ${kernelet_config_dir}
    PATH_VARS kernelet_compiled_dir NO_SET_AND_CHECK_MACRO)
# Before 1.0 a minor version may break, as semantic versioning has it.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/kernelet-config-version.cmake
    COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES ${PROJECT_BINARY_DIR}/kernelet-config.cmake ${PROJECT_BINARY_DIR}/kernelet-config-version.cmake
    DESTINATION ${kernelet_config_dir})

install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/kernelet)

# Relative to the .pc file itself, so that a moved tree still works.
file(RELATIVE_PATH kernelet_pc_up /${kernelet_pkgconfig_dir} /)
string(REGEX REPLACE "/$" "" kernelet_pc_up "${kernelet_pc_up}")
configure_file(${CMAKE_CURRENT_LIST_DIR}/kernelet.pc.in ${PROJECT_BINARY_DIR}/kernelet.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/kernelet.pc DESTINATION ${kernelet_pkgconfig_dir})
