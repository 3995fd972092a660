#include "record/recording_messages.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <string>

#include "record/joint_state_message.hpp"
#include "record/ros2_names.hpp"
#include "record/standard_message.hpp"
#include "takt/version.hpp"

namespace takt::record {
namespace {

/// Whether a message is a value of the schema, and nothing else.
bool is_one_value(const Topic& topic) { return !topic.schema.empty() && !topic.is_list && !topic.has_text; }

/// The type of a topic's messages: that of ROS 2 for the values, if one keeps every bit.
std::string_view type_of(const Topic& topic) {
  const StandardMessage* const standard = is_one_value(topic) ? standard_message(topic.schema) : nullptr;
  return standard != nullptr && standard->is_exact() ? standard->name : std::string_view(topic.type);
}

/// The last word of a topic: "/sensors/left_foot" gives "left_foot".
std::string frame_of(const Topic& topic) { return topic.topic.substr(topic.topic.rfind('/') + 1); }

/// The definition of a topic's messages. Items of lists have a type of their own: "robot/msg/Wrench" has
/// "robot/WrenchItem".
std::string topic_definition(const Topic& topic) {
  if (!topic.definition.empty()) return topic.definition;
  if (topic.schema.empty()) return "uint8[] data\n";
  std::string fields = MessageForm(topic.schema, type_of(topic)).definition();
  if (topic.has_text) return fields + "string text\n";
  if (!topic.unit.empty() && !topic.is_list)
    return with_notes(fields, std::array{FieldNote{"value", topic.unit}});
  if (!topic.is_list) return fields;
  const std::string package = topic.type.substr(0, topic.type.find('/'));
  const std::string item = package + "/" + topic.type.substr(topic.type.rfind('/') + 1) + "Item";
  return item + "[] items\n" + std::string(80, '=') + "\nMSG: " + item + "\n" + fields;
}

}  // namespace

RecordingMessages::RecordingMessages(const Metadata& metadata, std::span<const Topic> topics)
    : robot_(metadata.robot),
      joints_(metadata.joints),
      buses_(metadata.buses.size()),
      epoch_(metadata.epoch),
      positions_(joints_.size()),
      velocities_(joints_.size()),
      references_(joints_.size()),
      reference_velocities_(joints_.size()),
      commands_(joints_.size()),
      efforts_(joints_.size()),
      goals_(joints_.size()) {
  for (const Topic& topic : topics)
    topics_.push_back({MessageForm(topic.schema, type_of(topic)), frame_of(topic), topic.schema.empty(),
                       topic.is_list, topic.has_text, !topic.definition.empty()});
  define(metadata, topics);
}

void RecordingMessages::define(const Metadata& metadata, std::span<const Topic> topics) {
  definitions_.library = "takt " TAKT_VERSION;
  definitions_.metadata.push_back({recording_metadata, {{"recording", to_json(metadata)}}});
  if (!metadata.description.empty())
    definitions_.metadata.back().entries.emplace("description", metadata.description);
  if (!metadata.devices.empty()) definitions_.metadata.back().entries.emplace("devices", metadata.devices);
  // Tells this recording from the one of a process that starts again. Equal runs in virtual time, which has
  // no epoch, give equal files.
  if (metadata.epoch != Duration(0)) {
    const auto since_boot = std::chrono::steady_clock::now().time_since_epoch();
    definitions_.metadata.back().entries.emplace("run", std::to_string(since_boot.count()));
  }

  const auto schema = [&](std::string name, std::string text) {
    const auto id = static_cast<std::uint16_t>(definitions_.schemas.size() + 1);
    definitions_.schemas.push_back({id, std::move(name), "ros2msg", std::move(text)});
    return id;
  };
  const auto channel = [&](std::uint16_t type, const std::string& topic) -> McapChannel& {
    const auto id = static_cast<std::uint16_t>(definitions_.channels.size() + 1);
    McapChannel made{id, type, ros2_topic(topic), "cdr"};
    while (std::ranges::find(definitions_.channels, made.topic, &McapChannel::topic) !=
           definitions_.channels.end())
      made.topic += "_2";
    if (made.topic != topic) made.metadata.emplace(channel_topic, topic);
    return definitions_.channels.emplace_back(std::move(made));
  };
  // In the order of the ids.
  const std::uint16_t joints = schema(joint_state_name, joint_state_schema());
  channel(joints, "/joints/measured");
  channel(joints, "/joints/reference");
  channel(joints, "/joints/command");
  channel(schema("takt/msg/Cycle", with_notes(forms_.cycle_definition(), cycle_notes(metadata))), "/cycle");
  channel(schema("takt/msg/GoalEvent", with_notes(forms_.event.definition(), event_notes(metadata))),
          "/events");
  channel(schema("takt/msg/LoopTotals", with_notes(forms_.loop.definition(), loop_notes())), "/loop");
  channel(schema("takt/msg/Mark", MessageForms::mark_definition()), "/marks");
  const std::uint16_t bus = schema("takt/msg/Bus", with_notes(forms_.bus.definition(), bus_notes()));
  for (const std::string& name : metadata.buses) channel(bus, "/buses/" + name);
  for (std::size_t i = 0; i < topics.size(); ++i) {
    McapChannel& made =
        channel(schema(std::string(type_of(topics[i])), topic_definition(topics[i])), topics[i].topic);
    // Names of ROS 2 do not tell the names of the fields, nor the padding.
    if (is_one_value(topics[i])) made.metadata.emplace(channel_schema, topics[i].schema);
  }
}

void RecordingMessages::add(std::span<const std::byte> record, ChunkBuilder& chunk) {
  RecordReader reader(record);
  writer_.begin();
  switch (reader.take<RecordType>()) {
    case RecordType::cycle:
      return add_cycle(reader, chunk);
    case RecordType::buses:
      return add_buses(reader, chunk);
    case RecordType::mark:
      return add_mark(reader, chunk);
    case RecordType::sample:
      return add_sample(reader, chunk);
    case RecordType::event: {
      const auto event = reader.take<GoalEvent>();
      forms_.event.write(writer_, event);
      return send(channels::event, event.at, chunk);
    }
    case RecordType::loop: {
      const auto totals = reader.take<LoopTotals>();
      forms_.loop.write(writer_, totals);
      return send(channels::loop, totals.time, chunk);
    }
  }
}

/// MCAP has no times before 1970.
std::uint64_t RecordingMessages::log_time(Time time) const noexcept {
  const Duration since = time.time_since_epoch() + epoch_;
  return static_cast<std::uint64_t>(std::max(since, Duration(0)).count());
}

void RecordingMessages::send(std::uint16_t channel, Time time, ChunkBuilder& chunk) {
  chunk.add(channel, log_time(time), writer_.message());
}

void RecordingMessages::add_cycle(RecordReader& reader, ChunkBuilder& chunk) {
  const auto cycle = reader.take<Cycle>();
  for (std::size_t i = 0; i < joints_.size(); ++i) {
    const auto joint = reader.take<JointSample>();
    positions_[i] = joint.measured_position;
    velocities_[i] = joint.measured_velocity;
    efforts_[i] = joint.measured_effort;
    references_[i] = joint.reference_position;
    reference_velocities_[i] = joint.reference_velocity;
    commands_[i] = joint.command;
    goals_[i] = joint.goal;
  }
  // ROS: a list without any value is empty.
  const bool has_efforts = std::ranges::any_of(efforts_, [](double effort) { return !std::isnan(effort); });
  JointStateMessage message{log_time(cycle.time), robot_, joints_, positions_, velocities_, {}};
  if (has_efforts) message.efforts = efforts_;
  write_joint_state(writer_, message);
  send(channels::measured, cycle.time, chunk);
  message.positions = references_;
  message.velocities = reference_velocities_;
  message.efforts = {};
  write_joint_state(writer_, message);
  send(channels::reference, cycle.time, chunk);
  message.positions = commands_;
  message.velocities = {};
  write_joint_state(writer_, message);
  send(channels::command, cycle.time, chunk);

  writer_.begin();
  forms_.cycle.write(writer_, cycle);
  writer_.numbers(std::span<const std::uint64_t>(goals_));
  send(channels::cycle, cycle.time, chunk);
  if (cycle.reason != 0 && cycle.reason != reason_) ++stops_;
  reason_ = cycle.reason;
}

void RecordingMessages::add_buses(RecordReader& reader, ChunkBuilder& chunk) {
  const auto time = reader.take<Time>();
  for (std::size_t i = 0; i < buses_; ++i) {
    writer_.begin();
    const auto bus = reader.take<BusSample>();
    forms_.bus.write(writer_, BusMessage{time, bus.load, bus.frames, bus.refused});
    send(static_cast<std::uint16_t>(channels::first_bus + i), time, chunk);
  }
}

void RecordingMessages::add_mark(RecordReader& reader, ChunkBuilder& chunk) {
  const auto time = reader.take<Time>();
  writer_.number(to_nanoseconds(time));
  writer_.text(as_text(reader.rest()));
  send(channels::mark, time, chunk);
}

void RecordingMessages::add_sample(RecordReader& reader, ChunkBuilder& chunk) {
  const auto header = reader.take<SampleHeader>();
  const auto value = reader.rest();
  if (header.topic >= topics_.size()) return;
  const auto& [form, frame, is_opaque, is_list, has_text, is_message] = topics_[header.topic];
  const auto channel = static_cast<std::uint16_t>(channels::first_bus + buses_ + header.topic);
  if (is_message) return chunk.add(channel, log_time(header.time), value);
  if (has_text) {
    if (value.size() < form.size()) return;
    form.write(writer_, value.first(form.size()));
    writer_.text(as_text(value.subspan(form.size())));
    return send(channel, header.time, chunk);
  }
  const std::size_t count = is_opaque ? 0 : value.size() / form.size();
  if (!is_opaque && (value.size() != count * form.size() || (count != 1 && !is_list))) return;
  if (is_opaque) writer_.numbers(value);
  if (is_list) writer_.number(static_cast<std::uint32_t>(count));
  for (std::size_t i = 0; i < count; ++i)
    form.write(writer_, value.subspan(i * form.size(), form.size()), {log_time(header.time), frame});
  send(channel, header.time, chunk);
}

}  // namespace takt::record
