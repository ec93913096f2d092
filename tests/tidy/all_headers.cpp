// Everything that the library has, for clang-tidy: templates are judged as written, none is instantiated.
#include <kernelet/baselines.hpp>
#include <kernelet/detail/dense_spectrum.hpp>
#include <kernelet/kernelet.hpp>
#include <kernelet/predict.hpp>
#include <kernelet/validation.hpp>
