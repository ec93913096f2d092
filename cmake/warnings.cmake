# For our own programs only, and never exported. Eigen comes as an imported target, hence with -isystem.
if(MSVC)
    set(kernelet_warning_options /W4 /WX)
else()
    set(kernelet_warning_options -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror)
    # False positives of g++ 12, other ones at each optimisation level: the first two inside Eigen, the third inside its own
    # avx512fintrin.h under -march=native. The sanitizers watch instead.
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        list(APPEND kernelet_warning_options -Wno-maybe-uninitialized -Wno-use-after-free
            -Wno-uninitialized)
    endif()
endif()
add_library(kernelet_warnings INTERFACE)
target_compile_options(kernelet_warnings INTERFACE ${kernelet_warning_options})
