#include "takt/robot/bus_exchange.hpp"

#include <doctest/doctest.h>

#include "support/scripted_bus.hpp"

using namespace takt;
using namespace takt::robot;

TEST_CASE("a frame is as old as its stamp says, but not older than the cycle that takes it in") {
  constexpr Duration period{1000};
  const Time now{Duration(50'000)};
  test::ScriptedBus bus;
  BusExchange<test::ScriptedBus> exchange(bus, 1, 0, period, period);
  HardwareCounters counters;
  const auto time_of = [&](Time stamp) {
    can::Frame frame;
    frame.stamp = stamp;
    bus.incoming = {frame};
    Time taken{};
    exchange.receive(now, counters, [&](const can::Frame&, Time time) { taken = time; });
    return taken;
  };
  CHECK(time_of(now - Duration(300)) == now - Duration(300));
  CHECK(time_of(now) == now);
  CHECK(time_of(now - 60 * period) == now - period);  // the loop slept
  CHECK(time_of(now + period) == now);                // another clock
  CHECK(time_of(Time{}) == now - period);             // no clock at all
}
