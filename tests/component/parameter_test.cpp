#include "takt/component/parameter.hpp"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/random.hpp"
#include "takt/component/context_thread.hpp"
#include "takt/component/drivers.hpp"
#include "takt/platform/steady_clock.hpp"

using namespace takt;
using namespace takt::component;
using namespace std::chrono_literals;

namespace {

constexpr ComponentMetadata about{
    .type = "Test", .version = "1.0.0", .vendor = "takt", .category = "test", .description = "A test."};

enum class Mode : std::uint8_t { off, slow, fast };

struct Follower : Component {
  Follower() : Component(about, "follower") {}

  SetupResult<void> on_check() override {
    if (low.proposed() >= high.proposed()) return takt::fail(Errc::bad_value, "low must be below high");
    if (*frame.proposed().view().data() == '!') throw std::runtime_error("no such frame");
    return {};
  }
  Status on_execute(const CycleTime& /*cycle*/) noexcept override {
    if (*low >= *high) torn = true;
    return {};
  }
  void on_parameters() noexcept override { ++notices; }

  Parameter<double> low{*this, "low", {.initial = 0, .minimum = -10, .maximum = 1e9, .unit = "m"}};
  Parameter<double> high{*this, "high", {.initial = 1, .unit = "m", .description = "Of the range."}};
  Parameter<double> fraction{*this, "fraction", {.initial = 0.5, .minimum = 0, .maximum = 1, .step = 0.1}};
  Parameter<std::int64_t> window{*this, "window", {.initial = 4, .minimum = 2, .maximum = 64, .step = 2}};
  Parameter<bool> enabled{*this, "enabled", {.initial = true}};
  Parameter<Mode> mode{*this, "mode", {.initial = Mode::slow, .choices = {"off", "slow", "fast"}}};
  Parameter<FixedText<8>> frame{*this, "frame", {.initial = "base"}};
  Parameter<std::array<double, 3>> weights{*this, "weights", {.initial = {1, 2, 3}, .minimum = 0}};
  std::atomic<bool> torn{false};
  int notices = 0;
};

}  // namespace

TEST_CASE("parameters begin with their initial values and describe themselves") {
  Follower follower;
  REQUIRE(follower.initialize());
  CHECK(*follower.high == 1);
  CHECK(*follower.mode == Mode::slow);
  CHECK(follower.frame->view() == "base");
  const auto all = follower.parameters().all();
  REQUIRE(all.size() == 8);
  CHECK(all[2]->info().type == "number");
  CHECK(all[2]->info().step == 0.1);
  CHECK(all[3]->info().type == "integer");
  CHECK(all[5]->info().choices == std::vector<std::string>{"off", "slow", "fast"});
  CHECK(all[6]->info().type == "text[8]");
  CHECK(all[7]->info().type == "number[3]");
  CHECK(to_string(all[7]->current()) == "[1, 2, 3]");
}

TEST_CASE("a change of several parameters is applied whole") {
  Follower follower;
  const std::vector<Assignment> change = {{"low", 5.0},
                                          {"high", std::int64_t(8)},  // an integer is a number
                                          {"window", std::int64_t(10)},
                                          {"fraction", 0.3},
                                          {"mode", std::string("fast")},
                                          {"frame", std::string("tool")},
                                          {"enabled", false},
                                          {"weights", std::vector<double>{0, 0.5, 1}}};
  REQUIRE(follower.parameters().set(change, "test"));
  CHECK(*follower.low == 5);
  CHECK(*follower.high == 8);
  CHECK(*follower.window == 10);
  CHECK(*follower.mode == Mode::fast);
  CHECK(follower.frame->view() == "tool");
  CHECK_FALSE(*follower.enabled);
  CHECK((*follower.weights)[1] == 0.5);
  CHECK(follower.notices == 1);
  const auto changes = follower.parameters().changes();
  REQUIRE(changes.size() == 8);
  CHECK(changes[1].who == "test");
  CHECK(changes[1].parameter == "high");
  CHECK(to_string(changes[1].before) == "1");
  CHECK(to_string(changes[1].after) == "8");
}

TEST_CASE("a text takes a number as its text") {
  Follower follower;
  REQUIRE(follower.parameters().set("frame", std::int64_t{5}, "test"));
  CHECK(follower.frame->view() == "5");
  REQUIRE(follower.parameters().set("frame", 0.25, "test"));
  CHECK(follower.frame->view() == "0.25");
  CHECK_FALSE(follower.parameters().set("frame", std::int64_t{1234567890}, "test"));
  CHECK_FALSE(follower.parameters().set("frame", true, "test"));
}

TEST_CASE("a change with mistakes has no effect, and all mistakes are listed") {
  Follower follower;
  const auto refused =
      follower.parameters().set(std::vector<Assignment>{{"low", -11.0},
                                                        {"high", 8.0},
                                                        {"window", std::int64_t(5)},
                                                        {"fraction", 0.25},
                                                        {"mode", std::string("warp")},
                                                        {"frame", std::string("much too long")},
                                                        {"enabled", std::int64_t(1)},
                                                        {"weights", std::vector<double>{1, 2}},
                                                        {"speed", 1.0},
                                                        {"high", 9.0}},
                                "test");
  REQUIRE_FALSE(refused);
  const std::string& text = refused.error().message;
  for (const char* part :
       {"follower.low: -11 is not in [-10, ", "window: 5 is not a multiple of 2 from 2",
        "fraction: 0.25 is not a multiple of 0.1", "mode: must be one of \"off\", \"slow\", \"fast\"",
        "frame: must be a text of at most 8 characters", "enabled: must be true or false",
        "weights: must be an array of 3 numbers", "speed: there is no such parameter; there are: low, high",
        "high: assigned twice"}) {
    CAPTURE(part);
    CAPTURE(text);
    CHECK(text.find(part) != std::string::npos);
  }
  CHECK(*follower.high == 1);
  CHECK(follower.notices == 0);
  CHECK(follower.parameters().changes().empty());
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
    CHECK_FALSE(follower.parameters().set("high", bad, "test"));
}

TEST_CASE("the component's own check refuses a change, also by an exception") {
  Follower follower;
  const auto refused = follower.parameters().set("low", 2.0, "test");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message == "low must be below high");
  CHECK(*follower.low == 0);
  CHECK(follower.low.proposed() == 0);
  const auto threw = follower.parameters().set("frame", std::string("!"), "test");
  REQUIRE_FALSE(threw);
  CHECK(threw.error().error == Errc::threw);
}

TEST_CASE("named sets are checked when they are defined and applied by their name") {
  Follower follower;
  CHECK_FALSE(follower.parameters().define("bad", {{"window", std::int64_t(3)}}));
  CHECK_FALSE(follower.parameters().define("no name", {}));
  REQUIRE(follower.parameters().define("careful", {{"high", 0.5}, {"mode", std::string("slow")}}));
  CHECK(*follower.high == 1);
  CHECK(follower.parameters().names() == std::vector<std::string>{"careful"});
  REQUIRE(follower.parameters().apply("careful", "operator"));
  CHECK(*follower.high == 0.5);
  const auto none = follower.parameters().apply("fast", "operator");
  REQUIRE_FALSE(none);
  CHECK(none.error().error == Errc::no_such_set);
}

TEST_CASE("an initial value that breaks the rules is found when the component is initialized") {
  struct Wrong : Component {
    Wrong() : Component(about, "wrong") {}
    Parameter<double> gain{*this, "gain", {.initial = 9, .maximum = 5}};
  } wrong;
  const auto refused = wrong.initialize();
  REQUIRE_FALSE(refused);
  CHECK(refused.error().error == Errc::bad_value);
  CHECK(refused.error().message.find("wrong.gain: 9 is not in") != std::string::npos);
}

TEST_CASE("a running cycle never sees half of a change") {
  Follower follower;
  ExecutionContext context;
  REQUIRE(context.add(follower));
  REQUIRE(context.activate(follower));
  platform::SteadyClock clock;
  ContextThread thread(context, {}, [&] { return run_periodically(context, clock, {.period = 20us}); });
  while (context.cycles() < 3) std::this_thread::yield();
  auto random = test::generator();
  for (int i = 0; i < 1000; ++i) {
    const double low = 1000 * static_cast<double>(test::uniform_int(random, 0, 999));
    REQUIRE(follower.parameters().set(std::vector<Assignment>{{"low", low}, {"high", low + 1}}, "test", 60s));
  }
  REQUIRE(thread.stop());
  CHECK_FALSE(follower.torn);
  CHECK(follower.notices == 1000);
  CHECK(follower.parameters().changes().size() == kept_changes);
}
