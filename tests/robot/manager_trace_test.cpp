// The spans that a trace shows of the manager's cycle.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "robot/managed.hpp"
#include "support/rt_guard.hpp"
#include "support/spans.hpp"

using namespace takt;
using test::Managed;
using test::Probe;

namespace {

/// The spans of one cycle with two controllers.
std::vector<rt::TraceSpan> trace_cycle(rt::Tracer& tracer, Managed& managed) {
  managed.manager.set_tracer(&tracer);
  managed.cycle();
  managed.manager.set_tracer(nullptr);
  managed.cycle();
  return test::take_all(tracer);
}

void load_two(Managed& managed) {
  for (const char* name : {"first", "second"}) {
    auto probe = Probe::of(name, {name == std::string("first") ? "a" : "b"});
    probe->act = [](Probe& self) { self.joints[0]->follow({0.01, 0, 0}); };
    REQUIRE(managed.manager.load(probe).has_value());
    REQUIRE(managed.start(name).has_value());
  }
  managed.make_ready();
}

}  // namespace

TEST_CASE("a traced cycle has its steps in order, with devices and controllers in them") {
  Managed managed;
  load_two(managed);
  rt::Tracer tracer;
  tracer.switch_on();
  const auto spans = trace_cycle(tracer, managed);
  CHECK(test::overlap_in(spans) == "");
  const rt::TraceSpan all{0, ~std::uint64_t{0}, {}};
  const std::string device = managed.device.name();
  CHECK(test::names_within(spans, all) ==
        std::vector<std::string>{"read", device, "judge", "switch", "control", "first", "second", "protect",
                                 "limit", "write", device, "publish", "first", "second"});
  const auto inside = [&](const char* step) {
    return test::names_within(spans, test::named(spans, step).at(0));
  };
  CHECK(inside("read") == std::vector<std::string>{device});
  CHECK(inside("control") == std::vector<std::string>{"first", "second"});
  CHECK(inside("write") == std::vector<std::string>{device});
  CHECK(inside("limit").empty());
}

TEST_CASE("a controller that only follows its rate, or is stopped, leaves no span") {
  Managed managed;
  auto probe = Probe::of("slow", {"a"});
  robot::ControllerConfig config;
  config.divisor = 4;
  REQUIRE(managed.manager.load(probe, config).has_value());
  REQUIRE(managed.start("slow").has_value());
  managed.make_ready();
  rt::Tracer tracer;
  tracer.switch_on();
  managed.manager.set_tracer(&tracer);
  managed.cycles(12);
  CHECK(test::named(test::take_all(tracer), "slow").size() == 2 * 3);  // execute, state update
  REQUIRE(managed.stop("slow").has_value());
  managed.cycles(12);
  CHECK(test::named(test::take_all(tracer), "slow").empty());
}

TEST_CASE("a traced cycle is real-time safe") {
  Managed managed;
  load_two(managed);
  rt::Tracer tracer;
  tracer.switch_on();
  managed.manager.set_tracer(&tracer);
  test::RtGuard guard;
  managed.cycles(100);
  CHECK(guard.report() == "");
}
