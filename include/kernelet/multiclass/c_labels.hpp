#pragma once

#include <kernelet/model/c_words.hpp>
#include <kernelet/multiclass/ensemble_io.hpp>

#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

namespace kernelet::detail {

/// Labels as C constants of one type.
struct CLabels {
    std::string type{};
    std::vector<std::string> constants{};
};

template <TextLabel Label>
CLabels c_labels(const std::vector<Label>& classes) {
    CLabels labels;
    if constexpr (std::integral<Label>) {
        // long has 32 bits at least; the least number of a type is not a constant in C but an expression
        constexpr long long most = std::numeric_limits<std::int32_t>::max();
        bool narrow = true;
        for (const Label label : classes)
            narrow = narrow && static_cast<double>(label) <= static_cast<double>(most) &&
                     static_cast<double>(label) >= -static_cast<double>(most);
        labels.type = narrow ? "long " : std::is_signed_v<Label> ? "long long " : "unsigned long long ";
        for (const Label label : classes) {
            if (std::is_signed_v<Label> && label == std::numeric_limits<Label>::min() && !narrow)
                labels.constants.push_back(std::to_string(label + 1) + "LL - 1");
            else
                labels.constants.push_back(std::to_string(label) + (narrow                    ? ""
                                                                    : std::is_signed_v<Label> ? "LL"
                                                                                              : "ULL"));
        }
    } else if constexpr (std::floating_point<Label>) {
        labels.type = "double ";
        for (const Label label : classes)
            labels.constants.push_back(c_number(static_cast<double>(label), false));
    } else {
        labels.type = "const char *";
        for (const Label& label : classes) labels.constants.push_back(c_string(label));
    }
    return labels;
}

}  // namespace kernelet::detail
