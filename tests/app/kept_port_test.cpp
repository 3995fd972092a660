// The hand-over of buses between the real-time side and the keeper, as fast as possible: mainly for the
// thread sanitizer.
#include "app/kept_port.hpp"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <thread>

#include "support/eventually.hpp"

using namespace takt;
using namespace takt::app;
using takt::test::eventually;
using namespace std::chrono_literals;

namespace {

/// Breaks after some calls. Its members are plain, so that an unordered hand-over would be a race.
class BrittleBus {
 public:
  BrittleBus(int calls, std::atomic<int>& alive) : calls_left_(calls), alive_(&alive) { ++*alive_; }
  BrittleBus(const BrittleBus&) = delete;
  BrittleBus& operator=(const BrittleBus&) = delete;
  ~BrittleBus() {
    calls_left_ = 0;
    --*alive_;
  }

  std::size_t send(std::span<const can::Frame> frames) noexcept {
    return --calls_left_ > 0 ? frames.size() : 0;
  }
  std::size_t receive(std::span<can::Frame> frames) noexcept {
    if (--calls_left_ <= 0) return 0;
    frames[0] = can::Frame{};
    return 1;
  }
  [[nodiscard]] bool broken() const noexcept { return calls_left_ <= 0; }
  [[nodiscard]] bool off() const noexcept { return calls_left_ == 5; }
  [[nodiscard]] static std::uint64_t unacknowledged() noexcept { return 0; }

 private:
  int calls_left_;
  std::atomic<int>* alive_;
};

}  // namespace

TEST_CASE("buses that break change hands hundreds of times, one at a time, and none is lost") {
  std::atomic<int> alive = 0;
  std::atomic<int> opened = 1;
  {
    const auto open = [&]() -> SetupResult<std::unique_ptr<BrittleBus>> {
      CHECK(alive == 0);  // the broken one is gone before
      if (++opened % 3 == 0) return fail(platform::Errc::can_interface_down, "not yet");
      return std::make_unique<BrittleBus>(1 + opened % 7, alive);
    };
    const auto port = KeptPort<BrittleBus>::create(std::make_unique<BrittleBus>(3, alive), open, {}, 100us);
    REQUIRE(port.has_value());
    std::array<can::Frame, 4> frames;
    std::uint64_t counted = 0;
    std::size_t downs = 0;
    for (const Time end = Time(std::chrono::steady_clock::now().time_since_epoch()) + 30s;
         opened < 600 && Time(std::chrono::steady_clock::now().time_since_epoch()) < end;) {
      counted += (*port)->send(std::array{can::Frame{}});
      counted += (*port)->receive(frames);
      if ((*port)->link() == robot::BusLink::down) ++downs;
      std::this_thread::yield();
    }
    CHECK(opened >= 600);
    CHECK(downs > 0);
    CHECK((*port)->traffic().frames == counted);
    CHECK(alive <= 1);
  }
  CHECK(alive == 0);
}

TEST_CASE("a controller that is off the bus is distinguished from a link that is down, open or not") {
  std::atomic<int> alive = 0;
  std::atomic<bool> asked = false;
  const auto open = [&]() -> SetupResult<std::unique_ptr<BrittleBus>> {
    asked = true;
    return fail(platform::Errc::can_bus_off, "off");
  };
  const auto port = KeptPort<BrittleBus>::create(std::make_unique<BrittleBus>(6, alive), open, {}, 1ms);
  REQUIRE(port.has_value());
  std::array<can::Frame, 4> frames;
  CHECK((*port)->link() == robot::BusLink::up);
  (*port)->receive(frames);
  CHECK((*port)->link() == robot::BusLink::off);
  for (int i = 0; i < 5; ++i) (*port)->receive(frames);
  CHECK(eventually([&] { return (*port)->link() == robot::BusLink::off; }));
  CHECK(asked);
  CHECK((*port)->link() == robot::BusLink::off);
  CHECK((*port)->send(std::array{can::Frame{}}) == 0);
}
