// The frequency response between two recorded signals: what a Bode plot shows.
//
// For each frequency, windows slide over the record. A window has 48 periods of that frequency, or is the
// whole record if that is shorter. In each, one bin of the discrete Fourier transform is computed of the
// input x and of the output y, with a Hann window. The response is the quotient of sums over the windows:
//
//   H(f) = sum(Y X*) / sum(X X*)
//
// Windows in which the input has that frequency count most. So a sine sweep gives a good response, although
// it has each frequency for a short time only. Noise in the output averages out.
#pragma once

#include <span>
#include <vector>

#include "takt/core/error.hpp"
#include "takt/core/finite_math.hpp"

namespace takt::controllers {

/// The response at one frequency.
struct ResponsePoint {
  double frequency = 0;  ///< Hz
  double gain = 0;       ///< dB: of output per input
  double phase = 0;      ///< deg: continuous from point to point, the first one within -180 to 180
};

/// The response at frequencies with equal ratios, 12 in an octave. They are between four periods in the
/// record and 0.4 of the sampling rate. Frequencies that the input hardly has are left out: those with less
/// than a thousandth of its greatest power. `period`: s between samples, the same in both records. Errors:
/// bad_record; not_finite; control::Errc::bad_period. Allocates; not for the cycle.
[[nodiscard]] Result<std::vector<ResponsePoint>> frequency_response(std::span<const double> input,
                                                                    std::span<const double> output,
                                                                    double period);

}  // namespace takt::controllers
