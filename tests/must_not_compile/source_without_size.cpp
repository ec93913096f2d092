// expect: SampleSource
// predict(source, sink) names the concept; a source that does not say how many samples it has is none.
#include <kernelet/kernelet.hpp>

struct CustomSource {
    kernelet::Index dimension() const { return 1; }
    kernelet::Index outputs() const { return 1; }
    void read(kernelet::Index, kernelet::Index, kernelet::MatrixRef, kernelet::MatrixRef,
              kernelet::VectorRef) const {}
};

int main() { kernelet::AnySource source(CustomSource{}); }
