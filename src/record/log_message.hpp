// A message of the topic /log, in Foxglove's form.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "record/cdr.hpp"

namespace takt::record {

inline constexpr std::string_view log_topic_name = "/log";
inline constexpr std::string_view log_message_type = "foxglove_msgs/msg/Log";

struct LogMessage {
  std::uint64_t unix_time = 0;  ///< ns
  std::uint8_t level = 0;       ///< as rt::LogLevel
  std::string_view text;
  std::string_view source;

  /// The definition, in the encoding "ros2msg".
  [[nodiscard]] static std::string definition() {
    return "builtin_interfaces/Time timestamp\nuint8 level\nstring message\nstring name\nstring file\n"
           "uint32 line\n" +
           std::string(80, '=') + "\nMSG: builtin_interfaces/Time\nint32 sec\nuint32 nanosec\n";
  }

  /// Writes a whole message.
  void write(CdrWriter& writer) const {
    writer.begin();
    writer.number(static_cast<std::uint32_t>(unix_time / second));
    writer.number(static_cast<std::uint32_t>(unix_time % second));
    writer.number(level);
    writer.text(text);
    writer.text(source);
    writer.text({});  // file
    writer.number(std::uint32_t{0});
  }

  /// Reads what comes before the file's name. The texts point into the message. Returns false if it is too
  /// short.
  [[nodiscard]] bool read(std::span<const std::uint8_t> message) noexcept {
    CdrReader reader(message);
    const auto seconds = reader.number<std::uint32_t>();
    unix_time = seconds * second + reader.number<std::uint32_t>();
    level = reader.number<std::uint8_t>();
    text = reader.text();
    source = reader.text();
    return reader.ok();
  }

 private:
  static constexpr std::uint64_t second = 1'000'000'000;
};

}  // namespace takt::record
