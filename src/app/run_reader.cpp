#include "app/run_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <variant>

#include "takt/app/error.hpp"

namespace takt::app {
namespace {

/// The parts of one cycle are neighbours in the file. So a part whose kind is this many cycles ahead of
/// another kind shows that the other one is lost.
constexpr std::size_t most_cycles_ahead = 4;
/// The recorder's lane of requests holds a mebibyte, so more cannot wait for their cycle.
constexpr std::size_t most_request_bytes = std::size_t{16} << 20;

bool is_near(Time time) {
  return time.time_since_epoch() <= record::time_bound && time.time_since_epoch() >= -record::time_bound;
}

bool is_valid_reading(const RecordedFeedback& feedback) {
  return feedback.heard < 16 &&
         (feedback.heard >> 1U & 3U) <= static_cast<std::uint8_t>(robot::HomeState::at_home) &&
         feedback.drive <= static_cast<std::uint8_t>(DriveState::no_bus) &&
         feedback.mode <= static_cast<std::uint8_t>(CommandMode::effort) && is_near(feedback.stamp);
}

std::size_t bytes_of(const RecordedChange& change) { return sizeof(change) + change.json.size(); }

bool are_valid(const RecordedInputs& inputs) {
  return inputs.requests <= motion::max_requests_per_cycle && inputs.shut_down <= 1 && inputs.reset <= 1;
}

}  // namespace

RunReader::RunReader(std::vector<record::Reader*> files, const robot::RobotDescription& robot,
                     std::span<const RecordedDevice> devices, std::span<const RecordedPort> ports)
    : files_(std::move(files)), robot_(&robot), most_bytes_(most_request_bytes) {
  for (std::size_t i = 0; i < devices.size(); ++i) {
    for (const RecordedDevice::Reading& each : devices[i].readings)
      sensors_.push_back({std::string(sensor_topics) + each.name, std::string(each.layout()), i});
    for (const RecordedDevice::Output& each : devices[i].outputs)
      outputs_.push_back(
          {std::string(output_topics) + each.name, std::string(shm::schema_text<double>()), i});
  }
  for (const RecordedPort& port : ports) {
    const std::size_t bytes = sizeof(RecordedRead) + shm::parse_schema(port.sample_schema)->bytes;
    most_bytes_ += most_cycles_ahead * bytes;
    ports_.push_back({std::string(read_topics) + port.name, bytes, read_schema(port), {}, {}, 0, 0, {}});
  }
}

const RecordedCycle* RunReader::next() {
  cycle_.reset();
  if (failure_ || !has_cycle() || !is_whole()) return nullptr;
  auto readings = to_readings(reads_.front().value);
  if (!readings) return nullptr;
  const record::Cycle& times = cycles_.front().value;
  RecordedCycle& cycle = cycle_.emplace();
  cycle.due = times.time;
  cycle.woke = cycle.done = times.time + times.lateness;
  // The record of the next cycle has the work time of this one.
  if (cycles_.size() > 1) cycle.done += cycles_[1].value.busy;
  cycle.inputs = inputs_.front().value;
  cycle.readings = std::move(*readings);
  cycle.commands = std::move(writes_.front().value);
  take_further_values(cycle);
  while (!changes_.empty() && changes_.front().at.cycle == number_) {
    request_bytes_ -= bytes_of(changes_.front());
    cycle.changes.push_back(std::move(changes_.front()));
    changes_.pop_front();
  }
  reads_.pop_front();
  writes_.pop_front();
  inputs_.pop_front();
  cycles_.pop_front();
  if (number_++ == 0) first_ = cycle.due;
  last_ = cycle.due;
  return &cycle;
}

std::optional<std::vector<std::uint8_t>> RunReader::request() {
  while (requests_.empty()) {
    if (!pull()) return std::nullopt;
  }
  std::optional front(std::move(requests_.front()));
  requests_.pop_front();
  request_bytes_ -= front->size();
  return front;
}

const RecordedSample* RunReader::sample(std::size_t port) {
  const Port& from = ports_[port];
  if (from.samples.empty()) return nullptr;
  if (from.samples.front().read.number == from.given + 1) return &from.samples.front();
  // Of lost cycles, next() tells more.
  const bool cycles_are_lost = !inputs_.empty() && inputs_.front().value.cycle != number_;
  if (cycles_are_lost) return nullptr;
  if (!failure_) lost_since_ = from.cycle;
  refuse(fmt::format("the recording lacks sample {} of {}", from.given + 1, from.topic));
  return nullptr;
}

void RunReader::leave_out(std::size_t port, std::string why) {
  ports_[port].why_not_given = std::move(why);
  if (!ports_[port].samples.empty()) refuse(ports_[port].why_not_given);
}

void RunReader::pop_sample(std::size_t port) noexcept {
  request_bytes_ -= ports_[port].bytes;
  ports_[port].cycle = ports_[port].samples.front().read.cycle;
  ports_[port].samples.pop_front();
  ++ports_[port].given;
}

void RunReader::end() noexcept {
  at_end_ = true;
  cycle_.reset();
  requests_.clear();
  changes_.clear();
  for (Port& port : ports_) port.samples.clear();
  cycles_.clear();
}

void RunReader::take_further_values(RecordedCycle& cycle) {
  for (Channel& channel : sensors_) {
    std::vector<std::uint8_t>& value = cycle.sensors.emplace_back();
    if ((cycle.inputs.devices >> channel.device & 1) == 0) continue;
    value = std::move(channel.values.front().value);
    channel.values.pop_front();
  }
  for (Channel& channel : outputs_) {
    std::memcpy(&cycle.outputs.emplace_back(), channel.values.front().value.data(), sizeof(double));
    channel.values.pop_front();
  }
}

void RunReader::refuse(std::string why) {
  if (!failure_) failure_ = SetupError{Errc::not_replayable, std::move(why)};
  end();
}

void RunReader::refuse_gap(const std::string& what, Time goes_on) {
  if (!failure_) goes_on_ = goes_on;
  refuse("the recording lacks " + what);
}

std::string RunReader::rest() const {
  constexpr const char* why = "no recording has the state of the manager and the controllers there";
  if (!goes_on_) return {};
  if (number_ == 0)
    return fmt::format(
        "nothing of it can be replayed: a replay begins with cycle 0, and {}; takt report shows it", why);
  return fmt::format(
      "cycles 0 to {}, up to {:.3f} s after the first, give the recorded commands; "
      "from {:.3f} s on nothing can be replayed: {}; takt report shows it",
      number_ - 1, to_seconds(last_ - first_), to_seconds(*goes_on_ - first_), why);
}

/// Reads until all parts of a cycle are there. Returns false at the end of the recording.
bool RunReader::has_cycle() {
  const auto ahead = [this] {
    std::size_t most = std::max({reads_.size(), writes_.size(), inputs_.size(), cycles_.size()});
    for (const Channel& channel : sensors_) most = std::max(most, channel.values.size());
    for (const Channel& channel : outputs_) most = std::max(most, channel.values.size());
    return most;
  };
  const auto whole = [this] {
    return std::min({reads_.size(), writes_.size(), inputs_.size(), cycles_.size()});
  };
  while ((whole() == 0 || cycles_.size() < 2) && ahead() < most_cycles_ahead && pull()) {
  }
  return !failure_ && (whole() > 0 || ahead() >= most_cycles_ahead);
}

/// Whether the first parts are of one cycle, which is the next one. If not, names what is lost.
bool RunReader::is_whole() {
  Time first = Time::max();
  const auto look = [&first](const auto& parts) {
    if (!parts.empty()) first = std::min(first, parts.front().time);
  };
  look(reads_), look(writes_), look(inputs_), look(cycles_);
  const auto lacks = [&](const auto& parts, const char* what) {
    if (!parts.empty() && parts.front().time == first) return false;
    refuse_gap(fmt::format("the {} of cycle {}", what, number_), first);
    return true;
  };
  if (lacks(inputs_, "inputs")) return false;
  const RecordedInputs& inputs = inputs_.front().value;
  if (inputs.cycle != number_) {
    refuse_gap(fmt::format("cycle {}, and goes on with cycle {}", number_, inputs.cycle), first);
    return false;
  }
  if (lacks(reads_, "readings") || lacks(writes_, "commands") || lacks(cycles_, "times")) return false;
  if (!are_valid(inputs)) refuse(fmt::format("cycle {}: the inputs are invalid", number_));
  return !failure_ && has_further_values(first);
}

/// Whether each active device has its values of the cycle at `time`. If not, names the topic.
bool RunReader::has_further_values(Time time) {
  const auto check = [&](const Channel& channel, bool is_expected) {
    const bool is_there = !channel.values.empty() && channel.values.front().time <= time;
    const bool is_right = is_there && channel.values.front().time == time;
    if (is_there == is_expected && is_right == is_expected) return;
    refuse(fmt::format("the recording lacks {} of cycle {}", channel.topic, number_));
  };
  for (const Channel& channel : sensors_)
    check(channel, (inputs_.front().value.devices >> channel.device & 1) != 0);
  for (const Channel& channel : outputs_) check(channel, true);
  return !failure_;
}

std::optional<std::vector<robot::JointFeedback>> RunReader::to_readings(
    const std::vector<RecordedFeedback>& recorded) {
  const auto wrong = std::ranges::find_if_not(recorded, is_valid_reading);
  if (wrong != recorded.end()) {
    const auto& joint = robot_->joints[static_cast<std::size_t>(wrong - recorded.begin())];
    refuse(fmt::format("cycle {}: the reading of joint {} is invalid", number_, joint.name));
    return std::nullopt;
  }
  std::vector<robot::JointFeedback> readings;
  readings.reserve(recorded.size());
  for (const RecordedFeedback& one : recorded) readings.push_back(static_cast<robot::JointFeedback>(one));
  return readings;
}

/// Reads one record of the file. Returns false at its end.
bool RunReader::pull() {
  if (at_end_) return false;
  auto record = files_[file_]->next();
  while (record && *record == nullptr && file_ + 1 < files_.size()) record = files_[++file_]->next();
  at_end_ = !record || *record == nullptr;
  if (!record && !failure_) failure_ = record.error();
  if (at_end_) return false;
  if (const auto* cycle = std::get_if<record::CycleRecord>(*record)) take(*cycle);
  const auto* sample = std::get_if<record::SampleRecord>(*record);
  if (sample != nullptr && !take(*sample))
    refuse(std::string(sample->topic) + " has messages of another form, or for another number of joints");
  if (request_bytes_ > most_bytes_) refuse("the recording has requests or samples that no cycle takes");
  return !at_end_;
}

void RunReader::take(const record::CycleRecord& record) {
  cycles_.push_back({record.cycle.time, record.cycle});
}

bool RunReader::take(const record::SampleRecord& record) {
  if (record.topic == run_topic::names[run_topic::read]) return take_list(read_form_, record, reads_);
  if (record.topic == run_topic::names[run_topic::write]) return take_list(write_form_, record, writes_);
  record::CdrReader reader(record.message);
  if (record.topic == run_topic::names[run_topic::inputs]) {
    Part<RecordedInputs>& part = inputs_.emplace_back();
    part.time = record.time;
    return inputs_form_.read(reader, part.value);
  }
  if (record.topic == run_topic::names[run_topic::controllers] ||
      record.topic == run_topic::names[run_topic::parameters])
    return take_change(reader);
  if (record.topic.starts_with(read_topics)) return take_sample(record);
  if (Channel* channel = find(record.topic)) return take_value(*channel, record);
  if (record.topic != run_topic::names[run_topic::requests]) return true;
  const auto bytes = reader.array(reader.length(1), 1);
  requests_.emplace_back(bytes.begin(), bytes.end());
  request_bytes_ += bytes.size();
  return reader.ok();
}

RunReader::Channel* RunReader::find(std::string_view topic) {
  std::vector<Channel>& channels = topic.starts_with(sensor_topics) ? sensors_ : outputs_;
  const auto found = std::ranges::find(channels, topic, &Channel::topic);
  return found == channels.end() ? nullptr : &*found;
}

bool RunReader::take_value(Channel& channel, const record::SampleRecord& record) {
  if (!channel.form) channel.form.emplace(channel.schema, record.type);
  record::CdrReader reader(record.message);
  channel.values.push_back({record.time, std::vector<std::uint8_t>(channel.form->size())});
  return channel.form->read(reader, std::span(channel.values.back().value));
}

bool RunReader::take_sample(const record::SampleRecord& record) {
  const auto port = std::ranges::find(ports_, record.topic, &Port::topic);
  if (port == ports_.end()) return true;
  if (!port->why_not_given.empty()) refuse(port->why_not_given);
  std::vector<std::uint8_t> message(port->bytes);
  record::CdrReader reader(record.message);
  if (port->schema.empty()) {
    const auto bytes = reader.array(reader.length(1), 1);
    if (!reader.ok() || bytes.size() != message.size()) return false;
    std::ranges::copy(bytes, message.begin());
  } else {
    if (!port->form) port->form.emplace(port->schema, record.type);
    if (!port->form->read(reader, std::span(message))) return false;
  }
  RecordedSample& sample = port->samples.emplace_back();
  std::memcpy(&sample.read, message.data(), sizeof sample.read);
  sample.bytes.assign(message.begin() + sizeof sample.read, message.end());
  request_bytes_ += port->bytes;
  return true;
}

bool RunReader::take_change(record::CdrReader& reader) {
  RecordedChange& change = changes_.emplace_back();
  if (!change_form_.read(reader, change.at)) return false;
  change.json = reader.text();
  request_bytes_ += bytes_of(change);
  if (!reader.ok()) return false;
  const RecordedControllerRequest last = std::exchange(last_change_, change.at);
  if (last_change_.number != last.number + 1) {
    refuse(fmt::format("the recording lacks request {} to the controllers", last.number + 1));
  } else if (last_change_.cycle < std::max(number_, last.cycle)) {
    refuse(fmt::format("request {} to the controllers comes after its cycle", last_change_.number));
  }
  return true;
}

template <class T>
bool RunReader::take_list(const record::MessageForm& form, const record::SampleRecord& record,
                          Parts<std::vector<T>>& parts) const {
  record::CdrReader reader(record.message);
  if (reader.length(1) != robot_->joints.size()) return false;
  parts.push_back({record.time, std::vector<T>(robot_->joints.size())});
  for (T& value : parts.back().value) {
    if (!form.read(reader, value)) return false;
  }
  return true;
}

}  // namespace takt::app
