// Tests the error counters against the rules of ISO 11898-1, one rule at a time.
#include "takt/can/fault_confinement.hpp"

#include <doctest/doctest.h>

using namespace takt::can;

namespace {

constexpr FaultConfinement after(int sends_failed, int receives_failed = 0) {
  FaultConfinement faults;
  for (int i = 0; i < sends_failed; ++i) faults.send_failed();
  for (int i = 0; i < receives_failed; ++i) faults.receive_failed();
  return faults;
}

}  // namespace

TEST_CASE("a failed send counts eight, a good one takes back one") {
  FaultConfinement faults = after(2);
  CHECK(faults.counters() == ErrorCounters{16, 0});
  faults.sent();
  CHECK(faults.counters() == ErrorCounters{15, 0});
  for (int i = 0; i < 100; ++i) faults.sent();
  CHECK(faults.counters() == ErrorCounters{0, 0});
}

TEST_CASE("warning from 96, passive from 128, bus-off from 256") {
  static_assert(after(11).state() == BusState::active && after(12).state() == BusState::warning);
  static_assert(after(15).state() == BusState::warning && after(16).state() == BusState::passive);
  static_assert(after(31).state() == BusState::passive && after(32).state() == BusState::bus_off);
  static_assert(after(0, 95).state() == BusState::active && after(0, 96).state() == BusState::warning);
  static_assert(after(0, 127).state() == BusState::warning && after(0, 128).state() == BusState::passive);
  static_assert(after(0, 1'000).state() == BusState::passive);  // receive errors alone never lead to bus-off
  static_assert(after(0, 1'000).counters() == ErrorCounters{0, 255});
  CHECK(after(32).counters() == ErrorCounters{255, 0});
}

TEST_CASE("a node that destroys a frame alone is blamed nine times as much as the others") {
  FaultConfinement faults;
  faults.misread();
  CHECK(faults.counters() == ErrorCounters{0, 9});
}

TEST_CASE("from error-passive one good frame leads back to below the limit") {
  FaultConfinement faults = after(0, 200);
  faults.received();
  CHECK(faults.counters() == ErrorCounters{0, 119});
  faults.received();
  CHECK(faults.counters() == ErrorCounters{0, 118});
}

TEST_CASE("who is never acknowledged becomes passive, and no worse") {
  FaultConfinement faults;
  for (int i = 0; i < 1000; ++i) faults.not_acknowledged();
  CHECK(faults.counters() == ErrorCounters{128, 0});
  CHECK(faults.state() == BusState::passive);
  faults.send_failed();
  CHECK(faults.counters() == ErrorCounters{136, 0});
}

TEST_CASE("bus-off ends by recovery only, and then all is forgotten") {
  FaultConfinement faults = after(32, 7);
  for (int i = 0; i < 1000; ++i) {
    faults.sent();
    faults.received();
    faults.send_failed();
    faults.misread();
  }
  CHECK(faults == after(32, 7));
  faults.recovered();
  CHECK(faults == FaultConfinement{});
}
