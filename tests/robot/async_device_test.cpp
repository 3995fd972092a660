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
    if (breaks.load()) return takt::fail(Errc::no_such_device);
    numbers.all.fill(++count);
    return {};
  }
  void let_go() noexcept override {
    ++let_gos;
    lit = 0;
  }
  bool driven = false;
  // In the worker's thread, but for the first.
  std::atomic<bool> breaks{false};
  double count = 0, lit = 0;
  int exchanges = 0, let_gos = 0;
};

struct Rig {
  explicit Rig(Duration oldest, Duration retry = {}) : board(oldest) {
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
  void work() { beside.run_cycle(managed.now, managed.robot.period); }

  Board board;
  component::ExecutionContext beside;
  Managed managed;
};

}  // namespace

TEST_CASE("the cycle sees the last reading of the worker, and the worker the last commands") {
  Rig rig(0ms);
  rig.managed.cycle();
  const double before = rig.board.reading().all[0];
  rig.work();
  rig.work();
  CHECK(rig.board.lit == 0.5);
  CHECK(rig.board.reading().all[7] == before);
  rig.managed.cycle();
  CHECK(rig.board.reading().all[7] == before + 2);
  rig.managed.cycles(1000);  // without a bound, a reading never is too old
  CHECK(rig.board.state() == component::ComponentState::active);
  REQUIRE(rig.managed.stop("user").has_value());
  rig.managed.cycle();
  rig.work();
  CHECK(rig.board.lit == 0);
}

TEST_CASE("an error of the worker stops those that use the device, and lets the device go") {
  Rig rig(0ms, 20ms);
  rig.managed.cycle();
  rig.work();
  rig.managed.cycle();
  const double before = rig.board.reading().all[0];
  rig.board.breaks = true;
  rig.work();
  CHECK(rig.board.lit == 0.5);
  rig.managed.cycle();
  CHECK(rig.board.state() == component::ComponentState::error);
  CHECK(rig.board.error() == Errc::no_such_device);
  CHECK(rig.managed.state_of("user") != ControllerState::active);
  CHECK(rig.board.reading().all[0] == before);
  rig.work();
  CHECK(rig.board.lit == 0);
  CHECK(rig.board.let_gos == 1);
  const int exchanges = rig.board.exchanges;
  rig.work();
  CHECK(rig.board.exchanges == exchanges);
  CHECK(rig.board.let_gos == 1);

  // It fails again as long as it does not answer, and comes back then.
  const auto run = [&](int cycles) {
    for (int i = 0; i < cycles; ++i) {
      rig.managed.cycle();
      rig.work();
    }
  };
  run(100);
  CHECK(rig.board.exchanges >= exchanges + 4);
  CHECK(rig.board.let_gos >= 4);
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
  const double seen = rig.board.reading().all[0];
  rig.managed.cycles(32);  // active once more, and late again
  CHECK(rig.board.reading().all[0] == seen);
  CHECK(rig.board.state() == component::ComponentState::error);
  rig.work();
  CHECK(rig.board.let_gos == 1);
}

TEST_CASE("two threads exchange whole readings and commands") {
  Rig rig(0ms);
  std::atomic<bool> ends{false};
  std::thread worker([&] {
    while (!ends.load()) rig.work();
  });
  double before = 0;
  bool is_whole = true, rises = true;
  for (int i = 0; i < 5000; ++i) {
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
}
