// Uses the header-only part of an installed takt.
#include <takt/core/manual_clock.hpp>
#include <takt/version.hpp>

#include <cstdio>

int main() {
  takt::ManualClock clock;
  const takt::Time start = clock.now();
  clock.advance(takt::Duration(1'000'000));
  std::printf("takt %s\n", TAKT_VERSION);
  return clock.now() - start == takt::Duration(1'000'000) ? 0 : 1;
}
