// expect: compile without EIGEN_DEFAULT_TO_ROW_MAJOR
// flags: -DEIGEN_DEFAULT_TO_ROW_MAJOR
#include <kernelet/kernelet.hpp>

int main() {}
