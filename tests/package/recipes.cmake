# The vcpkg port and the Conan recipe, as far as they can be checked without vcpkg and Conan: they parse, have the version
# of version.hpp, and pass options that there are.
cmake_minimum_required(VERSION 3.24)
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)
set(folder ${source}/cmake/packaging)

file(READ ${folder}/vcpkg/vcpkg.json manifest)
foreach(field IN ITEMS name=kernelet version=${version})
    string(REGEX MATCH "^(.*)=(.*)$" field ${field})
    set(expected ${CMAKE_MATCH_2})
    string(JSON value GET "${manifest}" ${CMAKE_MATCH_1}) # fails where the file is no JSON
    if(NOT value STREQUAL expected)
        message(FATAL_ERROR "vcpkg.json: ${CMAKE_MATCH_1} should be ${expected}, and is ${value}")
    endif()
endforeach()

file(READ ${folder}/conan/conanfile.py recipe)
if(NOT recipe MATCHES "\n    version = \"([^\"]*)\"" OR NOT CMAKE_MATCH_1 STREQUAL version)
    message(FATAL_ERROR "conanfile.py: version should be ${version}, and is ${CMAKE_MATCH_1}")
endif()
if(python)
    set(ENV{PYTHONPYCACHEPREFIX} ${scratch}/recipes) # nothing is written beside the sources
    run(${python} -m py_compile ${folder}/conan/conanfile.py ${folder}/conan/test_package/conanfile.py)
endif()

file(READ ${source}/CMakeLists.txt project)
file(READ ${folder}/vcpkg/portfile.cmake port)
string(REGEX MATCHALL "KERNELET_[A-Z]+(_[A-Z]+)*" options "${port}\n${recipe}")
list(REMOVE_DUPLICATES options)
list(REMOVE_ITEM options KERNELET_BUILD KERNELET_COMPILED) # of f"KERNELET_BUILD_{part}", and the macro
if(NOT "KERNELET_BUILD_COMPILED" IN_LIST options)
    message(FATAL_ERROR "the recipes pass no options: ${options}")
endif()
foreach(option IN LISTS options)
    string(FIND "${project}" "option(${option} " at)
    if(at EQUAL -1)
        message(FATAL_ERROR "a recipe passes ${option}, which CMakeLists.txt does not have")
    endif()
endforeach()

# Features of the port are those that the portfile asks for.
string(JSON count LENGTH "${manifest}" features)
math(EXPR last "${count} - 1")
foreach(index RANGE ${last})
    string(JSON feature MEMBER "${manifest}" features ${index})
    if(NOT port MATCHES "\n +${feature} +KERNELET_")
        message(FATAL_ERROR "portfile.cmake does nothing for the feature ${feature}")
    endif()
endforeach()
