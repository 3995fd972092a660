#include "takt/platform/serial_line.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <optional>

#include "platform/descriptor.hpp"

namespace takt::platform {
namespace {

std::optional<speed_t> speed_of(std::uint32_t baud) {
  struct Speed {
    std::uint32_t baud;
    speed_t code;
  };
  constexpr std::array speeds = {
      Speed{9600, B9600},       Speed{19200, B19200},     Speed{38400, B38400},     Speed{57600, B57600},
      Speed{115200, B115200},   Speed{230400, B230400},   Speed{460800, B460800},   Speed{500000, B500000},
      Speed{576000, B576000},   Speed{921600, B921600},   Speed{1000000, B1000000}, Speed{1152000, B1152000},
      Speed{1500000, B1500000}, Speed{2000000, B2000000}, Speed{2500000, B2500000}, Speed{3000000, B3000000},
      Speed{3500000, B3500000}, Speed{4000000, B4000000}};
  for (const Speed& speed : speeds) {
    if (speed.baud == baud) return speed.code;
  }
  return std::nullopt;
}

/// Sets raw mode and the speed. Returns false if the terminal refuses.
bool make_raw(int descriptor, speed_t speed) {
  termios settings{};
  if (::tcgetattr(descriptor, &settings) != 0) return false;
  ::cfmakeraw(&settings);
  settings.c_cflag |= CLOCAL | CREAD;
  settings.c_cflag &= ~static_cast<tcflag_t>(CSTOPB | CRTSCTS);
  // With VMIN 1, read() distinguishes "no byte yet" (EAGAIN) from the end of the line (0).
  settings.c_cc[VMIN] = 1;
  settings.c_cc[VTIME] = 0;
  return ::cfsetspeed(&settings, speed) == 0 && ::tcsetattr(descriptor, TCSANOW, &settings) == 0 &&
         ::tcflush(descriptor, TCIFLUSH) == 0;
}

/// Why a line cannot be opened, with the command that fixes it or finds the program that uses it.
tl::unexpected<SetupError> no_line(const std::string& path, int number) {
  const auto failed = [&](Errc code, const std::string& remedy) {
    return fail(code, fmt::format("{}: {}{}", path, detail::text_of(number), remedy));
  };
  switch (number) {
    case ENOENT:
    case ENODEV:
    case ENXIO:
      return failed(Errc::no_such_serial_line, "; to list the connected adapters: ls /dev/serial/by-id");
    case EBUSY:
    case EWOULDBLOCK:
      return failed(Errc::serial_line_busy, fmt::format("; another program uses it: fuser -v {}", path));
    case EACCES:
    case EPERM:
      return failed(Errc::no_permission, "; sudo usermod -aG dialout $USER, then log in again");
    default:
      return failed(Errc::connect_failed, "");
  }
}

/// Whether a failed system call may succeed later.
bool is_transient(int number) { return number == EAGAIN || number == EWOULDBLOCK || number == EINTR; }

/// Whether the other end of the line is gone.
bool is_hang_up(int number) { return number == EIO || number == ENXIO || number == ENODEV; }

}  // namespace

SetupResult<SerialLine> SerialLine::open(const std::string& path, std::uint32_t baud) {
  const auto failed = [&](const std::string& why) {
    return fail(Errc::connect_failed, fmt::format("{}: {}", path, why));
  };
  const auto speed = speed_of(baud);
  if (!speed) return failed(fmt::format("{} bit/s is not a supported rate of a serial line", baud));
  SerialLine line(::open(path.c_str(), O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC));
  if (line.descriptor_ < 0) return no_line(path, errno);
  if (::isatty(line.descriptor_) == 0) return failed("not a serial line");
  // TIOCEXCL does not stop root, but the lock does. TIOCEXCL stops programs that do not lock.
  if (::flock(line.descriptor_, LOCK_EX | LOCK_NB) != 0) return no_line(path, errno);
  if (::ioctl(line.descriptor_, TIOCEXCL) != 0) return failed(detail::text_of(errno));
  if (!make_raw(line.descriptor_, *speed)) return failed(detail::text_of(errno));
  return line;
}

SerialLine::~SerialLine() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::size_t SerialLine::write(std::span<const std::uint8_t> bytes) noexcept {
  if (!status_ || bytes.empty()) return 0;
  const ssize_t taken = ::write(descriptor_, bytes.data(), bytes.size());
  if (taken >= 0) return static_cast<std::size_t>(taken);
  if (!is_transient(errno)) status_ = fail(is_hang_up(errno) ? Errc::connection_closed : Errc::send_failed);
  return 0;
}

std::size_t SerialLine::read(std::span<std::uint8_t> bytes) noexcept {
  if (!status_ || bytes.empty()) return 0;
  const ssize_t got = ::read(descriptor_, bytes.data(), bytes.size());
  if (got > 0) return static_cast<std::size_t>(got);
  if (got == 0 || is_hang_up(errno)) {
    status_ = fail(Errc::connection_closed);
  } else if (!is_transient(errno)) {
    status_ = fail(Errc::receive_failed);
  }
  return 0;
}

}  // namespace takt::platform
