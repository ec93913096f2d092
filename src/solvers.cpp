// The dual solvers on the one type of problem that a fit hands to them.
#include <kernelet/compiled.hpp>
#include <kernelet/dual/automatic_solver_impl.hpp>
#include <kernelet/dual/sampled_ascent_impl.hpp>
#include <kernelet/dual/stochastic_supergradient_impl.hpp>
#include <kernelet/peaks/point_mass_limit_impl.hpp>

namespace kernelet::detail {

template ErasedSolver erase_solver<AutomaticSolver>(const AutomaticSolver&);
template ErasedSolver erase_solver<AugmentedNewton>(const AugmentedNewton&);
template ErasedSolver erase_solver<CoordinateAscent>(const CoordinateAscent&);
template ErasedSolver erase_solver<PointMassLimit>(const PointMassLimit&);
template ErasedSolver erase_solver<StochasticSupergradient>(const StochasticSupergradient&);
template ErasedSolver erase_solver<SampledAscent<CoordinateAscent>>(const SampledAscent<CoordinateAscent>&);

}  // namespace kernelet::detail
