// Catch2 v2 only: v3 brings its own main in Catch2WithMain.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
