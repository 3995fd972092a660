#include "tools/terminal.hpp"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>

namespace takt::tools {

bool in_background() {
  // -1 of what is no terminal, or not the one that controls us.
  const pid_t foreground = ::tcgetpgrp(STDIN_FILENO);
  return foreground >= 0 && foreground != ::getpgrp();
}

RawTerminal::RawTerminal() {
  termios settings{};
  if (in_background() || ::tcgetattr(STDIN_FILENO, &settings) != 0) return;
  before_ = settings;
  settings.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  settings.c_cc[VSUSP] = _POSIX_VDISABLE;
  ::tcsetattr(STDIN_FILENO, TCSANOW, &settings);
}

RawTerminal::~RawTerminal() {
  if (before_ && !in_background()) ::tcsetattr(STDIN_FILENO, TCSANOW, &*before_);
}

std::string TypedText::take() {
  pollfd entry{STDIN_FILENO, POLLIN, 0};
  if (ended_ || in_background() || ::poll(&entry, 1, 0) <= 0) return {};
  std::array<char, 256> buffer;
  const ssize_t got = ::read(STDIN_FILENO, buffer.data(), buffer.size());
  ended_ = got <= 0;
  return ended_ ? std::string{} : std::string(buffer.data(), static_cast<std::size_t>(got));
}

namespace {

winsize terminal_size() {
  winsize size{};
  const bool known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
  if (!known || size.ws_col == 0) size.ws_col = 80;
  if (!known || size.ws_row == 0) size.ws_row = 24;
  return size;
}

}  // namespace

std::size_t terminal_columns() { return terminal_size().ws_col; }

std::size_t terminal_rows() { return terminal_size().ws_row; }

}  // namespace takt::tools
