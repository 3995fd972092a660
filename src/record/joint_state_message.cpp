#include "record/joint_state_message.hpp"

#include <bit>
#include <cstddef>
#include <string_view>

namespace takt::record {
namespace {

/// Appends primitives. Each is aligned to its size, counted from the byte after the header.
class CdrWriter {
 public:
  void number(std::uint64_t value, std::size_t size) {
    while (body_.size() % size != 0) body_ += '\0';
    for (std::size_t i = 0; i < size; ++i) body_ += static_cast<char>(value >> (8 * i) & 0xFF);
  }
  void text(std::string_view text) {
    number(text.size() + 1, 4);
    body_ += text;
    body_ += '\0';
  }
  void numbers(std::span<const double> values) {
    number(values.size(), 4);
    for (const double value : values) number(std::bit_cast<std::uint64_t>(value), 8);
  }
  [[nodiscard]] std::string message() const { return std::string("\0\1\0\0", 4) + body_; }

 private:
  std::string body_;
};

}  // namespace

const char* joint_state_schema() noexcept {
  return R"(std_msgs/Header header
string[] name
float64[] position
float64[] velocity
float64[] effort
================================================================================
MSG: std_msgs/Header
builtin_interfaces/Time stamp
string frame_id
================================================================================
MSG: builtin_interfaces/Time
int32 sec
uint32 nanosec
)";
}

std::string joint_state_cdr(const JointStateMessage& message) {
  constexpr std::uint64_t second = 1'000'000'000;
  CdrWriter writer;
  writer.number(message.stamp / second, 4);
  writer.number(message.stamp % second, 4);
  writer.text(message.frame);
  writer.number(message.names.size(), 4);
  for (const std::string& name : message.names) writer.text(name);
  writer.numbers(message.positions);
  writer.numbers(message.velocities);
  writer.numbers(message.efforts);
  return writer.message();
}

}  // namespace takt::record
