#include <kernelet/kernelet.hpp>

int main() {}
