#pragma once

namespace kernelet::detail {

/// A question that long loops ask now and then: whether to go on. Throws where the answer is no. Empty: always yes.
struct Poll {
    void (*ask)(void*) = nullptr;
    void* whom = nullptr;

    void operator()() const {
        if (ask != nullptr) ask(whom);
    }
};

}  // namespace kernelet::detail
