#include <kernelet/kernelet.hpp>

kernelet::Gaussian kernel_from_elsewhere();

kernelet::Gaussian kernel_from_elsewhere() { return {}; }
