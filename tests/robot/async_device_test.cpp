// A device that another context speaks with: what the cycle sees of it, how it fails, and how it comes back.
#include "takt/robot/async_device.hpp"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <thread>

#include "robot/managed.hpp"

using namespace takt;
using namespace takt::robot;
using namespace std::chrono_literals;
using test::Managed;
using test::Probe;

namespace {

/// Eight equal numbers, so that a mixture would be seen, and a lamp.
struct Numbers {
  std::array<double, 8> all{};
  TAKT_FIELDS(Numbers, all)
};
struct Lamp {
  double brightness = 0;
};

struct Board final : AsyncDevice<Numbers, Lamp> {
  static constexpr component::ComponentMetadata about{.type = "Board",
                                                      .version = "1.0.0",
                                                      .vendor = "test",
                                                      .category = "device",
                                                      .description = "Answers from another thread."};
  explicit Board(Duration oldest) : AsyncDevice(about, "board", oldest) {}
  SetupResult<void> on_declare(Declarations& declarations) override {
    if (auto done = declarations.sensor(name(), reading()); !done) return done;
    return declarations.command("board/lamp", "", output().brightness, driven, SafeValue::zero);
  }
  Status exchange(const Lamp& lamp, Numbers& numbers) noexcept override {
    ++exchanges;
    lit = lamp.brightness;
    if (lamp.brightness == 0) ++dark;
    if (breaks.load()) return takt::fail(Errc::no_such_device);
    numbers.all.fill(++count);
    return {};
  }
  bool driven = false;
  // In the worker's thread, but for the first.
  std::atomic<bool> breaks{false};
  double count = 0, lit = 0;
  int exchanges = 0, dark = 0;
};

struct Rig {
  explicit Rig(Duration oldest, Duration retry = {}) : board(oldest) {
    managed.now = Time(1000s);  // a clock that runs since long before the device
    REQUIRE(managed.manager.add(board, {.retry = retry}).has_value());
    REQUIRE(beside.add(board.worker()).has_value());
    REQUIRE(beside.activate(board.worker()).has_value());
    REQUIRE(managed.manager
                .load(std::make_shared<Probe>("user",
                                              [](Probe& probe, Resources& resources) -> SetupResult<void> {
                                                auto lamp = resources.claim("board/lamp");
                                                if (!lamp) return tl::unexpected<SetupError>(lamp.error());
                                                probe.command = *lamp;
                                                probe.act = [](Probe& it) { it.command.set(0.5); };
                                                return {};
                                              }))
                .has_value());
    for (int i = 0; i < 10; ++i) {
      managed.cycle();
      work();
    }
    managed.make_ready();
    work();
    REQUIRE(managed.start("user").has_value());
  }
  /// The worker has a clock of its own.
  void work() { beside.run_cycle(worker_time += managed.robot.period, managed.robot.period); }

  Board board;
  component::ExecutionContext beside;
  Time worker_time{};
  Managed managed;
};

}  // namespace

TEST_CASE("the cycle sees the last reading of the worker, and the worker the last commands") {
  Rig rig(100ms);
  rig.managed.cycle();
  const double before = rig.board.reading().all[0];
  rig.work();
  rig.work();
  CHECK(rig.board.lit == 0.5);
  CHECK(rig.board.reading().all[7] == before);
  rig.managed.cycle();
  CHECK(rig.board.reading().all[7] == before + 2);
  REQUIRE(rig.managed.stop("user").has_value());
  rig.managed.cycle();
  rig.work();
  CHECK(rig.board.lit == 0);
}

TEST_CASE("an error of the worker stops those that use the device, and sends what is safe") {
  Rig rig(100ms, 20ms);
  rig.managed.cycle();
  rig.work();
  rig.managed.cycle();
  const double before = rig.board.reading().all[0];
  rig.board.breaks = true;
  rig.work();
  rig.board.breaks = false;
  rig.work();  // a good answer now would hide the error
  CHECK(rig.board.lit == 0.5);
  rig.managed.cycle();
  CHECK(rig.board.state() == component::ComponentState::error);
  CHECK(rig.board.error() == Errc::no_such_device);
  CHECK(rig.managed.state_of("user") != ControllerState::active);
  CHECK(rig.board.reading().all[0] == before);
  rig.work();
  CHECK(rig.board.lit == 0);
  const int exchanges = rig.board.exchanges;
  rig.work();
  CHECK(rig.board.exchanges == exchanges);

  // It fails again as long as it does not answer, and comes back then.
  const auto run = [&](int cycles) {
    for (int i = 0; i < cycles; ++i) {
      rig.managed.cycle();
      rig.work();
    }
  };
  rig.board.breaks = true;
  run(100);
  CHECK(rig.board.exchanges >= exchanges + 4);
  CHECK(rig.board.reading().all[0] == 0);  // an old reading is none of a new activation
  rig.board.breaks = false;
  run(50);
  CHECK(rig.board.state() == component::ComponentState::active);
  CHECK(rig.board.reading().all[0] > before);
}

TEST_CASE("a worker that hangs makes the device fail, again after each retry") {
  Rig rig(10ms, 20ms);
  rig.managed.cycle();
  rig.work();
  rig.managed.cycles(11);
  CHECK(rig.board.state() == component::ComponentState::active);
  rig.managed.cycle();
  CHECK(rig.board.state() == component::ComponentState::error);
  CHECK(rig.board.error() == Errc::result_late);
  rig.managed.cycles(32);  // active once more, and late again
  CHECK(rig.board.state() == component::ComponentState::error);
  CHECK(rig.board.lit == 0.5);
  rig.work();
  CHECK(rig.board.lit == 0);
}

TEST_CASE("a worker that hung through a failure sends what is safe before the new outputs") {
  Rig rig(10ms, 20ms);
  rig.managed.cycle();
  rig.work();
  CHECK(rig.board.lit == 0.5);
  rig.managed.cycles(12 + 25);  // failed, and active again
  CHECK(rig.board.state() == component::ComponentState::active);
  const int dark = rig.board.dark;
  rig.work();
  CHECK(rig.board.dark == dark + 2);  // Output{}, and then the output of nobody
}

TEST_CASE("outputs end with the cycle, with the worker, and when the cycle gives none any more") {
  const auto lit = [](Rig& rig) {
    rig.managed.cycle();
    rig.work();
    CHECK(rig.board.lit == 0.5);
  };
  {
    Rig rig(10ms);
    lit(rig);
    rig.managed.manager.stop(rig.managed.now);
    rig.managed.runs = false;
    rig.work();
    CHECK(rig.board.lit == 0);
    // And begins again, an hour later.
    rig.managed.now += 1h;
    rig.managed.cycle();
    CHECK(rig.board.state() == component::ComponentState::active);
  }
  {
    Rig rig(10ms);
    lit(rig);
    REQUIRE(rig.beside.deactivate(rig.board.worker()).has_value());
    CHECK(rig.board.lit == 0);
  }
  {
    Rig rig(10ms);
    lit(rig);
    for (int i = 0; i < 10; ++i) rig.work();
    CHECK(rig.board.lit == 0.5);
    rig.work();  // the cycle hangs
    CHECK(rig.board.lit == 0);
    const int exchanges = rig.board.exchanges;
    rig.work();
    CHECK(rig.board.exchanges == exchanges);
    rig.managed.cycle();
    rig.work();
    CHECK(rig.board.lit == 0.5);
  }
}

TEST_CASE("two threads exchange whole readings and commands") {
  Rig rig(1000s);
  const double first = rig.board.reading().all[0];
  std::atomic<bool> ends{false};
  std::thread worker([&] {
    while (!ends.load()) rig.work();
  });
  double before = 0;
  bool is_whole = true, rises = true;
  for (int i = 0; i < 5000 || (before <= first && i < 100'000'000); ++i) {
    rig.managed.cycle();
    const Numbers& seen = rig.board.reading();
    for (const double number : seen.all) is_whole = is_whole && number == seen.all[0];
    rises = rises && seen.all[0] >= before;
    before = seen.all[0];
  }
  ends = true;
  worker.join();
  CHECK(is_whole);
  CHECK(rises);
  CHECK(before > first);
}
