// Copies a recording with planted changes: another value, or a lost record. Tests of the replay share it.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "app/run_reader.hpp"
#include "app/run_recorder.hpp"
#include "record/cdr.hpp"
#include "record/message_form.hpp"
#include "takt/app/replay.hpp"
#include "takt/record/reader.hpp"
#include "takt/record/recorder.hpp"

namespace takt::test {

/// Opens a recording that is good.
inline record::Reader opened(const std::string& path) {
  auto reader = record::Reader::open(path);
  if (!reader) FAIL(reader.error().message);
  return std::move(*reader);
}

/// One function for each kind of record. It may change the record, and returns whether the copy has it.
/// `index` counts those of the kind.
struct RunEdit {
  template <class T>
  using Change = std::function<bool(std::uint64_t index, T&)>;
  Change<std::vector<app::RecordedFeedback>> read{};
  Change<std::vector<app::RecordedCommand>> write{};
  Change<app::RecordedInputs> inputs{};
  Change<std::vector<std::uint8_t>> request{};
  Change<app::RecordedChange> change{};  ///< a request to the controllers
  Change<record::Cycle> cycle{};
  /// A value of a further device, or a read of an in-port, as the bytes of its type.
  std::function<bool(std::string_view topic, Time, std::vector<std::uint8_t>&)> further{};
  std::function<void(record::Metadata&)> metadata{};
};

/// Writes the copy.
class RunEditor {
 public:
  RunEditor(record::Reader& from, const std::string& to, RunEdit edit)
      : from_(&from), edit_(std::move(edit)) {
    auto devices = app::parse_devices(from.metadata().devices);
    if (!devices) FAIL(devices.error().message);
    devices_ = std::move(*devices);
    record::RecorderOptions options;
    options.topics = app::run_topic::topics();
    for (const app::RecordedDevice& device : devices_) {
      for (const app::RecordedDevice::Reading& each : device.readings)
        options.topics.push_back({std::string(app::sensor_topics) + each.name, "Further", each.layout()});
      for (const app::RecordedDevice::Output& each : device.outputs)
        options.topics.push_back(
            {std::string(app::output_topics) + each.name, "Further", shm::schema_text<double>()});
    }
    auto ports = app::parse_ports(from.metadata().devices);
    if (!ports) FAIL(ports.error().message);
    for (const app::RecordedPort& port : *ports)
      options.topics.push_back(
          {std::string(app::read_topics) + port.name, "Read", port_schemas_.emplace_back(read_schema(port))});
    for (const record::Topic& topic : options.topics) topics_.emplace_back(topic.topic, topic.schema);
    record::Metadata metadata = from.metadata();
    if (edit_.metadata) edit_.metadata(metadata);
    auto created = record::Recorder::create(to, metadata, options);
    if (!created) FAIL(created.error().message);
    to_ = std::move(*created);
  }

  void run() {
    while (true) {
      const auto record = from_->next();
      if (!record) FAIL(record.error().message);
      if (*record == nullptr) break;
      if (const auto* cycle = std::get_if<record::CycleRecord>(*record)) copy(*cycle);
      if (const auto* sample = std::get_if<record::SampleRecord>(*record)) copy(*sample);
      REQUIRE(to_->drain().has_value());
    }
    REQUIRE(to_->finish().has_value());
  }

 private:
  void copy(record::CycleRecord record) {
    if (!keeps(edit_.cycle, cycles_, record.cycle)) return;
    to_->loop().cycle(record.cycle, [&](std::size_t joint) noexcept { return record.joints[joint]; });
  }
  void copy(const record::SampleRecord& record) {
    using namespace app::run_topic;
    record::CdrReader reader(record.message);
    if (record.topic == names[read]) copy_list(record, read, edit_.read, reads_);
    if (record.topic == names[write]) copy_list(record, write, edit_.write, writes_);
    if (record.topic == names[inputs]) {
      app::RecordedInputs value;
      REQUIRE(record::MessageForm::of<app::RecordedInputs>().read(reader, value));
      if (keeps(edit_.inputs, inputs_, value))
        to_->loop().sample(inputs, record.time,
                           {reinterpret_cast<const std::uint8_t*>(&value), sizeof(value)});
    }
    if (record.topic == names[requests]) {
      const auto bytes = reader.array(reader.length(1), 1);
      std::vector<std::uint8_t> value(bytes.begin(), bytes.end());
      if (keeps(edit_.request, requests_, value)) to_->server().sample(requests, record.time, value);
    }
    for (const Topic topic : {controllers, parameters}) {
      if (record.topic != names[topic]) continue;
      app::RecordedChange value;
      REQUIRE(record::MessageForm::of<app::RecordedControllerRequest>().read(reader, value.at));
      value.json = reader.text();
      if (keeps(edit_.change, changes_, value))
        to_->loop().sample(topic, record.time,
                           {reinterpret_cast<const std::uint8_t*>(&value.at), sizeof(value.at)}, value.json);
    }
    for (std::size_t i = count; i < topics_.size(); ++i) {
      if (record.topic == topics_[i].first) copy_further(i, record);
    }
  }
  void copy_further(std::size_t topic, const record::SampleRecord& record) {
    const std::string_view schema = topics_[topic].second;
    record::CdrReader reader(record.message);
    std::vector<std::uint8_t> value;
    if (schema.empty()) {
      const auto bytes = reader.array(reader.length(1), 1);
      value.assign(bytes.begin(), bytes.end());
    } else {
      const record::MessageForm form(schema, record.type);
      value.resize(form.size());
      REQUIRE(form.read(reader, std::span(value)));
    }
    if (!edit_.further || edit_.further(record.topic, record.time, value))
      to_->loop().sample(topic, record.time, value);
  }
  template <class T>
  void copy_list(const record::SampleRecord& record, std::size_t topic,
                 const RunEdit::Change<std::vector<T>>& change, std::uint64_t& count) {
    record::CdrReader reader(record.message);
    std::vector<T> values(reader.length(1));
    for (T& value : values) REQUIRE(record::MessageForm::of<T>().read(reader, value));
    if (!keeps(change, count, values)) return;
    to_->loop().samples<T>(topic, record.time, values.size(),
                           [&](std::size_t i) noexcept { return values[i]; });
  }
  template <class T>
  static bool keeps(const RunEdit::Change<T>& change, std::uint64_t& count, T& value) {
    const std::uint64_t index = count++;
    return !change || change(index, value);
  }

  record::Reader* from_;
  RunEdit edit_;
  std::vector<app::RecordedDevice> devices_;
  std::deque<std::string> port_schemas_;
  std::vector<std::pair<std::string, std::string_view>> topics_;  ///< names and schemas
  std::unique_ptr<record::Recorder> to_;
  std::uint64_t cycles_ = 0;
  std::uint64_t reads_ = 0;
  std::uint64_t writes_ = 0;
  std::uint64_t inputs_ = 0;
  std::uint64_t requests_ = 0;
  std::uint64_t changes_ = 0;
};

/// Replays a copy with these changes.
inline SetupResult<app::ReplayResult> replay_copy(const std::string& path, const std::string& copy,
                                                  RunEdit edit, app::ReplayOptions options) {
  record::Reader original = opened(path);
  RunEditor(original, copy, std::move(edit)).run();
  record::Reader reader = opened(copy);
  return app::replay(reader, std::move(options));
}

}  // namespace takt::test
