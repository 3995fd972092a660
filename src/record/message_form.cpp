#include "record/message_form.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace takt::record {
namespace {

/// In the order of takt::Scalar.
constexpr std::array<std::string_view, 10> ros2_names = {"uint8", "uint16", "uint32", "uint64",  "int8",
                                                         "int16", "int32",  "int64",  "float32", "float64"};

/// Names of ROS 2 are lower case, without dots.
std::string ros2_name(std::string_view name) {
  std::string result;
  for (const char c : name) {
    if (c >= 'A' && c <= 'Z')
      result += static_cast<char>(c - 'A' + 'a');
    else
      result += c == '.' ? '_' : c;
  }
  return result;
}

}  // namespace

MessageForm::MessageForm(std::string_view schema, std::string_view message_type) {
  const Result<shm::Fields> fields = shm::parse_schema(schema);
  if (!fields) return;
  size_ = fields->bytes;
  for (const shm::Field& field : fields->all()) {
    if (field.is_padding()) continue;
    places_.push_back({field.offset, field.count, bytes_of(field.type)});
    const std::string_view type = ros2_names[static_cast<std::size_t>(field.type)];
    definition_ += field.is_array ? fmt::format("{}[{}] {}\n", type, field.count, ros2_name(field.name))
                                  : fmt::format("{} {}\n", type, ros2_name(field.name));
  }
  const StandardMessage* const standard = standard_message(schema);
  if (standard == nullptr || standard->name != message_type) return;
  standard_ = standard;
  definition_ = standard->definition;
  for (std::size_t i = 0; i < std::min(places_.size(), standard->covariances.size()); ++i)
    places_[i].covariances = standard->covariances[i];
}

void MessageForm::write(CdrWriter& writer, std::span<const std::uint8_t> value,
                        const MessageHeader& header) const {
  if (standard_ != nullptr && standard_->write != nullptr)
    return standard_->write(writer, header.stamp, value);
  if (standard_ != nullptr) write_header(writer, header.stamp, header.frame);
  for (const Place& place : places_) {
    const auto bytes = value.subspan(place.offset, place.count * place.size);
    writer.array(bytes, place.size);
    if (place.covariances == 0) continue;
    std::array<double, 9> unknown{};
    const bool is_quaternion = place.count == 4;
    if (is_quaternion && std::ranges::all_of(bytes, [](std::uint8_t byte) { return byte == 0; }))
      unknown[0] = -1;
    for (std::size_t i = 0; i < place.covariances; ++i) writer.number(unknown[i]);
  }
}

bool MessageForm::read(CdrReader& reader, std::span<std::uint8_t> value) const {
  if (standard_ != nullptr) {
    static_cast<void>(reader.number<std::uint64_t>());  // the stamp
    static_cast<void>(reader.text());
    if (standard_->read != nullptr) {
      standard_->read(reader, value);
      return reader.ok();
    }
  }
  for (const Place& place : places_) {
    const auto bytes = reader.array(place.count, place.size);
    std::copy(bytes.begin(), bytes.end(), value.begin() + static_cast<std::ptrdiff_t>(place.offset));
    static_cast<void>(reader.array(place.covariances, sizeof(double)));
  }
  return reader.ok();
}

}  // namespace takt::record
