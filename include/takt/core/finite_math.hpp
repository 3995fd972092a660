// Rejects compiler options that break takt's checks for NaN.
//
// takt rejects NaN and infinity by comparing numbers. With -ffinite-math-only, part of -ffast-math and
// -Ofast, the compiler removes these comparisons. A PID then answers a NaN with 5 and no error. Every header
// of takt that works with floating-point numbers includes this one, directly or indirectly; tests/layering
// checks it.
//
// -ffp-contract also changes results, but defines no macro that a header could check. The CMake targets and
// the pkg-config files compile with -ffp-contract=off. So takt's headers give the same numbers as its
// library. Other builds must set it if the processor has fused multiply-add: x86 with -mfma or -march=haswell
// and later, every AArch64.
#pragma once

#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error \
    "takt needs NaN and infinity: compile its headers without -ffast-math, -Ofast and -ffinite-math-only, which remove its checks of numbers"
#endif
