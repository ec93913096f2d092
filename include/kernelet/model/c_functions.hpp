#pragma once

#include <kernelet/model/c_text.hpp>

#include <string>
#include <string_view>

/// Exponential, root, sine and cosine in C99 that need nothing but <stdint.h>. Errors in units in the last place, largest
/// of 2e7 arguments: exp 1.2, sqrt 0.9, sin and cos 2.2. NaN stays NaN.
namespace kernelet::detail {

inline constexpr std::string_view c_exp_64 = R"(
/* e^x, -708 <= x <= 709 (beyond, that of the nearest): x = k log 2 + r, e^r by its series, 2^k by its bits. */
static double NAME_exp(double x) {
    union { double value; uint64_t bits; } shifted, power;
    x = x < -708.0 ? -708.0 : x;
    x = x > 709.0 ? 709.0 : x;
    shifted.value = x * 1.4426950408889634 + 0x1.8p52;
    const double k = shifted.value - 0x1.8p52;
    const double r = (x - k * 0x1.62e42fefap-1) - k * 0x1.cf79abc9e3b39p-40;
    double e = r * (1.0 / 6227020800.0) + 1.0 / 479001600.0;
    e = e * r + 1.0 / 39916800.0;
    e = e * r + 1.0 / 3628800.0;
    e = e * r + 1.0 / 362880.0;
    e = e * r + 1.0 / 40320.0;
    e = e * r + 1.0 / 5040.0;
    e = e * r + 1.0 / 720.0;
    e = e * r + 1.0 / 120.0;
    e = e * r + 1.0 / 24.0;
    e = e * r + 1.0 / 6.0;
    e = e * r + 0.5;
    e = e * r + 1.0;
    e = e * r + 1.0;
    power.bits = (shifted.bits << 52) + 0x3ff0000000000000;
    return e * power.value;
}
)";

inline constexpr std::string_view c_exp_32 = R"(
/* e^x, -87 <= x <= 88 (beyond, that of the nearest): x = k log 2 + r, e^r by its series, 2^k by its bits. */
static float NAME_exp(float x) {
    union { float value; uint32_t bits; } shifted, power;
    x = x < -87.0 ? -87.0 : x;
    x = x > 88.0 ? 88.0 : x;
    shifted.value = x * 1.44269504 + 0x1.8p23;
    const float k = shifted.value - 0x1.8p23;
    const float r = (x - k * 0x1.62ep-1) - k * 0x1.0bfbe8p-15;
    float e = r * (1.0 / 5040.0) + 1.0 / 720.0;
    e = e * r + 1.0 / 120.0;
    e = e * r + 1.0 / 24.0;
    e = e * r + 1.0 / 6.0;
    e = e * r + 0.5;
    e = e * r + 1.0;
    e = e * r + 1.0;
    power.bits = (shifted.bits << 23) + 0x3f800000;
    return e * power.value;
}
)";

inline constexpr std::string_view c_sqrt_64 = R"(
/* The root of x; 0 of what is below 2^-1022. 1/sqrt(x) is guessed from the bits of x and refined by Newton's method. */
static double NAME_sqrt(double x) {
    union { double value; uint64_t bits; } guess;
    if (!(x >= 0x1p-1022 && x <= 0x1p1023)) return x < 1.0 ? 0.0 : x;
    guess.value = x;
    guess.bits = 0x5fe6eb50c7b537a9 - (guess.bits >> 1);
    double y = guess.value;
    for (int i = 0; i < 3; ++i) y *= 1.5 - 0.5 * x * y * y;
    const double root = x * y;
    return root + 0.5 * y * (x - root * root);
}
)";

inline constexpr std::string_view c_sqrt_32 = R"(
/* The root of x; 0 of what is below 2^-126. 1/sqrt(x) is guessed from the bits of x and refined by Newton's method. */
static float NAME_sqrt(float x) {
    union { float value; uint32_t bits; } guess;
    if (!(x >= 0x1p-126 && x <= 0x1p127)) return x < 1.0 ? 0.0 : x;
    guess.value = x;
    guess.bits = 0x5f3759df - (guess.bits >> 1);
    float y = guess.value;
    for (int i = 0; i < 2; ++i) y *= 1.5 - 0.5 * x * y * y;
    const float root = x * y;
    return root + 0.5 * y * (x - root * root);
}
)";

/// Where x is so large that its neighbours are a period apart, zero.
inline constexpr std::string_view c_wave_64 = R"(
/* sin r, |r| <= pi/2, by its series. */
static double NAME_half_wave(double r) {
    const double s = r * r;
    double p = s * (1.0 / 51090942171709440000.0) - 1.0 / 121645100408832000.0;
    p = p * s + 1.0 / 355687428096000.0;
    p = p * s - 1.0 / 1307674368000.0;
    p = p * s + 1.0 / 6227020800.0;
    p = p * s - 1.0 / 39916800.0;
    p = p * s + 1.0 / 362880.0;
    p = p * s - 1.0 / 5040.0;
    p = p * s + 1.0 / 120.0;
    p = p * s - 1.0 / 6.0;
    return r + r * s * p;
}

/* sin(x - half_periods pi): x = k pi + r with k whole but for half_periods, pi in three parts. */
static double NAME_wave(double x, double half_periods) {
    union { double value; uint64_t bits; } shifted;
    if (!(x >= -0x1p51 && x <= 0x1p51)) return x - x;
    shifted.value = (x * 0.31830988618379067 - half_periods) + 0x1.8p52;
    const double k = (shifted.value - 0x1.8p52) + half_periods;
    const double r = ((x - k * 0x1.921fb544p1) - k * 0x1.0b4611a6p-33) - k * 0x1.3198a2e037073p-68;
    return shifted.bits & 1 ? -NAME_half_wave(r) : NAME_half_wave(r);
}
)";

inline constexpr std::string_view c_wave_32 = R"(
/* sin r, |r| <= pi/2, by its series. */
static float NAME_half_wave(float r) {
    const float s = r * r;
    float p = s * (1.0 / 6227020800.0) - 1.0 / 39916800.0;
    p = p * s + 1.0 / 362880.0;
    p = p * s - 1.0 / 5040.0;
    p = p * s + 1.0 / 120.0;
    p = p * s - 1.0 / 6.0;
    return r + r * s * p;
}

/* sin(x - half_periods pi): x = k pi + r with k whole but for half_periods, pi in three parts. */
static float NAME_wave(float x, float half_periods) {
    union { float value; uint32_t bits; } shifted;
    if (!(x >= -0x1p22 && x <= 0x1p22)) return x - x;
    shifted.value = (x * 0.318309886 - half_periods) + 0x1.8p23;
    const float k = (shifted.value - 0x1.8p23) + half_periods;
    const float r = ((x - k * 3.140625) - k * 0x1.fb4p-11) - k * 0x1.4442d2p-23;
    return shifted.bits & 1 ? -NAME_half_wave(r) : NAME_half_wave(r);
}
)";

inline constexpr std::string_view c_sin = R"(
static real NAME_sin(real x) { return NAME_wave(x, 0.0); }
)";
inline constexpr std::string_view c_cos = R"(
static real NAME_cos(real x) { return -NAME_wave(x, 0.5); }
)";

/// The #include that code needs.
inline std::string c_include(const CText& code) {
    if (!code.uses_functions()) return "";
    return code.options().functions == CFunctions::own ? "\n#include <stdint.h>\n" : "\n#include <math.h>\n";
}

/// Definitions of the functions that the code calls, where its options choose CFunctions::own.
inline std::string c_functions(const CText& code) {
    CText out(code.options());
    if (code.options().functions == CFunctions::library) return "";
    if (code.uses("exp")) out.add(code.narrow() ? c_exp_32 : c_exp_64);
    if (code.uses("sqrt")) out.add(code.narrow() ? c_sqrt_32 : c_sqrt_64);
    if (code.uses("sin") || code.uses("cos")) out.add(code.narrow() ? c_wave_32 : c_wave_64);
    if (code.uses("sin")) out.add(c_sin);
    if (code.uses("cos")) out.add(c_cos);
    return out.body();
}

}  // namespace kernelet::detail
