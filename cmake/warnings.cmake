# For our own programs only, and never exported. Eigen comes as an imported target, hence with -isystem.
if(MSVC)
    set(kernelet_warning_options /W4 /WX)
else()
    set(kernelet_warning_options -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror)
endif()
add_library(kernelet_warnings INTERFACE)
target_compile_options(kernelet_warnings INTERFACE ${kernelet_warning_options})
