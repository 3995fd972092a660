// Refuses compiler options under which takt would take NaN for a number.
//
// takt rejects NaN and infinity where they enter, by comparing numbers. With -ffinite-math-only, which
// -ffast-math and -Ofast include, the compiler removes these comparisons: a PID then answers NaN with 5 and
// no error. Every header of takt that works with floating-point numbers includes this one, directly or
// through others; tests/layering sees to it.
//
// A second option changes numbers without a macro that a header could look at: -ffp-contract. The CMake
// targets and the files of pkg-config compile with -ffp-contract=off, so that takt's headers give the same
// numbers as its library. A build without either has to set it, where the processor has fused multiply-add
// (x86 with -mfma or -march=haswell and later, every AArch64).
#pragma once

#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error \
    "takt needs NaN and infinity: compile its headers without -ffast-math, -Ofast and -ffinite-math-only, which remove its checks of numbers"
#endif
