list(TRANSFORM includes PREPEND "-I")
execute_process(
    COMMAND ${compiler} -std=c++20 -fsyntax-only ${flag} ${includes} ${file}
    RESULT_VARIABLE result ERROR_VARIABLE diagnostics OUTPUT_VARIABLE diagnostics)

if(expect STREQUAL "compiles")
    if(NOT result EQUAL 0)
        message(FATAL_ERROR "the control should compile, and does not:\n${diagnostics}")
    endif()
elseif(result EQUAL 0)
    message(FATAL_ERROR "compiles, and should fail for want of ${expect}")
elseif(NOT diagnostics MATCHES "(^|[^A-Za-z_])${expect}([^A-Za-z_]|$)")
    message(FATAL_ERROR "fails as it should, but the error does not name ${expect}:\n${diagnostics}")
endif()
