#include "takt/component/replacement.hpp"

#include <doctest/doctest.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "support/random.hpp"
#include "support/rt_guard.hpp"
#include "takt/component/connection.hpp"
#include "takt/component/context_thread.hpp"
#include "takt/component/drivers.hpp"
#include "takt/component/kept_state.hpp"
#include "takt/component/service.hpp"
#include "takt/platform/event_waiter.hpp"
#include "takt/platform/steady_clock.hpp"

using namespace takt;
using namespace takt::component;
using namespace std::chrono_literals;
using shm::Freshness;

namespace {

constexpr ComponentMetadata about{
    .type = "Test", .version = "1.0.0", .vendor = "takt", .category = "test", .description = "A test."};
constexpr Duration patience = 60s;

/// Writes 1, 2, 3, ...
struct Source : Component {
  explicit Source(std::string name = "source") : Component(about, std::move(name)) {}
  Status on_execute(const CycleTime& cycle) noexcept override {
    out.write(++count, cycle.time);
    return {};
  }
  OutPort<std::int64_t> out{*this, "out"};
  std::int64_t count = 0;
};

struct Scale {
  static constexpr std::string_view service_name = "Scale/1";
  virtual ~Scale() = default;
  [[nodiscard]] virtual int version() const noexcept = 0;
};

struct Kept {
  std::int64_t cycles = 0;
  std::int64_t sum = 0;
  TAKT_FIELDS(Kept, cycles, sum)
};

/// Passes on what it reads, and keeps the sum. Each version stops as loudly as it can.
struct Relay : Component, Scale {
  explicit Relay(int of = 1, std::string name = "relay") : Component(about, std::move(name)), number(of) {}
  Status on_activate(const CycleTime&) noexcept override {
    if (fails) return fail(Errc::bad_value);
    while (!may_activate) std::this_thread::yield();
    out.write(-1, Time{});
    return {};
  }
  Status on_execute(const CycleTime& cycle) noexcept override {
    ++kept->cycles;
    for (int i = 0; i < 8 && in.read() == Freshness::new_data; ++i) {
      kept->sum += in.value();
      out.write(in.value(), cycle.time);
    }
    return {};
  }
  void on_deactivate(const CycleTime&) noexcept override { out.write(-2, Time{}); }
  [[nodiscard]] int version() const noexcept override { return number; }

  InPort<std::int64_t> in{*this, "in"};
  OutPort<std::int64_t> out{*this, "out"};
  Parameter<double> gain{*this, "gain", {.initial = 1, .minimum = 0, .maximum = 10}};
  KeptState<Kept> kept{*this, "kept"};
  ProvidedService<Scale> scale{*this, "scale", *this};
  int number;
  bool fails = false;
  std::atomic<bool> may_activate{true};
};

/// Checks that it reads each number once, in order.
struct Sink : Component {
  explicit Sink(std::string name = "sink") : Component(about, std::move(name)) {}
  Status on_execute(const CycleTime&) noexcept override {
    for (int i = 0; i < 64 && in.read() == Freshness::new_data; ++i) {
      if (in.value() < 0) continue;  // the first activation
      in_order = in_order && in.value() == last + 1;
      last = in.value();
    }
    return {};
  }
  InPort<std::int64_t> in{*this, "in"};
  RequiredService<Scale> scale{*this, "scale"};
  std::int64_t last = 0;
  bool in_order = true;
};

/// A component that lacks what is connected.
struct Stranger : Component {
  Stranger() : Component(about, "relay") {}
};
struct Mistyped : Component {
  Mistyped() : Component(about, "relay") {}
  InPort<double> in{*this, "in"};
  OutPort<std::int64_t> out{*this, "out"};
};
struct Turned : Component {
  Turned() : Component(about, "relay") {}
  OutPort<std::int64_t> in{*this, "in"};
  OutPort<std::int64_t> out{*this, "out"};
};

}  // namespace

TEST_CASE("a replaced component goes on where the old one was, over each kind of connection") {
  auto random = test::generator();
  for (const Buffering before : {Buffering::latest, Buffering::circular, Buffering::fifo}) {
    for (const Buffering behind : {Buffering::latest, Buffering::circular, Buffering::fifo}) {
      CAPTURE(to_string(before));
      CAPTURE(to_string(behind));
      Source source;
      auto relay = std::make_unique<Relay>();
      Sink sink;
      const auto one = connect(source.out, relay->in, {.buffering = before, .capacity = 64});
      const auto two = connect(relay->out, sink.in, {.buffering = behind, .capacity = 64});
      REQUIRE(one);
      REQUIRE(two);
      REQUIRE(connect(relay->scale, sink.scale));
      ExecutionContext context;
      for (Component* component : {static_cast<Component*>(&source), static_cast<Component*>(relay.get()),
                                   static_cast<Component*>(&sink)}) {
        REQUIRE(context.add(*component));
        REQUIRE(context.activate(*component));
      }
      REQUIRE(relay->parameters().set("gain", 3.0, "test"));
      REQUIRE(relay->parameters().define("high", {{"gain", 9.0}}));
      VirtualTime time;
      REQUIRE(time.add(context, 1ms));
      for (int version = 2; version < 30; ++version) {
        time.run_until(time.now() + test::uniform_int(random, 1, 5) * 1ms);
        // Some samples are on their way while the component is replaced. A latest connection would lose them.
        const bool can_wait = before != Buffering::latest && behind != Buffering::latest;
        for (std::int64_t i = can_wait ? test::uniform_int(random, 0, 9) : 0; i > 0; --i)
          source.out.write(++source.count, time.now());
        const std::int64_t cycles = relay->kept->cycles;
        auto fresh = std::make_unique<Relay>(version);
        const auto done = replace(*relay, *fresh, "test");
        REQUIRE_MESSAGE(done, done.error().message);
        CHECK(done->not_taken_over.empty());
        CHECK(relay->context() == nullptr);
        CHECK(relay->state() == ComponentState::inactive);
        CHECK(connections_of(relay->in).empty());
        relay = std::move(fresh);
        CHECK(relay->context() == &context);
        CHECK(relay->state() == ComponentState::active);
        CHECK(relay->kept->cycles == cycles);
        CHECK(*relay->gain == 3.0);
        CHECK(relay->parameters().names() == std::vector<std::string>{"high"});
        CHECK(sink.scale.get()->version() == version);
        CHECK(connections_of(relay->out).size() == 1);
        CHECK(connections_of(relay->out)[0].to == "sink.in");
      }
      time.run_until(time.now() + 20ms);
      CHECK(sink.in_order);
      CHECK(sink.last == source.count);
      CHECK(relay->kept->sum == source.count * (source.count + 1) / 2);
      CHECK(sink.in.missed() == 0);
      CHECK(relay->in.missed() == 0);
      CHECK(relay->in.samples_read() == static_cast<std::uint64_t>(source.count));
    }
  }
}

TEST_CASE("a successor that fails to activate leaves the old component as it was") {
  Source source;
  Relay relay;
  Sink sink;
  const auto one = connect(source.out, relay.in, {.buffering = Buffering::fifo});
  const auto two = connect(relay.out, sink.in, {.buffering = Buffering::fifo});
  ExecutionContext context;
  for (Component* component :
       {static_cast<Component*>(&source), static_cast<Component*>(&relay), static_cast<Component*>(&sink)}) {
    REQUIRE(context.add(*component));
    REQUIRE(context.activate(*component));
  }
  VirtualTime time;
  REQUIRE(time.add(context, 1ms));
  time.run_until(Time(5ms));
  {
    Relay bad(2);
    bad.fails = true;
    const auto done = replace(relay, bad, "test");
    REQUIRE(!done);
    CHECK(done.error().error == Errc::bad_value);
    CHECK(bad.context() == nullptr);
  }
  CHECK(relay.state() == ComponentState::active);
  time.run_until(Time(10ms));
  CHECK(sink.in_order);
  CHECK(sink.last == source.count);
  CHECK(relay.kept->cycles >= 9);
}

TEST_CASE("a replacement that does not fit is refused, and the message says why") {
  Source source;
  Relay relay;
  Sink sink;
  const auto one = connect(source.out, relay.in);
  REQUIRE(connect(relay.scale, sink.scale));
  const auto refused = [&](Component& old, Component& fresh, Errc code, const std::string& reason) {
    const auto done = replace(old, fresh, "test");
    REQUIRE(!done);
    CHECK(done.error().error == code);
    CHECK_MESSAGE(done.error().message.find(reason) != std::string::npos, done.error().message);
  };
  {
    Relay fresh;
    refused(relay, fresh, Errc::not_a_participant, "relay (Test 1.0.0) was not replaced");
  }
  ExecutionContext context;
  REQUIRE(context.add(relay));
  REQUIRE(context.activate(relay));
  refused(relay, relay, Errc::wrong_state, "participates in a context already");
  {
    Stranger stranger;
    refused(relay, stranger, Errc::no_such_service, "relay.scale is connected");
    REQUIRE(disconnect(sink.scale));
    Stranger other;
    refused(relay, other, Errc::no_such_port, "relay.in is connected");
    Mistyped mistyped;
    refused(relay, mistyped, Errc::wrong_type, "\"value i64\", and the new one reads \"value f64\"");
    Turned turned;
    refused(relay, turned, Errc::wrong_type, "and the new one writes");
  }
  struct Narrow final : Relay {
    Parameter<double> extra{*this, "extra", {.initial = 0, .minimum = 0, .maximum = 1}};
  };
  struct Plain final : Component {
    Plain() : Component(about, "relay") {}
    InPort<std::int64_t> in{*this, "in"};
    Parameter<double> gain{*this, "gain", {.initial = 0, .minimum = 0, .maximum = 2}};
    KeptState<std::int64_t> kept{*this, "kept"};
  };
  REQUIRE(relay.parameters().set("gain", 5.0, "test"));
  {
    Plain plain;
    refused(relay, plain, Errc::bad_value, "relay.gain: 5 is not in");
  }
  CHECK(relay.state() == ComponentState::active);
  REQUIRE(relay.parameters().set("gain", 1.0, "test"));
  Plain plain;
  const auto done = replace(relay, plain, "test");
  REQUIRE_MESSAGE(done, done.error().message);
  REQUIRE(done->not_taken_over.size() == 1);
  CHECK(done->not_taken_over[0] == "state \"kept\": it was \"cycles i64, sum i64\" and is \"value i64\"");
  Narrow narrow;
  const auto back = replace(plain, narrow, "test");
  REQUIRE_MESSAGE(back, back.error().message);
  CHECK(narrow.state() == ComponentState::active);
  REQUIRE(context.deactivate(narrow));
  REQUIRE(context.remove(narrow));

  Composite composite("inner");
  REQUIRE(context.add(composite));
  Stranger stranger;
  refused(composite, stranger, Errc::wrong_state, "it contains components");
}

TEST_CASE("a replacement waits for deferred calls of the old component's services") {
  Relay relay;
  Sink sink;
  REQUIRE(connect(relay.scale, sink.scale));
  ExecutionContext context;
  REQUIRE(context.add(relay));
  std::atomic<bool> is_called{false}, is_over{false};
  std::thread caller([&] {
    CHECK(sink.scale.call([&](Scale& scale) noexcept -> Status {
      is_called = true;
      std::this_thread::sleep_for(20ms);
      is_over = scale.version() == 1;
      return {};
    }));
  });
  while (!is_called) std::this_thread::yield();
  Relay fresh(2);
  const auto done = replace(relay, fresh, "test", patience);
  CHECK_MESSAGE(done, (done ? std::string() : done.error().message));
  CHECK(is_over);
  CHECK(relay.scale.wait_for_calls(Duration(0)));
  caller.join();
  CHECK(sink.scale.get()->version() == 2);
}

TEST_CASE("a successor that is slow to activate takes over after the caller has given up") {
  Source source;
  Relay relay;
  Relay fresh(2);
  fresh.may_activate = false;
  Sink sink;
  ExecutionContext context;
  platform::SteadyClock clock;
  const auto one = connect(source.out, relay.in, {.buffering = Buffering::fifo, .capacity = 64});
  const auto two = connect(relay.out, sink.in, {.buffering = Buffering::fifo, .capacity = 64});
  REQUIRE(one);
  REQUIRE(two);
  for (Component* component :
       {static_cast<Component*>(&source), static_cast<Component*>(&relay), static_cast<Component*>(&sink)}) {
    REQUIRE(context.add(*component));
    REQUIRE(context.activate(*component));
  }
  ContextThread thread(context, {}, [&] { return run_periodically(context, clock, {.period = 200us}); });
  while (context.cycles() < 10) std::this_thread::yield();
  const auto done = replace(relay, fresh, "test", 20ms);
  REQUIRE_FALSE(done);
  CHECK(done.error().error == Errc::stuck);
  fresh.may_activate = true;
  while (fresh.state() != ComponentState::active) std::this_thread::yield();
  const std::uint64_t cycles = context.cycles();
  while (context.cycles() < cycles + 10) std::this_thread::yield();
  REQUIRE(thread.stop());
  CHECK(relay.state() == ComponentState::inactive);
  CHECK(fresh.kept->cycles > relay.kept->cycles);
  CHECK(sink.in_order);
  CHECK(sink.last + 1 >= source.count);  // the sample of the last cycle may be under way
}

TEST_CASE("a failed component is replaced by an inactive one") {
  Relay relay;
  ExecutionContext context;
  REQUIRE(context.add(relay));
  relay.fails = true;
  CHECK(!context.activate(relay));
  REQUIRE(relay.state() == ComponentState::error);
  Relay fresh(2);
  REQUIRE(replace(relay, fresh, "test"));
  CHECK(fresh.state() == ComponentState::inactive);
  CHECK(context.activate(fresh));
}

TEST_CASE("a component is replaced again and again while its neighbours run in other threads") {
  Source source;
  auto relay = std::make_unique<Relay>();
  Sink sink;
  ExecutionContext first({.name = "first"}), middle({.name = "middle"}), last({.name = "last"});
  const auto one = connect(source.out, relay->in, {.buffering = Buffering::fifo, .capacity = 8192});
  const auto two =
      connect(relay->out, sink.in, {.buffering = Buffering::fifo, .capacity = 8192, .wakes = true});
  REQUIRE(first.add(source));
  REQUIRE(middle.add(*relay));
  REQUIRE(last.add(sink));
  REQUIRE(first.activate(source));
  REQUIRE(middle.activate(*relay));
  REQUIRE(last.activate(sink));
  platform::SteadyClock clock;
  auto waiter = platform::EventWaiter::create();
  REQUIRE(waiter);
  TickCounter ticks;
  ContextThread one_thread(first, {}, [&] { return run_periodically(first, clock, {.period = 200us}); });
  ContextThread two_thread(middle, {}, [&] { return run_periodically(middle, clock, {.period = 100us}); });
  ContextThread three_thread(last, {}, [&] { return run_on_events(last, clock, *waiter, ticks); });
  while (last.cycles() < 10) std::this_thread::yield();
  for (int version = 2; version < 500; ++version) {
    auto fresh = std::make_unique<Relay>(version);
    const auto done = replace(*relay, *fresh, "test", patience);
    REQUIRE_MESSAGE(done, done.error().message);
    relay = std::move(fresh);
  }
  // The reader that is woken is replaced, too. Its successor is woken.
  Sink second;
  REQUIRE(replace(sink, second, "test", patience));
  const std::uint64_t read = second.in.samples_read();
  while (second.in.samples_read() < read + 10) std::this_thread::yield();
  CHECK(one_thread.stop());
  CHECK(two_thread.stop());
  CHECK(three_thread.stop());
  CHECK(sink.in_order);
  CHECK(relay->in.missed() == 0);
  CHECK(second.in.missed() == 0);
}

TEST_CASE("nothing allocates or locks in the cycle while components come, go, move and are replaced") {
  auto random = test::generator();
  ExecutionContext fast({.name = "fast"}), slow({.name = "slow"});
  Source source;
  REQUIRE(fast.add(source));
  REQUIRE(fast.activate(source));
  std::atomic<bool> ends{false};
  std::array<std::string, 2> reports;
  const auto run = [&](ExecutionContext& context, std::string& report) {
    test::RtGuard guard({.allow = {SYS_clock_nanosleep}});
    static_cast<void>(context.start(Time{}));
    for (std::int64_t i = 0; !ends; ++i) {
      context.run_cycle(Time(i * 20us), 20us);
      const timespec pause{0, 20'000};
      clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, nullptr);
    }
    context.stop(Time{});
    report = guard.report();
  };
  std::thread one([&] { run(fast, reports[0]); });
  std::thread two([&] { run(slow, reports[1]); });
  while (fast.cycles() == 0 || slow.cycles() == 0) std::this_thread::yield();

  std::array<std::unique_ptr<Relay>, 4> relays;
  std::array<std::vector<Connection>, 4> wires;
  const auto name_of = [](std::size_t i) { return "relay" + std::to_string(i); };
  for (int step = 0; step < 10'000; ++step) {
    const auto i = static_cast<std::size_t>(test::uniform_int(random, 0, 3));
    std::unique_ptr<Relay>& relay = relays[i];
    if (!relay) {
      relay = std::make_unique<Relay>(1, name_of(i));
      REQUIRE((test::uniform_int(random, 0, 1) == 0 ? fast : slow).add(*relay, {}, patience));
      continue;
    }
    ExecutionContext& here = *relay->context();
    switch (test::uniform_int(random, 0, 6)) {
      case 0:
        if (relay->state() == ComponentState::active) REQUIRE(here.deactivate(*relay, patience));
        break;
      case 1:
        if (relay->state() == ComponentState::inactive) REQUIRE(here.activate(*relay, patience));
        break;
      case 2: {
        const auto buffering = static_cast<Buffering>(test::uniform_int(random, 0, 2));
        if (wires[i].size() > 3) {
          REQUIRE(wires[i].back().cut(patience));
          wires[i].pop_back();
        }
        auto wire = connect(source.out, relay->in, {.buffering = buffering, .capacity = 16}, patience);
        REQUIRE(wire);
        wires[i].push_back(std::move(*wire));
        break;
      }
      case 3: {
        Switch request;
        request.migrate = {{relay.get(), &here == &fast ? &slow : &fast, {}}};
        REQUIRE(here.apply(request, patience).status);
        break;
      }
      case 4: {
        auto fresh = std::make_unique<Relay>(step, name_of(i));
        const auto done = replace(*relay, *fresh, "test", patience);
        REQUIRE_MESSAGE(done, done.error().message);
        relay = std::move(fresh);
        break;
      }
      case 5:
        REQUIRE(relay->parameters().set("gain", static_cast<double>(test::uniform_int(random, 0, 10)), "test",
                                        patience));
        break;
      default:
        if (relay->state() == ComponentState::active) REQUIRE(here.deactivate(*relay, patience));
        REQUIRE(here.remove(*relay, patience));
        relay.reset();
        wires[i].clear();
    }
  }
  ends = true;
  one.join();
  two.join();
  CHECK(reports[0] == "");
  CHECK(reports[1] == "");
}
