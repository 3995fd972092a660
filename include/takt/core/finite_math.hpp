// Rejects compiler options that break takt's checks for NaN, or change its numbers.
//
// takt rejects NaN and infinity by comparing numbers. With -ffinite-math-only, part of -ffast-math and
// -Ofast, the compiler removes these comparisons. A PID then answers a NaN with 5 and no error. With
// -fassociative-math and -freciprocal-math, parts of -funsafe-math-optimizations, it reorders sums. Those
// that keep a rounding error lose it, and headers and library give different numbers. Every header of takt
// that works with floating-point numbers includes this one, directly or indirectly; tests/layering checks it.
//
// Clang defines no macro for -fassociative-math, and no compiler defines one for -ffp-contract. Under Clang
// this header turns both off for the rest of the file. Under GCC the CMake targets and the pkg-config files
// compile with -ffp-contract=off. So takt's headers give the same numbers as its library. Other builds with
// GCC must set it if the processor has fused multiply-add: x86 with -mfma or -march=haswell and later, every
// AArch64.
#pragma once

#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error \
    "takt needs NaN and infinity: compile its headers without -ffast-math, -Ofast and -ffinite-math-only, which remove its checks of numbers"
#endif

#if defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__)
#error \
    "takt needs sums in their order: compile its headers without -funsafe-math-optimizations, -fassociative-math and -freciprocal-math, which change its numbers"
#endif

#if defined(__clang__)
#pragma clang fp reassociate(off) contract(off)
#endif
