// takt's end of a serial CAN line and of a candump log, for python_can_test.py.
//
// - can_peer echo LINE: returns each frame of the line with the next identifier, until the input ends. Then
//   it prints its counters.
// - can_peer log FILE: writes the parsed log to standard output, and lines with errors to standard error.
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <string>

#include "takt/can/candump_file.hpp"
#include "takt/can/slcan_bus.hpp"
#include "takt/describe.hpp"
#include "takt/platform/serial_line.hpp"
#include "takt/platform/steady_clock.hpp"

using namespace takt;

namespace {

int fail_with(const SetupError& error) {
  std::fprintf(stderr, "%s\n", error.message.c_str());
  return 1;
}

int echo(const std::string& path) {
  auto line = platform::SerialLine::open(path, 1'000'000);
  if (!line) return fail_with(line.error());
  platform::SteadyClock clock;
  can::SlcanBus<platform::SerialLine, platform::SteadyClock, 65'536> bus(*line, clock);
  if (!bus.open(1'000'000)) return 1;
  std::puts("ready");
  std::fflush(stdout);
  std::array<pollfd, 2> wanted = {pollfd{line->descriptor(), POLLIN, 0}, pollfd{STDIN_FILENO, POLLIN, 0}};
  while (wanted[1].revents == 0 && line->status()) {
    ::poll(wanted.data(), wanted.size(), bus.waiting() > 0 ? 1 : 1000);
    std::array<can::Frame, 32> frames;
    const std::size_t count = bus.receive(frames);
    for (can::Frame& frame : std::span(frames).first(count)) ++frame.id;
    bus.send(std::span(frames).first(count));
  }
  const can::SlcanCounters& counted = bus.counters();
  std::printf("%ju %ju %ju %ju\n", std::uintmax_t{counted.received}, std::uintmax_t{counted.sent},
              std::uintmax_t{counted.malformed}, std::uintmax_t{counted.unexpected});
  return 0;
}

int copy_log(const std::string& path) {
  auto log = can::candump::LogFile::open(path);
  if (!log) return fail_with(log.error());
  while (const auto line = log->next()) {
    if (!*line) {
      std::fprintf(stderr, "line %ju, column %u: %s\n", std::uintmax_t{line->error().line},
                   line->error().column, std::string(describe(line->error().error)).c_str());
      continue;
    }
    const auto text = can::candump::format_line(**line);
    if (!text) return 1;
    std::printf("%s\n", std::string(text->text()).c_str());
  }
  return log->status() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  return argv[1] == std::string("echo") ? echo(argv[2]) : copy_log(argv[2]);
}
