#include "tools/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

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

std::size_t terminal_columns() {
  winsize size{};
  const bool known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : 80;
}

}  // namespace takt::tools
