#include "tools/drive_input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <fstream>
#include <sstream>

#include "platform/descriptor.hpp"
#include "takt/motion/error.hpp"

namespace takt::tools {

bool KeyDriver::continues_escape(char key, Time now) {
  constexpr Duration longest = std::chrono::milliseconds(100);
  const char before = now - escaped_ <= longest ? escape_ : '\0';
  escape_ = '\0';
  if (key == '\x1b') {
    escape_ = key;
    escaped_ = now;
    return false;
  }
  const bool begins = before == '\x1b' && (key == '[' || key == 'O');
  const bool parameter = before == '[' && ((key >= ' ' && key < '@') || key == '[');
  if (begins) escape_ = key;
  if (parameter) escape_ = before;
  return begins || before == '[' || before == 'O';
}

DriveKey KeyDriver::press(char key, Time now) {
  if (continues_escape(key, now)) return DriveKey::none;
  twist_ = twist(now);  // an expired twist does not come back
  pressed_ = now;
  switch (key) {
    case 'w':
      twist_.forward = std::min(twist_.forward + forward_ / steps, forward_);
      break;
    case 's':
      twist_.forward = std::max(twist_.forward - forward_ / steps, -backward_);
      break;
    case 'a':
      twist_.rotation = std::min(twist_.rotation + rotation_ / steps, rotation_);
      break;
    case 'd':
      twist_.rotation = std::max(twist_.rotation - rotation_ / steps, -rotation_);
      break;
    case '.':
      break;
    case 'x':
    case 'X':
      twist_ = {};
      return DriveKey::stop_at_once;
    case 'c':
    case 'C':
      twist_ = {};
      return DriveKey::stop;
    case 'r':
      twist_ = {};
      return DriveKey::recover;
    case 'q':
    case 'Q':
      twist_ = {};
      return DriveKey::quit;
    default:  // the space bar, and keys pressed by mistake
      twist_ = {};
      break;
  }
  return DriveKey::none;
}

mobile::Twist KeyDriver::twist(Time now) const {
  if (!pressed_ || to_seconds(now - *pressed_) > hold_) return {};
  return twist_;
}

SetupResult<TwistScript> TwistScript::load(const std::string& path) {
  errno = 0;
  std::ifstream file(path);
  TwistScript script;
  int number = 0;
  for (std::string text; std::getline(file, text);) {
    ++number;
    std::istringstream words(text.substr(0, text.find('#')));
    if ((words >> std::ws).eof()) continue;
    Line line;
    const bool read = static_cast<bool>(words >> line.at >> line.twist.forward >> line.twist.rotation);
    const double before = script.lines_.empty() ? 0 : script.lines_.back().at;
    const bool finite =
        std::isfinite(line.at) && std::isfinite(line.twist.forward) && std::isfinite(line.twist.rotation);
    if (!read || !(words >> std::ws).eof() || !finite || line.at < before) {
      return fail(
          motion::Errc::malformed,
          fmt::format(
              "{}:{}: a line must be 'seconds m/s rad/s', and its time not before that of the last line",
              path, number));
    }
    script.lines_.push_back(line);
  }
  if (!file.is_open() || file.bad())
    return fail(motion::Errc::malformed,
                fmt::format("{}: cannot be read: {}", path, platform::detail::text_of(errno)));
  if (script.lines_.empty()) return fail(motion::Errc::malformed, path + ": the file has no twist");
  return script;
}

mobile::Twist TwistScript::twist(double at) const {
  const auto next = std::ranges::upper_bound(lines_, at, {}, &Line::at);
  return next == lines_.begin() ? mobile::Twist{} : std::prev(next)->twist;
}

std::ptrdiff_t TwistScript::beyond(const mobile::TwistLimiter::Limits& limits) const {
  return std::count_if(lines_.begin(), lines_.end() - 1, [&limits](const Line& line) {
    return line.twist.forward > limits.forward || line.twist.forward < -limits.backward ||
           std::abs(line.twist.rotation) > limits.rotation;
  });
}

}  // namespace takt::tools
