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
//       Port port_;
//     };
//
// The cycle sees the last good reading as one piece, and Reading{} before the first one of an activation. Let
// its numbers be NaN at first, so that nobody takes them for measured. The device fails in the next cycle
// after an error of exchange(), and without a reading for longer than its bound. A device that works again is
// activated again (DeviceConfig::retry).
//
// Output{} is what is safe. The worker sends it by one more exchange() when the device or the worker is not
// active any more. It does so, too, when the cycle gives no outputs for longer than the bound.
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
  /// `oldest`: the longest time without a reading, and without outputs of the cycle; above 0.
  AsyncDevice(const component::ComponentMetadata& metadata, std::string name, Duration oldest)
      : Device(metadata, std::move(name)), worker_(*this), oldest_(oldest) {}

  /// The component that speaks with the device. Add it to a context that another thread runs, and activate
  /// it. It leaves that context before the device is destroyed.
  [[nodiscard]] component::Component& worker() noexcept { return worker_; }

  /// Sends the output and takes a reading, in the worker's thread. It may block, but for a bounded time, and
  /// touches nothing that the cycle uses. `reading` has any earlier content. An error makes the device fail.
  [[nodiscard]] virtual Status exchange(const Output& output, Reading& reading) noexcept = 0;

  /// The reading that the cycle sees: for on_declare().
  [[nodiscard]] const Reading& reading() const noexcept { return reading_; }
  /// What the worker gets after this cycle: for on_declare().
  [[nodiscard]] Output& output() noexcept { return output_; }

  void on_startup(const component::CycleTime& /*cycle*/) noexcept override { newest_.reset(); }
  [[nodiscard]] Status on_activate(const component::CycleTime& /*cycle*/) noexcept override {
    ++round_;
    newest_.reset();
    reading_ = {};
    return {};
  }
  /// Errors: those of exchange(); result_late.
  [[nodiscard]] Status on_execute(const component::CycleTime& cycle) noexcept override {
    if (!newest_) newest_ = cycle.time;  // the worker has its time from here on
    if (answers_.update() == shm::Freshness::new_data && answers_.value().round == round_) {
      const Answer& answer = answers_.value();
      if (answer.error) return takt::fail(*answer.error);
      reading_ = answer.reading;
      newest_ = cycle.time;
    }
    return cycle.time - *newest_ > oldest_ ? takt::fail(Errc::result_late) : Status{};
  }
  [[nodiscard]] Status on_state_update(const component::CycleTime& /*cycle*/) noexcept override {
    hand_over(true);
    return {};
  }
  void on_deactivate(const component::CycleTime& /*cycle*/) noexcept override { hand_over(false); }
  void on_shutdown(const component::CycleTime& /*cycle*/) noexcept override { hand_over(false); }

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
      if (of->tasks_.update() == shm::Freshness::new_data) task_came = cycle.time;
      const Task& task = of->tasks_.value();
      const bool works = task.is_active && cycle.time - task_came <= of->oldest_;
      if (!works || task.round != round) rest();
      if (!works || task.round == failed) return {};  // the cycle has to see the error first
      is_out = true;
      round = task.round;
      Answer& answer = of->answers_.begin_write();
      const Status done = of->exchange(task.output, answer.reading);
      if (!done) failed = round;
      answer.round = round;
      answer.error = done ? std::nullopt : std::optional(done.error());
      of->answers_.publish();
      return {};
    }
    void on_deactivate(const component::CycleTime& /*cycle*/) noexcept override { rest(); }
    void on_shutdown(const component::CycleTime& /*cycle*/) noexcept override { rest(); }
    void rest() noexcept {
      // An error is told by the next activation.
      if (std::exchange(is_out, false)) (void)of->exchange({}, of->answers_.begin_write().reading);
    }
    AsyncDevice* of;
    Time task_came{};
    std::uint64_t round = 0;   ///< of the last exchange
    std::uint64_t failed = 0;  ///< the round whose exchange failed
    bool is_out = false;       ///< an output was sent since the last Output{}
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
  std::optional<Time> newest_{};  ///< none before the first cycle
  std::uint64_t round_ = 0;
  Reading reading_{};
  Output output_{};
};

}  // namespace takt::robot
