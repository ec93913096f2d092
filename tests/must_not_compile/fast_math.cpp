// expect: compile without -ffast-math
// flags: -ffast-math
#include <kernelet/kernelet.hpp>

int main() {}
