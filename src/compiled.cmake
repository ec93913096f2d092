# Compiled mode: the headers' heavy part is compiled once, from the sources beside this file, and not in every file
# that fits. kernelet_add_compiled(name [OPENMP]) adds a static library, built with the consumer's own flags; what
# links it compiles in compiled mode. Compiler flags that change the layout of Eigen's types (-march, NDEBUG, OpenMP)
# must be the same on both sides; where they differ, the program does not link.
function(kernelet_add_compiled name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "OPENMP" "" "")
    if(arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "kernelet_add_compiled(name [OPENMP]): unknown argument ${arg_UNPARSED_ARGUMENTS}")
    endif()
    set(folder ${CMAKE_CURRENT_FUNCTION_LIST_DIR})
    add_library(${name} STATIC ${folder}/fit.cpp ${folder}/policies.cpp ${folder}/solvers.cpp)
    target_compile_definitions(${name} PUBLIC KERNELET_COMPILED)
    target_link_libraries(${name} PUBLIC kernelet::kernelet)
    if(arg_OPENMP)
        find_package(OpenMP REQUIRED COMPONENTS CXX)
        target_link_libraries(${name} PUBLIC OpenMP::OpenMP_CXX)
    endif()
endfunction()
