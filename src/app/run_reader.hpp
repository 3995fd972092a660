// Reads a recorded run (app/run_recorder.hpp) cycle by cycle, and checks that it is whole. Not real-time
// safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/run_recorder.hpp"
#include "record/message_form.hpp"
#include "takt/core/setup_error.hpp"
#include "takt/record/reader.hpp"

namespace takt::app {

/// A recorded request to the controllers.
struct RecordedChange {
  RecordedControllerRequest at;
  std::string json;
};

/// A recorded read of an in-port that found a sample.
struct RecordedSample {
  RecordedRead read;
  std::vector<std::uint8_t> bytes;  ///< of the sample
};

/// One recorded cycle.
struct RecordedCycle {
  Time due{};
  Time woke{};
  Time done{};  ///< the end of its work
  RecordedInputs inputs;
  std::vector<robot::JointFeedback> readings;
  std::vector<RecordedCommand> commands;
  std::vector<RecordedChange> changes;
  std::vector<std::vector<std::uint8_t>> sensors;  ///< of all devices; empty ones of a device without a bit
  std::vector<double> outputs;                     ///< of all devices
};

/// The parts of a cycle come interleaved in the file. Each waits there for the others of its cycle.
class RunReader {
 public:
  /// `files`: of one recording, at least one, in order. `robot` names the joints. Both must outlive this.
  RunReader(std::vector<record::Reader*> files, const robot::RobotDescription& robot,
            std::span<const RecordedDevice> devices, std::span<const RecordedPort> ports);

  /// The next whole cycle; null at the end of the recording, or after failure(). Valid until the next call.
  [[nodiscard]] const RecordedCycle* next();
  /// The cycle that next() returned last; null before the first and after the end.
  [[nodiscard]] const RecordedCycle* present() const noexcept { return cycle_ ? &*cycle_ : nullptr; }
  /// The next record of a request; std::nullopt at the end of the recording.
  [[nodiscard]] std::optional<std::vector<std::uint8_t>> request();
  /// The next sample of an in-port, by its index; null if none follows up to the present cycle. A lost one
  /// ends the recording.
  [[nodiscard]] const RecordedSample* sample(std::size_t port);
  /// The robot cannot take the samples of this port. Refuses the recording, once it has one.
  void leave_out(std::size_t port, std::string why);
  /// Goes on with the sample after that one.
  void pop_sample(std::size_t port) noexcept;

  /// Ends the recording here.
  void end() noexcept;
  /// Ends it as not_replayable. The first reason stays.
  void refuse(std::string why);
  /// The first error of the file, or not_replayable with what the recording lacks.
  [[nodiscard]] const std::optional<SetupError>& failure() const noexcept { return failure_; }
  /// Whether a lost sample may be why this cycle differs: the loss is noticed only by the sample after it.
  [[nodiscard]] bool may_explain(std::uint64_t cycle) const noexcept {
    return lost_since_ && cycle + 1 >= *lost_since_;
  }
  /// After a failure by lost cycles, if all before gave the recorded commands: what cannot be replayed, and
  /// why. Empty: no cycle is lost.
  [[nodiscard]] std::string rest() const;

 private:
  /// A part of the cycle that was due at `time`.
  template <class T>
  struct Part {
    Time time{};
    T value;
  };
  template <class T>
  using Parts = std::deque<Part<T>>;
  /// The values of a further topic.
  struct Channel {
    std::string topic;
    std::string schema;
    std::size_t device;
    std::optional<record::MessageForm> form{};  ///< as the first message says
    Parts<std::vector<std::uint8_t>> values{};
  };
  /// The samples of an in-port.
  struct Port {
    std::string topic;
    std::size_t bytes;   ///< of a message
    std::string schema;  ///< of a message; empty: it is its bytes
    std::optional<record::MessageForm> form{};
    std::deque<RecordedSample> samples{};
    std::uint64_t given = 0;    ///< samples that were taken
    std::uint64_t cycle = 0;    ///< of the last one, as in RecordedRead
    std::string why_not_given;  ///< empty: it is
  };

  [[nodiscard]] bool pull();
  [[nodiscard]] bool has_cycle();
  [[nodiscard]] bool is_whole();
  void refuse_gap(const std::string& what, Time goes_on);
  [[nodiscard]] bool has_further_values(Time time);
  void take_further_values(RecordedCycle& cycle);
  [[nodiscard]] std::optional<std::vector<robot::JointFeedback>> to_readings(
      const std::vector<RecordedFeedback>& recorded);
  void take(const record::CycleRecord& record);
  [[nodiscard]] bool take(const record::SampleRecord& record);
  [[nodiscard]] bool take_change(record::CdrReader& reader);
  [[nodiscard]] Channel* find(std::string_view topic);
  [[nodiscard]] static bool take_value(Channel& channel, const record::SampleRecord& record);
  [[nodiscard]] bool take_sample(const record::SampleRecord& record);
  template <class T>
  [[nodiscard]] bool take_list(const record::MessageForm& form, const record::SampleRecord& record,
                               Parts<std::vector<T>>& parts) const;

  std::vector<record::Reader*> files_;
  std::size_t file_ = 0;  ///< the one that is read
  const robot::RobotDescription* robot_;
  record::MessageForm read_form_ = record::MessageForm::of<RecordedFeedback>();
  record::MessageForm write_form_ = record::MessageForm::of<RecordedCommand>();
  record::MessageForm inputs_form_ = record::MessageForm::of<RecordedInputs>();
  record::MessageForm change_form_ = record::MessageForm::of<RecordedControllerRequest>();
  Parts<std::vector<RecordedFeedback>> reads_;
  Parts<std::vector<RecordedCommand>> writes_;
  Parts<RecordedInputs> inputs_;
  Parts<record::Cycle> cycles_;
  std::vector<Channel> sensors_;
  std::vector<Channel> outputs_;
  std::vector<Port> ports_;
  std::deque<std::vector<std::uint8_t>> requests_;
  std::deque<RecordedChange> changes_;
  RecordedControllerRequest last_change_;
  std::size_t request_bytes_ = 0;              ///< of requests_, changes_ and samples
  std::size_t most_bytes_;                     ///< of them
  std::uint64_t number_ = 0;                   ///< of the next cycle
  Time first_{};                               ///< due time of the first cycle
  Time last_{};                                ///< of the one before the next
  std::optional<Time> goes_on_{};              ///< behind lost cycles
  std::optional<std::uint64_t> lost_since_{};  ///< cycle of the sample before a lost one, as in RecordedRead
  std::optional<RecordedCycle> cycle_;
  bool at_end_ = false;
  std::optional<SetupError> failure_;
};

}  // namespace takt::app
