// Tests setpoint slots one rule at a time, and against a plain model over random calls. Compares them with a
// queue on a bus that is too slow.
#include "takt/can/setpoint_slots.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <tuple>
#include <utility>
#include <vector>

#include "support/random.hpp"
#include "support/rt_guard.hpp"
#include "support/scripted_bus.hpp"
#include "takt/can/word.hpp"
#include "takt/sim/virtual_can_bus.hpp"

using namespace takt;
using namespace takt::can;
using namespace std::chrono_literals;

namespace {

Frame value(std::uint32_t id, std::uint64_t number) {
  Frame frame;
  frame.id = id;
  frame.length = 8;
  store_little<8>(frame.data.data(), number);
  return frame;
}
std::uint64_t number_of(const Frame& frame) { return load_little<8>(frame.data.data()); }

std::vector<std::uint32_t> sent_ids(test::ScriptedBus& bus) {
  std::vector<std::uint32_t> ids;
  for (const Frame& frame : std::exchange(bus.sent, {})) ids.push_back(frame.id);
  return ids;
}

}  // namespace

TEST_CASE("the newer of two setpoints for one message is sent, and the older one is counted") {
  SetpointSlots<> slots;
  test::ScriptedBus bus;
  const std::size_t slot = slots.add(0).value();
  CHECK(slots.put(slot, value(1, 10), Time(1ms)));
  CHECK(slots.put(slot, value(1, 11), Time(1ms)));
  CHECK(slots.waiting(slot));
  CHECK(slots.flush(bus, Time(0ms)) == 1);
  CHECK(bus.sent == std::vector{value(1, 11)});
  CHECK(slots.counters() == SetpointCounters{.sent = 1, .replaced = 1});
  CHECK(slots.flush(bus, Time(0ms)) == 0);  // only once
  CHECK(bus.sent.size() == 1);
}

TEST_CASE("a setpoint is sent up to its deadline, and dropped and counted after it") {
  SetpointSlots<> slots;
  test::ScriptedBus bus;
  const std::size_t slot = slots.add(0).value();
  slots.put(slot, value(1, 1), Time(1ms));
  CHECK(slots.flush(bus, Time(1ms)) == 1);
  slots.put(slot, value(1, 2), Time(2ms));
  CHECK(slots.flush(bus, Time(2ms + 1ns)) == 0);
  CHECK(bus.sent.size() == 1);
  CHECK(!slots.waiting(slot));
  CHECK(slots.counters(slot) == SetpointCounters{.sent = 1, .expired = 1});
}

TEST_CASE("a setpoint that the bus does not accept waits or is replaced, without an error") {
  SetpointSlots<> slots;
  test::ScriptedBus bus;
  const std::size_t a = slots.add(0).value();
  const std::size_t b = slots.add(1).value();
  bus.room = 1;
  slots.put(a, value(0xA, 1), Time(5ms));
  slots.put(b, value(0xB, 1), Time(5ms));
  CHECK(slots.flush(bus, Time(1ms)) == 1);
  CHECK(slots.waiting(b));
  CHECK(slots.counters(b) == SetpointCounters{.refused = 1});
  bus.room = 0;
  CHECK(slots.flush(bus, Time(2ms)) == 0);
  slots.put(b, value(0xB, 2), Time(5ms));
  bus.room = 2;
  CHECK(slots.flush(bus, Time(3ms)) == 1);
  CHECK(bus.sent == std::vector{value(0xA, 1), value(0xB, 2)});
  CHECK(slots.counters(b) == SetpointCounters{.sent = 1, .replaced = 1, .refused = 2});
}

TEST_CASE("lower priority numbers go first, and equals in the order in which they were put") {
  SetpointSlots<> slots;
  test::ScriptedBus bus;
  for (const std::uint32_t priority : {7U, 0U, 7U, 7U, 3U}) CHECK(slots.add(priority).has_value());
  for (const std::size_t i : {2U, 0U, 4U, 3U, 1U})
    slots.put(i, value(static_cast<std::uint32_t>(i), 0), Time(9ms));
  slots.flush(bus, Time(1ms));
  CHECK(sent_ids(bus) == std::vector<std::uint32_t>{1, 4, 2, 0, 3});
}

TEST_CASE("a waiting setpoint is sent first, with its newest value") {
  SetpointSlots<> slots;
  test::ScriptedBus bus;
  for (int i = 0; i < 7; ++i) CHECK(slots.add(0).has_value());
  bus.room = 3;
  const auto cycle = [&](std::uint64_t number) {
    for (std::uint32_t i = 0; i < 7; ++i) slots.put(i, value(i, number), Time(9ms));
    slots.flush(bus, Time(1ms));
    for (const Frame& frame : bus.sent) CHECK(number_of(frame) == number);
    return sent_ids(bus);
  };
  CHECK(cycle(1) == std::vector<std::uint32_t>{0, 1, 2});
  CHECK(cycle(2) == std::vector<std::uint32_t>{3, 4, 5});
  CHECK(cycle(3) == std::vector<std::uint32_t>{6, 0, 1});
  bus.room = 9;
  CHECK(cycle(4) == std::vector<std::uint32_t>{2, 3, 4, 5, 6, 0, 1});
  CHECK(cycle(5) == std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5, 6});
}

TEST_CASE("of n messages, a bus that takes m a call sends each within n / m calls, whenever they are put") {
  auto random = test::generator(2);
  for (std::size_t run = 0; run < test::count(200); ++run) {
    const auto messages = static_cast<std::uint32_t>(test::uniform_int(random, 1, 30));
    SetpointSlots<> slots;
    test::ScriptedBus bus;
    bus.room = static_cast<std::size_t>(test::uniform_int(random, 1, 12));
    const std::size_t most = (messages + bus.room - 1) / bus.room;
    std::vector<std::size_t> waited(messages);
    for (std::uint32_t i = 0; i < messages; ++i) REQUIRE(slots.add(0).has_value());
    for (int cycle = 0; cycle < 50; ++cycle) {
      for (std::uint32_t i = 0; i < messages; ++i)
        if (test::uniform_int(random, 0, 3) > 0) slots.put(i, value(i, 0), Time::max());
      for (std::uint32_t i = 0; i < messages; ++i)
        if (slots.waiting(i)) ++waited[i];
      slots.flush(bus, Time{});
      for (const std::uint32_t id : sent_ids(bus)) {
        REQUIRE(waited[id] <= most);
        waited[id] = 0;
      }
    }
  }
}

TEST_CASE("orders go first, in order, and none replaces another") {
  SetpointSlots<4, 3> slots;
  test::ScriptedBus bus;
  const std::size_t sync = slots.add(0).value();
  const std::size_t reference = slots.add(1).value();
  slots.put(reference, value(0xA, 1), Time(9ms));
  for (const std::uint64_t number : {1U, 2U, 3U}) CHECK(slots.order(value(0xF, number), Time(5ms), 1));
  CHECK(!slots.order(value(0xF, 4), Time(5ms), 1));  // must be repeated later
  slots.put(sync, value(0x5, 1), Time(9ms));
  CHECK(slots.orders_waiting() == 3);
  bus.room = 3;
  CHECK(slots.flush(bus, Time(1ms)) == 3);
  CHECK(std::exchange(bus.sent, {}) == std::vector{value(0x5, 1), value(0xF, 1), value(0xF, 2)});
  CHECK(slots.orders_waiting() == 1);
  CHECK(slots.order(value(0xF, 4), Time(5ms), 1));
  slots.put(sync, value(0x5, 2), Time(9ms));
  slots.put(reference, value(0xA, 2), Time(9ms));
  CHECK(slots.flush(bus, Time(2ms)) == 3);
  CHECK(std::exchange(bus.sent, {}) == std::vector{value(0x5, 2), value(0xF, 3), value(0xF, 4)});
  CHECK(slots.flush(bus, Time(2ms)) == 1);
  CHECK(slots.counters(reference) == SetpointCounters{.sent = 1, .replaced = 1, .refused = 2});
  CHECK(slots.order_counters() == SetpointCounters{.sent = 4, .refused = 1});
}

TEST_CASE("an order is retried up to its deadline, and its loss counted") {
  SetpointSlots<> slots;
  test::ScriptedBus bus;
  bus.room = 0;
  CHECK(slots.order(value(1, 1), Time(2ms)));
  CHECK(slots.flush(bus, Time(2ms)) == 0);
  CHECK(slots.orders_waiting() == 1);
  bus.room = 1;
  CHECK(slots.flush(bus, Time(2ms + 1ns)) == 0);
  CHECK(slots.orders_waiting() == 0);
  CHECK(slots.order_counters() == SetpointCounters{.expired = 1, .refused = 1});
  CHECK(slots.starved() == 1);
}

TEST_CASE("slots that are counted at run time are as many as are added") {
  SetpointSlots<std::dynamic_extent> slots(2);
  test::ScriptedBus bus;
  for (std::uint32_t i = 0; i < 200; ++i) CHECK(slots.add(i % 2) == i);
  for (std::uint32_t i = 0; i < 200; ++i) CHECK(slots.put(i, value(i, 0), Time(1ms)));
  CHECK(slots.order(value(900, 0), Time(1ms)));
  CHECK(slots.order(value(901, 0), Time(1ms)));
  CHECK(!slots.order(value(902, 0), Time(1ms)));
  CHECK(slots.flush(bus, Time(0ms)) == 202);
  CHECK(bus.sent[0].id == 900);
  CHECK(bus.sent[2].id == 0);
  CHECK(bus.sent[3].id == 2);
  CHECK(bus.sent[201].id == 199);
  SetpointSlots<std::dynamic_extent> none;
  CHECK(!none.order(value(1, 0), Time(1ms)));
  CHECK(none.add(0) == 0);
}

TEST_CASE("a setpoint that cannot be encoded leaves the waiting one unchanged") {
  SetpointSlots<> slots;
  test::ScriptedBus bus;
  const std::size_t slot = slots.add(0).value();
  const auto spoil = [](Frame& frame) {
    frame = value(9, 9);
    return false;
  };
  CHECK(!slots.put_with(slot, Time(1ms), spoil));
  CHECK(!slots.waiting(slot));
  slots.put(slot, value(1, 1), Time(1ms));
  CHECK(!slots.put_with(slot, Time(1ms), spoil));
  CHECK(!slots.order_with(Time(1ms), 0, spoil));
  CHECK(slots.flush(bus, Time(0ms)) == 1);
  CHECK(bus.sent == std::vector{value(1, 1)});
}

TEST_CASE("a setpoint that was withdrawn is not sent") {
  SetpointSlots<> slots;
  test::ScriptedBus bus;
  const std::size_t slot = slots.add(0).value();
  slots.put(slot, value(1, 1), Time(1ms));
  slots.withdraw(slot);
  slots.withdraw(slot);
  CHECK(slots.flush(bus, Time(0ms)) == 0);
  CHECK(slots.counters() == SetpointCounters{.withdrawn = 1});
}

TEST_CASE("there are so many slots, and numbers beyond them do no harm") {
  SetpointSlots<2> slots;
  test::ScriptedBus bus;
  CHECK(slots.add(0) == 0);
  CHECK(slots.add(0) == 1);
  CHECK(!slots.add(0).has_value());
  CHECK(!slots.put(2, value(1, 1), Time(1ms)));
  slots.withdraw(2);
  CHECK(!slots.waiting(2));
  CHECK(slots.counters(2) == SetpointCounters{});
  CHECK(slots.flush(bus, Time(0ms)) == 0);
}

TEST_CASE("slots agree with a plain model over random calls") {
  struct Entry {
    std::uint32_t priority;
    Time deadline;
    Frame frame;
    bool waiting;
    bool left_over;
    std::uint64_t rank;  // among the frames that wait since the last flush
    std::uint64_t last_sent;
  };
  auto random = test::generator(1);
  for (std::size_t run = 0; run < test::count(300); ++run) {
    SetpointSlots<> slots;
    std::vector<Entry> model;
    SetpointCounters counted;
    test::ScriptedBus bus;
    for (auto i = test::uniform_int(random, 1, 8); i > 0; --i) {
      model.push_back(
          {static_cast<std::uint32_t>(test::uniform_int(random, 0, 2)), {}, {}, false, false, 0, 0});
      REQUIRE(slots.add(model.back().priority) == model.size() - 1);
    }
    Time now{};
    std::uint64_t rank = 0;
    bool is_short = false;
    for (std::uint64_t step = 0; step < 100; ++step) {
      now += Duration(test::uniform_int(random, 0, 3));
      const auto at = static_cast<std::size_t>(test::uniform_int(random, 0, 7)) % model.size();
      const auto what = test::uniform_int(random, 0, 9);
      if (what < 6) {
        const Time deadline = now + Duration(test::uniform_int(random, -2, 6));
        counted.replaced += model[at].waiting ? 1U : 0U;
        if (!model[at].waiting) {
          model[at].left_over = false;
          model[at].rank = ++rank;
        }
        model[at].waiting = true;
        model[at].deadline = deadline;
        model[at].frame = value(static_cast<std::uint32_t>(at), step);
        REQUIRE(slots.put(at, model[at].frame, deadline));
      } else if (what < 7) {
        counted.withdrawn += model[at].waiting ? 1U : 0U;
        model[at].waiting = false;
        slots.withdraw(at);
      } else {
        bus.room = static_cast<std::size_t>(test::uniform_int(random, 0, 5));
        std::vector<std::tuple<std::uint32_t, bool, std::uint64_t, std::uint64_t, std::size_t>> order;
        for (std::size_t i = 0; i < model.size(); ++i) {
          if (!model[i].waiting) continue;
          if (model[i].deadline < now) {
            model[i].waiting = false;
            ++counted.expired;
          } else {
            const bool by_turn = is_short && !model[i].left_over;
            order.emplace_back(model[i].priority, !model[i].left_over, by_turn ? model[i].last_sent : 0,
                               model[i].rank, i);
          }
        }
        std::sort(order.begin(), order.end());
        std::vector<Frame> expected;
        for (std::size_t i = 0; i < order.size(); ++i) {
          Entry& entry = model[std::get<4>(order[i])];
          if (i >= bus.room) {
            ++counted.refused;
            entry.left_over = true;
            entry.rank = ++rank;
            continue;
          }
          entry.waiting = false;
          entry.last_sent = ++counted.sent;
          expected.push_back(entry.frame);
        }
        is_short = expected.size() < order.size();
        REQUIRE(slots.flush(bus, now) == expected.size());
        REQUIRE(std::exchange(bus.sent, {}) == expected);
      }
      REQUIRE(slots.counters() == counted);
      REQUIRE(slots.starved() == counted.starved());
      for (std::size_t i = 0; i < model.size(); ++i) REQUIRE(slots.waiting(i) == model[i].waiting);
    }
  }
}

namespace {

// Five messages of 111 to 135 us in a cycle of 500 us: the bus can carry about four of them.
constexpr std::size_t messages = 5;
constexpr Duration period = 500us;
constexpr std::uint64_t cycles = 2000;

struct Slotted {
  SetpointSlots<> slots;
  Slotted() {
    for (std::size_t i = 0; i < messages; ++i) REQUIRE(slots.add(0).has_value());
  }
  void put(std::uint64_t cycle, Time now) {
    for (std::size_t i = 0; i < messages; ++i)
      slots.put(i, value(static_cast<std::uint32_t>(i), cycle), now + 2 * period);
  }
  void flush(sim::VirtualCanBus::Port& port, Time now) { slots.flush(port, now); }
};

struct Queued {
  std::deque<Frame> queue;
  void put(std::uint64_t cycle, Time /*now*/) {
    for (std::size_t i = 0; i < messages; ++i) queue.push_back(value(static_cast<std::uint32_t>(i), cycle));
  }
  void flush(sim::VirtualCanBus::Port& port, Time /*now*/) {
    while (!queue.empty() && port.send({&queue.front(), 1}) == 1) queue.pop_front();
  }
};

/// The largest age of a setpoint at its drive. Each drive receives many.
template <class Sender>
Duration oldest() {
  sim::VirtualCanBus bus;
  auto master = bus.connect({.transmit = 2, .receive = 0});
  auto drives = bus.connect();
  Sender sender;
  Duration age{};
  std::array<std::uint64_t, messages> heard{};
  for (std::uint64_t cycle = 0; cycle < cycles; ++cycle) {
    sender.put(cycle, bus.now());
    for (int part = 0; part < 5; ++part) {  // whenever the driver has room
      sender.flush(master, bus.now());
      bus.advance(bus.now() + period / 5);
    }
    std::array<Frame, 16> frames{};
    for (const Frame& frame : std::span(frames).first(drives.receive(frames))) {
      age = std::max(age, frame.stamp - Time(static_cast<Duration::rep>(number_of(frame)) * period));
      ++heard[frame.id];
    }
  }
  CHECK(*std::min_element(heard.begin(), heard.end()) > cycles / 2);
  return age;
}

}  // namespace

TEST_CASE("on a bus that is too slow, setpoints from slots stay fresh, and those from a queue grow old") {
  CHECK(oldest<Slotted>() <= period + 3 * 135us);  // two in the driver's queue, one on the wire
  CHECK(oldest<Queued>() > 100 * period);
}

TEST_CASE("slots keep the rules of the loop") {
  SetpointSlots<> slots;
  for (std::uint32_t i = 0; i < 20; ++i) CHECK(slots.add(i % 4).has_value());
  sim::VirtualCanBus bus;
  auto port = bus.connect({.transmit = 10, .receive = 0});
  test::RtGuard guard;
  for (int cycle = 0; cycle < 1000; ++cycle) {
    for (std::uint32_t i = 0; i < 20; ++i) slots.put(i, value(i, 0), bus.now() + 1ms);
    slots.flush(port, bus.now());
    bus.advance(bus.now() + 1ms);
  }
  CHECK(guard.report() == "");
  CHECK(slots.counters().sent > 0);
}
