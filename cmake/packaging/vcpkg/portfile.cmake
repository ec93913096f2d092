# An overlay port: the sources are those of the repository that this folder lies in.
get_filename_component(SOURCE_PATH "${CURRENT_PORT_DIR}/../../.." ABSOLUTE)

vcpkg_check_features(OUT_FEATURE_OPTIONS FEATURE_OPTIONS
    FEATURES
        compiled KERNELET_BUILD_COMPILED
        tools    KERNELET_BUILD_COMMAND
)
if(NOT "compiled" IN_LIST FEATURES)
    set(VCPKG_BUILD_TYPE release) # headers are the same in debug
endif()

vcpkg_cmake_configure(
    SOURCE_PATH "${SOURCE_PATH}"
    OPTIONS
        -DKERNELET_BUILD_TESTS=OFF
        -DKERNELET_BUILD_EXAMPLES=OFF
        -DKERNELET_BUILD_BENCHMARKS=OFF
        -DKERNELET_INSTALL=ON
        ${FEATURE_OPTIONS}
    OPTIONS_DEBUG
        -DKERNELET_BUILD_COMMAND=OFF
)
vcpkg_cmake_install()

if("compiled" IN_LIST FEATURES)
    vcpkg_cmake_config_fixup(PACKAGE_NAME kernelet-compiled CONFIG_PATH lib/cmake/kernelet-compiled)
endif()
vcpkg_cmake_config_fixup(CONFIG_PATH share/cmake/kernelet)
if("compiled" IN_LIST FEATURES)
    vcpkg_replace_string("${CURRENT_PACKAGES_DIR}/share/kernelet/kernelet-config.cmake"
        "lib/cmake/kernelet-compiled" "share/kernelet-compiled")
endif()
vcpkg_fixup_pkgconfig()
if("tools" IN_LIST FEATURES)
    vcpkg_copy_tools(TOOL_NAMES kernelet AUTO_CLEAN)
endif()
file(REMOVE_RECURSE
    "${CURRENT_PACKAGES_DIR}/debug/include"
    "${CURRENT_PACKAGES_DIR}/debug/share"
    "${CURRENT_PACKAGES_DIR}/share/doc"
)

file(INSTALL "${CURRENT_PORT_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
