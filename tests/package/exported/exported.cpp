#include <kernelet/version.hpp>

int version_of_exported();

int version_of_exported() { return KERNELET_VERSION; }
