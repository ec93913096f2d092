// Both units include everything: a function lacking `inline` is a duplicate symbol here and nowhere else.
#include <kernelet/kernelet.hpp>

kernelet::Gaussian kernel_from_elsewhere();

int main() { static_cast<void>(kernel_from_elsewhere()); }
