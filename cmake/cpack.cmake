# cpack -G TGZ and cpack -G DEB, in the build folder: one package of what `cmake --install` installs.
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_PACKAGE_NAME kernelet)
set(CPACK_PACKAGE_VENDOR "the kernelet authors")
set(CPACK_PACKAGE_CONTACT ${CPACK_PACKAGE_VENDOR})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(CPACK_PACKAGE_DESCRIPTION "A header-only C++20 library on Eigen. It learns a function or a classifier as a
handful of kernels, each with its own center and its own width, and reports
how close to optimal the underlying problem was solved.")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_GENERATOR TGZ) # of a plain `cpack`
set(CPACK_MONOLITHIC_INSTALL ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

set(CPACK_DEBIAN_PACKAGE_NAME libkernelet-dev)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT) # libkernelet-dev_<version>_<architecture>.deb
set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libeigen3-dev (>= 3.4)")

# Headers alone are the same for every system and architecture.
if(KERNELET_BUILD_COMPILED OR KERNELET_BUILD_COMMAND)
    set(CPACK_PACKAGE_FILE_NAME kernelet-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR})
else()
    set(CPACK_PACKAGE_FILE_NAME kernelet-${PROJECT_VERSION})
    set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE all)
endif()
# The command depends on shared libraries of the system; dpkg-shlibdeps names their packages.
if(KERNELET_BUILD_COMMAND)
    find_program(KERNELET_DPKG_SHLIBDEPS dpkg-shlibdeps)
    mark_as_advanced(KERNELET_DPKG_SHLIBDEPS)
    if(KERNELET_DPKG_SHLIBDEPS)
        set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
    endif()
endif()

# The sources, cpack --config CPackSourceConfig.cmake: without what git and builds leave there. Regular expressions.
string(REGEX REPLACE "([][+.*()^$?|\\])" "\\\\\\1" kernelet_folder "${PROJECT_SOURCE_DIR}")
set(CPACK_SOURCE_GENERATOR TGZ)
set(CPACK_SOURCE_PACKAGE_FILE_NAME kernelet-${PROJECT_VERSION}-source)
set(CPACK_SOURCE_IGNORE_FILES "^${kernelet_folder}/(build|[.]git|[.]cache)/")
include(CPack)
