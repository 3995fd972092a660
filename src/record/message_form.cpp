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

MessageForm::MessageForm(std::string_view schema) {
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
}

void MessageForm::write(CdrWriter& writer, std::span<const std::uint8_t> value) const {
  for (const Place& place : places_)
    writer.array(value.subspan(place.offset, place.count * place.size), place.size);
}

bool MessageForm::read(CdrReader& reader, std::span<std::uint8_t> value) const {
  for (const Place& place : places_) {
    const auto bytes = reader.array(place.count, place.size);
    std::copy(bytes.begin(), bytes.end(), value.begin() + static_cast<std::ptrdiff_t>(place.offset));
  }
  return reader.ok();
}

}  // namespace takt::record
