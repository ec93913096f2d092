# Compiled mode as a user meets it: the archive installed and found; other flags refused by the linker.
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

set(prefix ${scratch}/compiled-prefix)
file(REMOVE_RECURSE ${prefix} ${scratch}/compiled-build)
# -O0: what is asked is whether it links and runs.
run(${CMAKE_COMMAND} -S ${source} -B ${scratch}/compiled-build -G ${generator} -D CMAKE_CXX_COMPILER=${compiler}
    -D CMAKE_BUILD_TYPE=Release -D CMAKE_CXX_FLAGS_RELEASE=-O0 -D Eigen3_DIR=${eigen} -D KERNELET_BUILD_COMPILED=ON
    -D KERNELET_BUILD_TESTS=OFF -D KERNELET_BUILD_EXAMPLES=OFF -D KERNELET_BUILD_BENCHMARKS=OFF)
run(${CMAKE_COMMAND} --build ${scratch}/compiled-build)
run(${CMAKE_COMMAND} --install ${scratch}/compiled-build --prefix ${prefix})
configure_build_run(compiled "[1-9][0-9]* kernels" -D CMAKE_PREFIX_PATH=${prefix} -D CMAKE_CXX_FLAGS_RELEASE=-O0)

execute_process(COMMAND ${CMAKE_COMMAND} --build ${scratch}/compiled --target mismatch
    RESULT_VARIABLE result OUTPUT_VARIABLE text ERROR_VARIABLE text)
if(result EQUAL 0 OR NOT text MATCHES "AlignBytes<32>.*flags_must_match")
    message(FATAL_ERROR "a consumer with -mavx should not link, and say why:\n${text}")
endif()
