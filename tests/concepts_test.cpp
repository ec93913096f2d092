#include "support/catch.hpp"

#include <kernelet/kernelet.hpp>

#include <functional>
#include <iosfwd>
#include <optional>
#include <string_view>

// Each concept holds for what the library ships and for the least type that meets it, and not for that type
// with any one member missing or of another kind.
namespace concepts_test {

using kernelet::ConstMatrixRef;
using kernelet::ConstVectorRef;
using kernelet::Index;
using kernelet::Interval;
using kernelet::MatrixRef;
using kernelet::ParameterKind;
using kernelet::Progress;
using kernelet::VectorRef;
using kernelet::Verdict;

// --- KernelFamily

struct LeastKernel {
    static constexpr std::string_view name = "least";
    Index parameters(Index) const;
    ParameterKind parameter_kind(Index) const;
    void values(const ConstMatrixRef&, const ConstVectorRef&, VectorRef) const;
    void jet(const ConstMatrixRef&, const ConstVectorRef&, MatrixRef) const;
};
struct NamelessKernel {
    Index parameters(Index) const;
    ParameterKind parameter_kind(Index) const;
    void values(const ConstMatrixRef&, const ConstVectorRef&, VectorRef) const;
    void jet(const ConstMatrixRef&, const ConstVectorRef&, MatrixRef) const;
};
struct NumberedKernel : LeastKernel {
    static constexpr int name = 7;
};
struct UncountedKernel : LeastKernel {
    void parameters(Index) const;
};
struct UnkindKernel : LeastKernel {
    int parameter_kind(Index) const;
};
struct ReturningKernel : LeastKernel {
    double values(const ConstMatrixRef&, const ConstVectorRef&, VectorRef) const;
};
struct MutableKernel : LeastKernel {
    void values(const ConstMatrixRef&, const ConstVectorRef&, VectorRef);
};
struct JetlessKernel : LeastKernel {
private:
    using LeastKernel::jet;
};
struct UncopyableKernel : LeastKernel {
    UncopyableKernel(const UncopyableKernel&) = delete;
};

static_assert(kernelet::KernelFamily<kernelet::Gaussian>);
static_assert(kernelet::KernelFamily<LeastKernel>);
static_assert(!kernelet::KernelFamily<NamelessKernel>);
static_assert(!kernelet::KernelFamily<NumberedKernel>);
static_assert(!kernelet::KernelFamily<UncountedKernel>);
static_assert(!kernelet::KernelFamily<UnkindKernel>);
static_assert(!kernelet::KernelFamily<ReturningKernel>);
static_assert(!kernelet::KernelFamily<MutableKernel>);
static_assert(!kernelet::KernelFamily<JetlessKernel>);
static_assert(!kernelet::KernelFamily<UncopyableKernel>);
static_assert(!kernelet::KernelFamily<kernelet::SquaredLoss>);
static_assert(!kernelet::KernelFamily<int>);
static_assert(kernelet::detail::HasReach<kernelet::Gaussian>);
static_assert(!kernelet::detail::HasReach<LeastKernel>);

// --- ConvexLoss

struct LeastLoss {
    static constexpr std::string_view name = "least";
    double value(double, double) const;
    double derivative(double, double) const;
    double level(double) const;
    Interval interval(double, double) const;
};
struct VoidLoss : LeastLoss {
    void value(double, double) const;
};
struct FlatLoss : LeastLoss {
private:
    using LeastLoss::derivative;
};
struct LevellessLoss : LeastLoss {
private:
    using LeastLoss::level;
};
struct PairLoss : LeastLoss {
    std::pair<double, double> interval(double, double) const;
};
struct NamelessLoss {
    double value(double, double) const;
    double derivative(double, double) const;
    double level(double) const;
    Interval interval(double, double) const;
};
struct UncopyableLoss : LeastLoss {
    UncopyableLoss(const UncopyableLoss&) = delete;
};
/// A closed form of another shape is none: the generic search is used.
struct OddlyClosedLoss : LeastLoss {
    double argmin(double) const;
    kernelet::Matrix aggregate_projection(const ConstMatrixRef&, const ConstMatrixRef&, const ConstVectorRef&,
                                          double) const;
};

static_assert(kernelet::ConvexLoss<kernelet::SquaredLoss>);
static_assert(kernelet::ConvexLoss<kernelet::EpsilonInsensitiveLoss>);
static_assert(kernelet::ConvexLoss<kernelet::HuberLoss>);
static_assert(kernelet::ConvexLoss<kernelet::QuantileLoss>);
static_assert(kernelet::ConvexLoss<kernelet::HingeLoss>);
static_assert(kernelet::ConvexLoss<kernelet::LogisticLoss>);
static_assert(kernelet::ConvexLoss<LeastLoss>);
static_assert(kernelet::ConvexLoss<OddlyClosedLoss>);
static_assert(!kernelet::ConvexLoss<VoidLoss>);
static_assert(!kernelet::ConvexLoss<FlatLoss>);
static_assert(!kernelet::ConvexLoss<LevellessLoss>);
static_assert(!kernelet::ConvexLoss<PairLoss>);
static_assert(!kernelet::ConvexLoss<NamelessLoss>);
static_assert(!kernelet::ConvexLoss<UncopyableLoss>);
static_assert(!kernelet::ConvexLoss<kernelet::Gaussian>);
static_assert(kernelet::detail::HasArgmin<kernelet::SquaredLoss>);
static_assert(!kernelet::detail::HasArgmin<LeastLoss>);
static_assert(!kernelet::detail::HasArgmin<OddlyClosedLoss>);
static_assert(kernelet::detail::HasAggregateProjection<kernelet::SquaredLoss>);
static_assert(!kernelet::detail::HasAggregateProjection<kernelet::HingeLoss>);
static_assert(!kernelet::detail::HasAggregateProjection<OddlyClosedLoss>);
static_assert(kernelet::detail::is_classification<kernelet::HingeLoss>());
static_assert(kernelet::detail::is_classification<kernelet::LogisticLoss>());
static_assert(!kernelet::detail::is_classification<kernelet::SquaredLoss>());

// --- Domain

struct LeastDomain {
    Index dimension() const;
    Index rows() const;
    LeastDomain with_parameters(const kernelet::ParameterLayout&) const;
    Index uniforms() const;
    void place(const ConstVectorRef&, VectorRef) const;
    void project(VectorRef) const;
    bool free(Index) const;
    std::optional<kernelet::Quadrature> rule(Index) const;
    Interval widths() const;
};
/// with_parameters must return the type itself: the base's no longer does.
struct DerivedDomain : LeastDomain {};
template <class Self>
struct RetypedDomain : LeastDomain {
    Self with_parameters(const kernelet::ParameterLayout&) const;
};
struct SoundDomain : RetypedDomain<SoundDomain> {};
struct IntegerMaskDomain : RetypedDomain<IntegerMaskDomain> {
    int free(Index) const;
};
struct BareRuleDomain : RetypedDomain<BareRuleDomain> {
    kernelet::Quadrature rule(Index) const;
};
struct PlacelessDomain : RetypedDomain<PlacelessDomain> {
private:
    using LeastDomain::place;
};
struct UnprojectedDomain : RetypedDomain<UnprojectedDomain> {
    void project(VectorRef);  // not const
};
struct WidthlessDomain : RetypedDomain<WidthlessDomain> {
private:
    using LeastDomain::widths;
};
struct ShapelessDomain : RetypedDomain<ShapelessDomain> {
private:
    using LeastDomain::dimension;
};

static_assert(kernelet::Domain<kernelet::Box>);
static_assert(kernelet::Domain<kernelet::FixedWidth>);
static_assert(kernelet::Domain<kernelet::AroundSamples>);
static_assert(kernelet::Domain<kernelet::CandidateCenters>);
static_assert(kernelet::Domain<LeastDomain>);
static_assert(kernelet::Domain<SoundDomain>);
static_assert(!kernelet::Domain<DerivedDomain>);
static_assert(!kernelet::Domain<IntegerMaskDomain>);
static_assert(!kernelet::Domain<BareRuleDomain>);
static_assert(!kernelet::Domain<PlacelessDomain>);
static_assert(!kernelet::Domain<UnprojectedDomain>);
static_assert(!kernelet::Domain<WidthlessDomain>);
static_assert(!kernelet::Domain<ShapelessDomain>);
static_assert(!kernelet::Domain<kernelet::Interval>);

// --- DualSolver

struct LeastSolver {
    template <class Problem>
    kernelet::DualSolution solve(const Problem&, const kernelet::ObserverFunction&) const;
};
struct SilentSolver {
    template <class Problem>
    void solve(const Problem&, const kernelet::ObserverFunction&) const;
};
struct BlindSolver {
    template <class Problem>
    kernelet::DualSolution solve(const Problem&) const;
};
struct ChangingSolver {
    template <class Problem>
    kernelet::DualSolution solve(const Problem&, const kernelet::ObserverFunction&);
};

static_assert(kernelet::DualSolver<kernelet::AutomaticSolver>);
static_assert(kernelet::DualSolver<kernelet::AugmentedNewton>);
static_assert(kernelet::DualSolver<kernelet::SampledAscent<>>);
static_assert(kernelet::DualSolver<kernelet::StochasticSupergradient>);
static_assert(kernelet::DualSolver<LeastSolver>);
static_assert(!kernelet::DualSolver<SilentSolver>);
static_assert(!kernelet::DualSolver<BlindSolver>);
static_assert(!kernelet::DualSolver<ChangingSolver>);
static_assert(!kernelet::DualSolver<kernelet::Options>);

// --- Observer

using Watching = decltype([](const Progress&) { return Verdict::proceed; });
using ByValue = decltype([](Progress) { return Verdict::stop; });
using Generic = decltype([](const auto&) { return Verdict::stop; });
using Changing = decltype([](const Progress&) mutable { return Verdict::stop; });
using Truthful = decltype([](const Progress&) { return true; });
using Silent = decltype([](const Progress&) {});
using Counting = decltype([](const Progress&) { return 1; });
using Deaf = decltype([] { return Verdict::proceed; });
using Meddling = decltype([](Progress&) { return Verdict::proceed; });
using Greedy = decltype([](const Progress&, int) { return Verdict::proceed; });

static_assert(kernelet::Observer<Watching>);
static_assert(kernelet::Observer<ByValue>);
static_assert(kernelet::Observer<Generic>);
static_assert(kernelet::Observer<Changing>);
static_assert(kernelet::Observer<Verdict (*)(const Progress&)>);
static_assert(kernelet::Observer<kernelet::ObserverFunction>);
static_assert(kernelet::Observer<kernelet::ProgressBar>);
static_assert(kernelet::Observer<kernelet::TimeLimit>);
static_assert(kernelet::Observer<kernelet::History>);
static_assert(kernelet::Observer<decltype(kernelet::both(kernelet::History{}, Watching{}))>);
static_assert(!kernelet::Observer<Truthful>);
static_assert(!kernelet::Observer<Silent>);
static_assert(!kernelet::Observer<Counting>);
static_assert(!kernelet::Observer<Deaf>);
static_assert(!kernelet::Observer<Meddling>);
static_assert(!kernelet::Observer<Greedy>);
static_assert(!kernelet::Observer<int>);
static_assert(!kernelet::Observer<kernelet::Box>);  // or fit(X, y, domain) would be ambiguous
static_assert(!kernelet::Domain<kernelet::TimeLimit>);

// --- values

template <class T>
concept Value = std::copyable<T>;

static_assert(Value<kernelet::SparseKernelEstimator<>>);
static_assert(Value<kernelet::SparseKernelModel<kernelet::Gaussian>>);
static_assert(Value<kernelet::CoefficientField<kernelet::Gaussian>>);
static_assert(Value<kernelet::Options>);
static_assert(Value<kernelet::Report>);
static_assert(Value<kernelet::Fit<kernelet::Gaussian>>);

TEST_CASE("concepts hold for what meets them and for nothing else", "[concepts]") {
    SUCCEED("checked by the compiler");
}

}  // namespace concepts_test
