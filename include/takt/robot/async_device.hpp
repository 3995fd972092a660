// A device that is slower than the cycle, or that waits: a sensor on a serial line, a board behind a network.
// The cycle only copies. A second component, worker(), speaks with the device in a context of its own, at its
// own rate and priority (component/drivers.hpp).
//
//     struct Lidar final : takt::robot::AsyncDevice<Scan> {
//       explicit Lidar(Port port) : AsyncDevice(about, "lidar", 100ms), port_(std::move(port)) {}
//       takt::SetupResult<void> on_declare(takt::robot::Declarations& declarations) override {
//         return declarations.sensor(name(), reading());
//       }
//       takt::Status exchange(const takt::robot::NoOutput&, Scan& scan) noexcept override {
//         return port_.wait_for(scan);  // in the worker's thread: it may block
//       }
//     };
//
// The cycle sees the last good reading, as one piece. Before the first one that is Reading{}. An error of
// exchange() makes the device fail in the next cycle; so does a reading that is older than the bound. The
// worker exchanges only while the device is active, and calls let_go() when that ends. A device that works
// again is activated again (DeviceConfig::retry).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "takt/component/component.hpp"
#include "takt/core/error.hpp"
#include "takt/core/time.hpp"
#include "takt/robot/device.hpp"
#include "takt/robot/error.hpp"
#include "takt/shm/latest_value.hpp"

namespace takt::robot {

/// The output of a device that is only read.
struct NoOutput {};

/// A device that works on copies. Reading and Output are trivially copyable.
template <class Reading, class Output = NoOutput>
class AsyncDevice : public Device {
  static_assert(std::is_trivially_copyable_v<Reading> && std::is_trivially_copyable_v<Output>);

 public:
  /// `oldest`: without a reading for longer, the device fails with result_late; 0: never.
  AsyncDevice(const component::ComponentMetadata& metadata, std::string name, Duration oldest)
      : Device(metadata, std::move(name)), worker_(*this), oldest_(oldest) {}

  /// The component that speaks with the device. Add it to a context that another thread runs, and activate
  /// it.
  [[nodiscard]] component::Component& worker() noexcept { return worker_; }

  /// Sends the output and takes a reading, in the worker's thread. It may block, and touches nothing that the
  /// cycle uses. `reading` has any earlier content. An error makes the device fail.
  [[nodiscard]] virtual Status exchange(const Output& output, Reading& reading) noexcept = 0;
  /// The device is active no longer: sends it what is safe. In the worker's thread; it may block.
  virtual void let_go() noexcept {}

  /// The reading that the cycle sees: for on_declare().
  [[nodiscard]] const Reading& reading() const noexcept { return reading_; }
  /// What the worker gets after this cycle: for on_declare().
  [[nodiscard]] Output& output() noexcept { return output_; }

  [[nodiscard]] Status on_activate(const component::CycleTime& cycle) noexcept override {
    newest_ = cycle.time;
    ++round_;
    return {};
  }
  /// Errors: those of exchange(); result_late.
  [[nodiscard]] Status on_execute(const component::CycleTime& cycle) noexcept override {
    if (answers_.update() == shm::Freshness::new_data && answers_.value().round == round_) {
      const Answer& answer = answers_.value();
      if (answer.error) return takt::fail(*answer.error);
      reading_ = answer.reading;
      newest_ = cycle.time;
    }
    if (oldest_ > Duration(0) && cycle.time - newest_ > oldest_) return takt::fail(Errc::result_late);
    return {};
  }
  [[nodiscard]] Status on_state_update(const component::CycleTime& /*cycle*/) noexcept override {
    hand_over(true);
    return {};
  }
  void on_deactivate(const component::CycleTime& /*cycle*/) noexcept override { hand_over(false); }

 private:
  struct Task {
    std::uint64_t round = 0;  ///< activations
    bool is_active = false;
    Output output{};
  };
  struct Answer {
    std::uint64_t round = 0;
    std::optional<Error> error{};
    Reading reading{};
  };

  struct Worker final : component::Component {
    static constexpr component::ComponentMetadata about{.type = "AsyncDeviceWorker",
                                                        .version = "1.0.0",
                                                        .vendor = "takt",
                                                        .category = "device",
                                                        .description = "Speaks with a device."};
    explicit Worker(AsyncDevice& owner) : Component(about, owner.name() + ".worker"), of(&owner) {}
    [[nodiscard]] Status on_execute(const component::CycleTime& cycle) noexcept override {
      (void)of->tasks_.update();
      const Task& task = of->tasks_.value();
      if (!task.is_active) return on_deactivate(cycle), Status{};
      exchanges = true;
      Answer& answer = of->answers_.begin_write();
      const Status done = of->exchange(task.output, answer.reading);
      answer.round = task.round;
      answer.error = done ? std::nullopt : std::optional(done.error());
      of->answers_.publish();
      return {};
    }
    void on_deactivate(const component::CycleTime& /*cycle*/) noexcept override {
      if (std::exchange(exchanges, false)) of->let_go();
    }
    AsyncDevice* of;
    bool exchanges = false;
  };

  void hand_over(bool is_active) noexcept {
    Task& task = tasks_.begin_write();
    task = {round_, is_active, output_};
    tasks_.publish();
  }

  shm::LatestValue<Task> tasks_;
  shm::LatestValue<Answer> answers_;
  Worker worker_;
  Duration oldest_;
  Time newest_{};
  std::uint64_t round_ = 0;
  Reading reading_{};
  Output output_{};
};

}  // namespace takt::robot
