list(TRANSFORM includes PREPEND "-I")
separate_arguments(flags)
execute_process(
    COMMAND ${compiler} -std=c++20 -fsyntax-only ${flag} ${flags} ${includes} ${file}
    RESULT_VARIABLE result ERROR_VARIABLE diagnostics OUTPUT_VARIABLE diagnostics)

if(expect STREQUAL "compiles")
    if(NOT result EQUAL 0)
        message(FATAL_ERROR "the control should compile, and does not:\n${diagnostics}")
    endif()
elseif(result EQUAL 0)
    message(FATAL_ERROR "compiles, and should fail for want of ${expect}")
elseif(flags)
    # A configuration that is refused: the reason, and nothing that follows from it.
    string(FIND "${diagnostics}" "${expect}" at)
    string(REGEX MATCHALL "error" errors "${diagnostics}")
    list(LENGTH errors count)
    if(at EQUAL -1 OR count GREATER 6)
        message(FATAL_ERROR "should fail with \"${expect}\" and little else:\n${diagnostics}")
    endif()
elseif(NOT diagnostics MATCHES "(^|[^A-Za-z_])${expect}([^A-Za-z_]|$)")
    message(FATAL_ERROR "fails as it should, but the error does not name ${expect}:\n${diagnostics}")
endif()
