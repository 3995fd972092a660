// Layouts to share, a segment name that is unique to the run, and the checks that need root. The tests of
// segments share them.
#pragma once

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <string>

#include "takt/platform/segment.hpp"
#include "takt/platform/steady_clock.hpp"

namespace takt::test::segments {

using namespace takt::platform;
using namespace takt::shm;

inline constexpr std::array wanted = {declare<SpscRing<std::uint64_t>>("numbers", 16),
                                      declare<BroadcastValue<double>>("level"),
                                      declare<RawMemory>("own", 64, 3, 0)};
inline constexpr std::array others = {declare<SpscRing<std::uint64_t>>("numbers", 32)};
inline constexpr uid_t nobody = 65534;

/// A segment name that is unique to this run. Removed at the end.
class Name {
 public:
  Name() { Segment::remove(text_); }
  ~Name() { Segment::remove(text_); }
  operator const std::string&() const { return text_; }  // NOLINT(google-explicit-constructor): it is one
  [[nodiscard]] std::string path() const { return "/dev/shm/takt." + text_; }

 private:
  std::string text_ = fmt::format("test-{}", ::getpid());
};

/// The error of a result, for comparison. Without an error, an Error without a room.
template <class T>
Error error_of(const SetupResult<T>& result) {
  return result ? Error{} : result.error().error;
}

inline Time now() { return SteadyClock().now(); }

/// Root can run some checks as another user. Without root they are skipped visibly.
inline bool is_root() {
  if (::geteuid() == 0) return true;
  MESSAGE("SKIPPED: this needs root");
  return false;
}

}  // namespace takt::test::segments
