#include "record/own_messages.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

#include "record/ros2_names.hpp"

namespace takt::record {
namespace {

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

[[nodiscard]] bool is_near(Time time) noexcept {
  return time <= Time(time_bound) && time >= Time(-time_bound);
}
[[nodiscard]] bool is_near(Duration duration) noexcept { return is_near(Time(duration)); }

/// Whether all times of a struct are near enough for sums of a few.
template <class T>
[[nodiscard]] bool times_are_near(const T& value) {
  bool near = true;
  for_each_field(value, [&near]<class F>(std::string_view, const F& field) {
    if constexpr (std::is_same_v<F, Time> || std::is_same_v<F, Duration>) near = near && is_near(field);
  });
  return near;
}

}  // namespace

OwnMessages::OwnMessages(const Metadata& metadata)
    : metadata_(&metadata), joints_(metadata.joints.size()), buses_(metadata.buses.size()) {}

SetupResult<OwnMessages::Topic> OwnMessages::topic_of(const MessageSource& source,
                                                      const McapChannel& channel) {
  struct Known {
    std::string_view topic;
    Kind kind;
    std::string definition;
  };
  const std::array known{Known{"/joints/measured", Kind::measured, joint_state_schema()},
                         Known{"/joints/reference", Kind::reference, joint_state_schema()},
                         Known{"/joints/command", Kind::command, joint_state_schema()},
                         Known{"/cycle", Kind::cycle, forms_.cycle_definition()},
                         Known{"/events", Kind::event, forms_.event.definition()},
                         Known{"/loop", Kind::loop, forms_.loop.definition()},
                         Known{"/marks", Kind::mark, MessageForms::mark_definition()}};
  const McapSchema* schema = source.schema(channel);
  const auto check = [&](const std::string& definition, Topic topic) -> SetupResult<Topic> {
    const bool is_same = schema != nullptr && without_notes(schema->text) == without_notes(definition);
    if (is_same && channel.encoding == "cdr") return topic;
    return source.damage(Errc::other_schema, channel.topic);
  };
  for (const Known& each : known) {
    if (each.topic == channel.topic) return check(each.definition, {each.kind});
  }
  for (std::size_t i = 0; i < metadata_->buses.size(); ++i) {
    if (takt_topic(channel) == "/buses/" + metadata_->buses[i])
      return check(forms_.bus.definition(), {Kind::bus, i});
  }
  return Topic{};
}

SetupResult<const Record*> OwnMessages::take(const MessageSource& source, const FileMessage& message) {
  auto found = topics_.find(message.channel->id);
  if (found == topics_.end()) {
    const auto topic = topic_of(source, *message.channel);
    if (!topic) return tl::unexpected<SetupError>(topic.error());
    found = topics_.emplace(message.channel->id, *topic).first;
  }
  is_whole_ = true;
  bool is_well_formed = true;
  const auto [kind, bus] = found->second;
  switch (kind) {
    case Kind::measured:
    case Kind::reference:
    case Kind::command:
      is_well_formed = take_joints(kind, message.data);
      break;
    case Kind::cycle:
      is_well_formed = take_cycle(message.data);
      break;
    case Kind::event:
      is_well_formed = take_struct<GoalEvent>(forms_.event, message.data);
      break;
    case Kind::loop:
      is_well_formed = take_struct<LoopTotals>(forms_.loop, message.data);
      break;
    case Kind::mark:
      is_well_formed = take_mark(message.data);
      break;
    case Kind::bus:
      is_well_formed = take_bus(bus, message.data);
      break;
    case Kind::sample:
      take_sample(source, message);
      break;
  }
  if (!is_well_formed) return source.damage(Errc::bad_message, message.channel->topic);
  if (!is_whole_) return nullptr;
  const bool is_in_range = std::visit(
      []<class T>(const T& record) {
        if constexpr (std::is_same_v<T, CycleRecord>)
          return times_are_near(record.cycle);
        else if constexpr (HasFields<T>)
          return times_are_near(record);
        else
          return is_near(record.time);
      },
      record_);
  if (!is_in_range) return source.damage(Errc::time_out_of_range, message.channel->topic);
  if (const auto* cycle = std::get_if<CycleRecord>(&record_)) {
    if (last_cycle_ && cycle->cycle.time <= *last_cycle_) return source.damage(Errc::time_not_rising);
    last_cycle_ = cycle->cycle.time;
  }
  return &record_;
}

bool OwnMessages::take_joints(Kind kind, std::span<const std::uint8_t> data) {
  is_whole_ = false;
  if (!read_joint_state(data, view_) || view_.names.size() != joints_.size() ||
      view_.positions.size() != joints_.size())
    return false;
  const bool is_measured = kind == Kind::measured;
  if (kind != Kind::command && view_.velocities.size() != joints_.size()) return false;
  const bool has_efforts = !view_.efforts.empty();
  if (is_measured && has_efforts && view_.efforts.size() != joints_.size()) return false;
  for (std::size_t i = 0; i < joints_.size(); ++i) {
    JointSample& joint = joints_[i];
    if (kind == Kind::command) {
      joint.command = view_.positions[i];
      continue;
    }
    (is_measured ? joint.measured_position : joint.reference_position) = view_.positions[i];
    (is_measured ? joint.measured_velocity : joint.reference_velocity) = view_.velocities[i];
    if (is_measured) joint.measured_effort = has_efforts ? view_.efforts[i] : no_number;
  }
  return true;
}

bool OwnMessages::take_cycle(std::span<const std::uint8_t> data) {
  CdrReader reader(data);
  Cycle cycle;
  if (!forms_.cycle.read(reader, cycle)) return false;
  if (reader.length(sizeof(std::uint64_t)) != joints_.size()) return false;
  for (JointSample& joint : joints_) joint.goal = reader.number<std::uint64_t>();
  record_ = CycleRecord{cycle, joints_};
  return reader.ok();
}

template <class T>
bool OwnMessages::take_struct(const MessageForm& form, std::span<const std::uint8_t> data) {
  CdrReader reader(data);
  T value;
  if (!form.read(reader, value)) return false;
  record_ = value;
  return true;
}

bool OwnMessages::take_mark(std::span<const std::uint8_t> data) {
  CdrReader reader(data);
  const auto time = time_from_nanoseconds(reader.number<std::int64_t>());
  record_ = MarkRecord{time, reader.text().substr(0, max_mark_size)};
  return reader.ok();
}

bool OwnMessages::take_bus(std::size_t bus, std::span<const std::uint8_t> data) {
  CdrReader reader(data);
  BusMessage message;
  if (!forms_.bus.read(reader, message)) return false;
  buses_[bus] = {message.load, message.frames, message.refused};
  record_ = BusRecord{message.time, buses_};
  is_whole_ = bus + 1 == buses_.size();
  return true;
}

void OwnMessages::take_sample(const MessageSource& source, const FileMessage& message) {
  const auto bound = static_cast<std::uint64_t>(3 * time_bound.count());
  const auto since = Duration(static_cast<std::int64_t>(std::min(message.log_time, bound)));
  const auto schema = message.channel->metadata.find(channel_schema);
  const McapSchema* const type = source.schema(*message.channel);
  record_ = SampleRecord{
      takt_topic(*message.channel), Time(since - metadata_->epoch), message.data,
      schema != message.channel->metadata.end() ? std::string_view(schema->second) : std::string_view(),
      type != nullptr ? std::string_view(type->name) : std::string_view()};
}

}  // namespace takt::record
