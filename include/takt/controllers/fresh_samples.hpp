// The samples of a port that a controller obeys: those since its activation. A fifo may hold many from
// before, when nothing read it.
#pragma once

#include "takt/shm/latest_value.hpp"

namespace takt::controllers {

/// Tells the samples of a run from those before it. Real-time safe.
class FreshSamples {
 public:
  /// The most samples that one call reads. More follow in the next cycle.
  static constexpr int most = 64;

  /// A run begins. Samples that wait now are from before.
  void restart() noexcept { are_old_ = true; }
  /// Reads the port, and calls take(is_fresh) for each new sample.
  template <class Port, class Take>
  void read(Port& port, Take&& take) noexcept {
    for (int i = 0; i < most; ++i) {
      if (port.read() != shm::Freshness::new_data) {
        are_old_ = false;
        return;
      }
      take(!are_old_);
    }
  }

 private:
  bool are_old_ = false;  ///< until the port was empty
};

}  // namespace takt::controllers
