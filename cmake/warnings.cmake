# For our own programs only, and never exported. Eigen comes as an imported target, hence with -isystem.
if(MSVC)
    set(kernelet_warning_options /W4 /WX)
else()
    set(kernelet_warning_options -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror)
    # g++ 12 sees ghosts of these two inside Eigen, other ones at each optimisation level; the sanitizers watch instead.
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        list(APPEND kernelet_warning_options -Wno-maybe-uninitialized -Wno-use-after-free)
    endif()
endif()
add_library(kernelet_warnings INTERFACE)
target_compile_options(kernelet_warnings INTERFACE ${kernelet_warning_options})
