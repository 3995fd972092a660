// Uses the header-only part of an installed takt, and a header that its program makes of a DBC file.
#include <takt/core/manual_clock.hpp>
#include <takt/version.hpp>

#include <cstdio>

#include "drive.hpp"

int main() {
  takt::ManualClock clock;
  const takt::Time start = clock.now();
  clock.advance(takt::Duration(1'000'000));
  std::printf("takt %s\n", TAKT_VERSION);
  if (clock.now() - start != takt::Duration(1'000'000)) return 1;

  const auto frame = takt::can::encode(
      robot::drive::DriveStatus{.speed = 12.5, .mode = robot::drive::DriveStatus::Mode::ready});
  double speed = 0;
  const auto visitor = [&](const robot::drive::DriveStatus& status) { speed = status.speed; };
  return frame && robot::drive::visit(*frame, visitor) && speed == 12.5 ? 0 : 1;
}
