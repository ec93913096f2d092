// expect: compile without -fno-exceptions
// flags: -fno-exceptions
#include <kernelet/kernelet.hpp>

int main() {}
