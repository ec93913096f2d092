# Installed to one prefix and moved to another: whatever remembers the first one fails in the tests that follow.
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

file(REMOVE_RECURSE ${stage} ${stage}-before)
run(${CMAKE_COMMAND} --install ${build} --prefix ${stage}-before)
file(RENAME ${stage}-before ${stage})

file(GLOB_RECURSE installed ${stage}/*)
foreach(file IN LISTS installed)
    file(READ ${file} text)
    foreach(path IN ITEMS ${stage}-before ${source}/include ${build})
        string(FIND "${text}" "${path}" at)
        if(NOT at EQUAL -1)
            message(FATAL_ERROR "${file} holds the path ${path}")
        endif()
    endforeach()
endforeach()
