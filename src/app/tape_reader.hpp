// Reads a tape (app/tape.hpp) in the order in which a loop needs its parts. Not real-time safe.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/tape.hpp"
#include "record/message_form.hpp"
#include "takt/core/setup_error.hpp"
#include "takt/record/reader.hpp"

namespace takt::app {

/// The times of one recorded cycle.
struct TapedCycle {
  Time due{};
  Time woke{};
  Time done{};  ///< the end of its work
};

/// The parts come interleaved in the file. Each is kept until it is asked for.
class TapeReader {
 public:
  /// The recording must outlive this. `joints`: their number.
  TapeReader(record::Reader& recording, std::size_t joints) : recording_(&recording), joints_(joints) {}

  /// The next of its kind; std::nullopt at the end of the tape, or after failure().
  [[nodiscard]] std::optional<std::vector<TapedFeedback>> read();
  [[nodiscard]] std::optional<std::vector<TapedCommand>> write();
  [[nodiscard]] std::optional<TapedInputs> inputs();
  [[nodiscard]] std::optional<std::vector<std::uint8_t>> request();
  [[nodiscard]] std::optional<TapedCycle> cycle();
  /// The first cycle, which stays.
  [[nodiscard]] std::optional<TapedCycle> first_cycle();

  /// The first error of the file.
  [[nodiscard]] const std::optional<SetupError>& failure() const noexcept { return failure_; }

 private:
  template <class T>
  [[nodiscard]] std::optional<T> next(std::deque<T>& queue);
  [[nodiscard]] bool pull();
  void take(const record::CycleRecord& record);
  [[nodiscard]] bool take(const record::SampleRecord& record);
  template <class T>
  [[nodiscard]] bool take_list(const record::MessageForm& form, std::span<const std::uint8_t> message,
                               std::deque<std::vector<T>>& queue) const;

  record::Reader* recording_;
  std::size_t joints_;
  record::MessageForm read_form_ = record::MessageForm::of<TapedFeedback>();
  record::MessageForm write_form_ = record::MessageForm::of<TapedCommand>();
  record::MessageForm inputs_form_ = record::MessageForm::of<TapedInputs>();
  std::deque<std::vector<TapedFeedback>> reads_;
  std::deque<std::vector<TapedCommand>> writes_;
  std::deque<TapedInputs> inputs_;
  std::deque<std::vector<std::uint8_t>> requests_;
  std::deque<TapedCycle> cycles_;
  bool at_end_ = false;
  std::optional<SetupError> failure_;
};

}  // namespace takt::app
