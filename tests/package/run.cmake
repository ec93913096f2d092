# What the scripts of this folder share.

# run(command...): fails with the command's output, which is in `output` otherwise.
function(run)
    execute_process(COMMAND ${ARGV} RESULT_VARIABLE result OUTPUT_VARIABLE text ERROR_VARIABLE text)
    if(NOT result EQUAL 0)
        list(JOIN ARGV " " command)
        message(FATAL_ERROR "failed: ${command}\n${text}")
    endif()
    set(output "${text}" PARENT_SCOPE)
endfunction()

# A consumer's project in the folder `name`, from nothing, to its program's output, which must match `expected`.
function(configure_build_run name expected)
    set(binary ${scratch}/${name})
    file(REMOVE_RECURSE ${binary})
    run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/${name} -B ${binary} -G ${generator}
        -D CMAKE_CXX_COMPILER=${compiler} -D CMAKE_BUILD_TYPE=Release -D CMAKE_CXX_FLAGS_RELEASE=-O1
        -D Eigen3_DIR=${eigen} ${ARGN}) # what is given last counts
    run(${CMAKE_COMMAND} --build ${binary})
    run(${binary}/consumer)
    if(NOT output MATCHES "^${expected}\n$")
        message(FATAL_ERROR "the consumer should print ${expected}, and printed: ${output}")
    endif()
endfunction()
