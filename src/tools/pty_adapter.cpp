#include "tools/pty_adapter.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "takt/app/error.hpp"
#include "takt/can/slcan.hpp"

namespace takt::tools {
namespace {

namespace slcan = can::slcan;

class PtyAdapter final : public robot::CanPort {
 public:
  PtyAdapter(int terminal, std::string link) : terminal_(terminal), link_(std::move(link)) {}
  ~PtyAdapter() override {
    std::error_code ignored;
    std::filesystem::remove(link_, ignored);
    ::close(terminal_);
  }

  std::size_t send(std::span<const can::Frame> frames) noexcept override {
    for (const can::Frame& frame : frames) {
      if (!is_open_) continue;
      if (const auto line = slcan::encode_line(frame)) write(line->text());
      ++traffic_.frames;
    }
    return frames.size();
  }

  std::size_t receive(std::span<can::Frame> frames) noexcept override {
    std::size_t count = 0;
    while (count < frames.size()) {
      if (next_ == end_ && !read_more()) break;
      if (const auto frame = take(buffer_[next_++])) frames[count++] = *frame;
    }
    traffic_.frames += count;
    return count;
  }
  [[nodiscard]] robot::BusTraffic traffic() const noexcept override { return traffic_; }

 private:
  bool read_more() noexcept {
    const ssize_t got = ::read(terminal_, buffer_.data(), buffer_.size());
    next_ = 0;
    end_ = got > 0 ? static_cast<std::size_t>(got) : 0;
    if (got < 0 && errno == EIO) is_open_ = false;  // no program has the line open
    return end_ > 0;
  }

  /// The frame that this letter completes; std::nullopt if none. Any line is safe.
  std::optional<can::Frame> take(char letter) noexcept {
    if (letter != static_cast<char>(slcan::end_of_line)) {
      if (length_ < line_.size()) line_[length_] = letter;
      ++length_;
      return std::nullopt;
    }
    const std::size_t length = std::exchange(length_, 0);
    if (length > line_.size()) return answer(false), std::nullopt;
    const std::string_view line(line_.data(), length);
    const char command = line.empty() ? '\0' : line.front();
    if (std::string_view("tTrRdDbB").find(command) != std::string_view::npos) {
      const auto item = slcan::decode_line(line);
      if (!is_open_ || !item || item->kind != slcan::Item::Kind::frame) return answer(false), std::nullopt;
      write(line.front() >= 'a' ? "z\r" : "Z\r");
      return item->frame;
    }
    obey(command);
    return std::nullopt;
  }

  void obey(char command) noexcept {
    switch (command) {
      case 'O':
      case 'C':
        is_open_ = command == 'O';
        return answer(true);
      case 'V':
        return write("V1013\r");
      case 'F':
        return write(slcan::encode_line(slcan::AdapterStatus{}).text());
      case 'S':
      case 'Z':
      case '\0':
        return answer(true);
      default:
        return answer(false);
    }
  }
  void answer(bool done) noexcept { write(done ? "\r" : "\a"); }
  void write(std::string_view text) noexcept {
    if (::write(terminal_, text.data(), text.size()) < 0) ++traffic_.refused;
  }

  int terminal_;
  std::string link_;
  bool is_open_ = false;  ///< the channel
  std::array<char, 4096> buffer_{};
  std::size_t next_ = 0;  ///< in the buffer
  std::size_t end_ = 0;
  std::array<char, slcan::max_line> line_{};
  std::size_t length_ = 0;  ///< of the present line, also beyond the buffer
  robot::BusTraffic traffic_;
};

}  // namespace

SetupResult<std::unique_ptr<robot::CanPort>> open_pty_adapter(const std::string& link) {
  const auto failed = [&link](const char* what, int error) {
    return fail(app::Errc::bad_bus_address, "pty:" + link + ": " + what + ": " + std::strerror(error));
  };
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
  if (terminal < 0) return failed("cannot open a pseudo terminal", errno);
  std::array<char, 128> name{};
  if (::grantpt(terminal) != 0 || ::unlockpt(terminal) != 0 ||
      ::ptsname_r(terminal, name.data(), name.size()) != 0) {
    const int error = errno;
    ::close(terminal);
    return failed("cannot open a pseudo terminal", error);
  }
  termios settings{};
  ::tcgetattr(terminal, &settings);
  ::cfmakeraw(&settings);  // no echo, whatever is sent before the other end is set up
  ::tcsetattr(terminal, TCSANOW, &settings);
  std::error_code error;
  if (std::filesystem::is_symlink(link, error))
    std::filesystem::remove(link, error);  // left by a process that was killed
  std::filesystem::create_symlink(name.data(), link, error);
  if (error) {
    ::close(terminal);
    return failed("cannot link the terminal here", error.value());
  }
  return std::make_unique<PtyAdapter>(terminal, link);
}

}  // namespace takt::tools
