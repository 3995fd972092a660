#include "app/tape_reader.hpp"

#include <utility>
#include <variant>

#include "takt/app/error.hpp"

namespace takt::app {

template <class T>
std::optional<T> TapeReader::next(std::deque<T>& queue) {
  while (queue.empty()) {
    if (!pull()) return std::nullopt;
  }
  std::optional<T> front(std::move(queue.front()));
  queue.pop_front();
  return front;
}

std::optional<std::vector<TapedFeedback>> TapeReader::read() { return next(reads_); }
std::optional<std::vector<TapedCommand>> TapeReader::write() { return next(writes_); }
std::optional<TapedInputs> TapeReader::inputs() { return next(inputs_); }
std::optional<std::vector<std::uint8_t>> TapeReader::request() { return next(requests_); }

/// A cycle's record has the work time of the cycle before it, so the next one is needed, too.
std::optional<TapedCycle> TapeReader::cycle() {
  while (cycles_.size() < 2 && pull()) {
  }
  return next(cycles_);
}

std::optional<TapedCycle> TapeReader::first_cycle() {
  while (cycles_.size() < 2 && pull()) {
  }
  return cycles_.empty() ? std::nullopt : std::optional(cycles_.front());
}

/// Reads one record of the file. Returns false at its end.
bool TapeReader::pull() {
  if (at_end_) return false;
  const auto record = recording_->next();
  at_end_ = !record || *record == nullptr;
  if (!record) failure_ = record.error();
  if (at_end_) return false;
  if (const auto* cycle = std::get_if<record::CycleRecord>(*record)) take(*cycle);
  const auto* sample = std::get_if<record::SampleRecord>(*record);
  if (sample == nullptr || take(*sample)) return true;
  failure_ =
      SetupError{Errc::not_replayable, std::string(sample->topic) +
                                           " has messages of another form, or for another number of joints"};
  at_end_ = true;
  return false;
}

void TapeReader::take(const record::CycleRecord& record) {
  const record::Cycle& cycle = record.cycle;
  if (!cycles_.empty()) cycles_.back().done = cycles_.back().woke + cycle.busy;
  const Time woke = cycle.time + cycle.lateness;
  cycles_.push_back({cycle.time, woke, woke});
}

bool TapeReader::take(const record::SampleRecord& record) {
  if (record.topic == tape::names[tape::read]) return take_list(read_form_, record.message, reads_);
  if (record.topic == tape::names[tape::write]) return take_list(write_form_, record.message, writes_);
  record::CdrReader reader(record.message);
  if (record.topic == tape::names[tape::inputs]) return inputs_form_.read(reader, inputs_.emplace_back());
  if (record.topic != tape::names[tape::requests]) return true;
  const auto bytes = reader.array(reader.length(1), 1);
  requests_.emplace_back(bytes.begin(), bytes.end());
  return reader.ok();
}

template <class T>
bool TapeReader::take_list(const record::MessageForm& form, std::span<const std::uint8_t> message,
                           std::deque<std::vector<T>>& queue) const {
  record::CdrReader reader(message);
  if (reader.length(1) != joints_) return false;
  auto& list = queue.emplace_back(joints_);
  for (T& value : list) {
    if (!form.read(reader, value)) return false;
  }
  return true;
}

}  // namespace takt::app
