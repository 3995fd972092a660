#include "takt/component/service.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <thread>

#include "takt/component/context_thread.hpp"
#include "takt/component/drivers.hpp"
#include "takt/platform/steady_clock.hpp"

using namespace takt;
using namespace takt::component;
using namespace std::chrono_literals;

namespace {

constexpr ComponentMetadata about{
    .type = "Test", .version = "1.0.0", .vendor = "takt", .category = "test", .description = "A test."};

struct Gripper {
  static constexpr std::string_view service_name = "Gripper/1";
  virtual ~Gripper() = default;
  virtual Status close(double force) noexcept = 0;
};
/// The same idea as a table of C functions.
struct GripperTable {
  static constexpr std::string_view service_name = "GripperTable/1";
  int (*close)(void* context, double force);
  void* context;
};

struct Hand final : Component, Gripper {
  Hand() : Component(about, "hand") {}
  Status close(double force) noexcept override {
    if (force < 0) return fail(Errc::bad_value);
    closed_in = std::this_thread::get_id();
    ++closed;
    return {};
  }
  Status on_execute(const CycleTime& /*cycle*/) noexcept override {
    own_thread = std::this_thread::get_id();
    return {};
  }
  ProvidedService<Gripper> gripper{*this, "gripper", *this};
  std::thread::id closed_in, own_thread;
  int closed = 0;
};

struct Client final : Component {
  Client() : Component(about, "client") {}
  RequiredService<Gripper> gripper{*this, "gripper"};
};

}  // namespace

TEST_CASE("a required service is called directly, in the caller's thread") {
  Hand hand;
  Client client;
  CHECK(client.gripper.get() == nullptr);
  REQUIRE(connect(hand.gripper, client.gripper));
  REQUIRE(client.gripper.get() != nullptr);
  CHECK(client.gripper.get()->close(3));
  CHECK(hand.closed == 1);
  CHECK(client.gripper.provider() == &hand.gripper);
  REQUIRE(disconnect(client.gripper));
  CHECK(client.gripper.get() == nullptr);
}

TEST_CASE("a deferred call runs in the thread of the provider's context and brings its status back") {
  Hand hand;
  Client client;
  REQUIRE(connect(hand.gripper, client.gripper));
  ExecutionContext context;
  REQUIRE(context.add(hand));
  REQUIRE(context.activate(hand));
  platform::SteadyClock clock;
  ContextThread thread(context, {}, [&] { return run_periodically(context, clock, {.period = 1ms}); });
  const auto close = [](double force) {
    return [force](Gripper& gripper) noexcept { return gripper.close(force); };
  };
  while (context.cycles() < 3) std::this_thread::yield();
  CHECK(client.gripper.call(close(5), 60s));
  const Status refused = client.gripper.call(close(-1), 60s);
  REQUIRE_FALSE(refused);
  CHECK(refused.error() == Errc::bad_value);
  REQUIRE(thread.stop());
  CHECK(hand.closed == 1);
  CHECK(hand.closed_in == hand.own_thread);
  REQUIRE(disconnect(client.gripper));
  CHECK(client.gripper.call(close(1)).error() == Errc::not_connected);
}

TEST_CASE("services of different interfaces do not connect, and a provider that ends leaves no pointer") {
  struct Other final : Component {
    Other() : Component(about, "other") {}
    RequiredService<GripperTable> gripper{*this, "gripper"};
  } other;
  auto hand = std::make_unique<Hand>();
  const auto refused = connect(hand->gripper, other.gripper);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().error == Errc::wrong_type);
  CHECK(refused.error().message.find("Gripper/1") != std::string::npos);
  CHECK(refused.error().message.find("GripperTable/1") != std::string::npos);
  Client client;
  REQUIRE(connect(hand->gripper, client.gripper));
  hand.reset();
  CHECK(client.gripper.get() == nullptr);
  CHECK(client.gripper.provider() == nullptr);
}
