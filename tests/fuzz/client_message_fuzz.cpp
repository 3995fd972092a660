// Fuzzes lines to the motion server, and files for sending, with any bytes. The result is either a message
// that survives writing and reading, or a rejection with a reason.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <variant>

#include "takt/motion/wire.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace takt::motion;
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): bytes as text
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto message = parse_client_message(text, 100);
  if (message) {
    const auto again = parse_client_message(to_line(*message), 100);
    if (!again || !(*again == *message)) std::abort();
  } else if (message.error().why.reason == Errc{} || message.error().why.message.empty()) {
    std::abort();
  }
  const auto file = parse_motion_file(text, 100);
  if (file && !parse_client_message(to_line(*file), 100)) std::abort();
  if (file && std::holds_alternative<TrajectoryMessage>(file->body)) {
    const auto again = parse_motion_file(to_joint_trajectory(std::get<TrajectoryMessage>(file->body)), 100);
    // Times less than a nanosecond apart become equal.
    if (!again && again.error().why.reason != Errc::times_not_increasing) std::abort();
  }
  return 0;
}
