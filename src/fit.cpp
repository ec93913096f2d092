// The fit, compiled once: everything between samples and a model that does not depend on kernel, loss or solver.
#include <kernelet/compiled.hpp>
#include <kernelet/detail/build.hpp>
#include <kernelet/estimator_impl.hpp>

namespace kernelet::detail {

template void require_valid<Options>(const Options&);
template void require_valid<AutomaticSolverOptions>(const AutomaticSolverOptions&);

template Samples checked_samples<double>(const FitProblem&, Samples);
template ErasedFit fit_samples<double>(const FitProblem&, const Samples&, FitRequest);
template ErasedFit fit_source<double>(const FitProblem&, const AnySource&, FitRequest);

template <class Build>
void CompiledBuild<Build>::flags_must_match() {}
template struct CompiledBuild<ThisBuild>;

}  // namespace kernelet::detail
