#include "record/joint_state_message.hpp"

#include "record/standard_message.hpp"
#include "takt/core/bytes.hpp"

namespace takt::record {
namespace {

void read_numbers(CdrReader& reader, std::vector<double>& numbers) {
  numbers.resize(reader.length(sizeof(double)));
  for (double& number : numbers) number = reader.number<double>();
}

/// The count of elements that take at least `size` bytes each; 0 if the rest is too short.
std::size_t take_count(ByteReader& reader, std::size_t size) noexcept {
  const auto count = reader.little<std::uint32_t>();
  if (count <= reader.remaining() / size) return count;
  reader.skip(reader.remaining() + 1);  // fails
  return 0;
}

}  // namespace

const std::string& joint_state_schema() {
  static const std::string text =
      "std_msgs/Header header\nstring[] name\nfloat64[] position\nfloat64[] velocity\nfloat64[] effort\n" +
      std::string(header_definition);
  return text;
}

void write_joint_state(CdrWriter& writer, const JointStateMessage& message) {
  writer.begin();
  write_header(writer, message.stamp, message.frame);
  writer.number(static_cast<std::uint32_t>(message.names.size()));
  for (const std::string& name : message.names) writer.text(name);
  writer.numbers(message.positions);
  writer.numbers(message.velocities);
  writer.numbers(message.efforts);
}

bool read_joint_state(std::span<const std::uint8_t> message, JointStateView& view) {
  CdrReader reader(message, CdrReader::Order::any);
  static_cast<void>(reader.number<std::uint32_t>());  // the stamp
  static_cast<void>(reader.number<std::uint32_t>());
  static_cast<void>(reader.text());  // the frame
  view.names.resize(reader.length(sizeof(std::uint32_t)));
  for (std::string_view& name : view.names) name = reader.text();
  for (std::vector<double>* numbers : {&view.positions, &view.velocities, &view.efforts})
    read_numbers(reader, *numbers);
  return reader.ok();
}

bool read_ros1_joint_state(std::span<const std::uint8_t> message, JointStateView& view) {
  ByteReader reader(message);
  reader.skip(3 * sizeof(std::uint32_t));  // sequence, seconds, nanoseconds
  static_cast<void>(take_text(reader));    // the frame
  view.names.resize(take_count(reader, sizeof(std::uint32_t)));
  for (std::string_view& name : view.names) name = take_text(reader);
  for (std::vector<double>* numbers : {&view.positions, &view.velocities, &view.efforts}) {
    numbers->resize(take_count(reader, sizeof(double)));
    for (double& number : *numbers) number = reader.little<double>();
  }
  return reader.ok();
}

}  // namespace takt::record
