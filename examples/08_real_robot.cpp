// A robot in your own program: its file, its buses, a motion server, and a controlled stop on Ctrl-C. The
// room app assembles it, as `takt run` does. Move it with 01_hello_motion, takt send, or any client of the
// motion server:
//
//     08_real_robot my_arm.json                        # on the buses in the file
//     08_real_robot my_arm.json --bus arm=can1         # another interface for the bus "arm"
//     08_real_robot examples/robots/arm6.json --simulate
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <string>

#include "takt/app/robot.hpp"
#include "takt/motion/server.hpp"

using namespace takt;
using namespace std::chrono_literals;

namespace {

app::Robot* running = nullptr;

/// The robot's file; empty if the command line is wrong.
std::string read_command_line(int argc, char** argv, app::RobotOptions& options) {
  std::string file;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const std::string value = i + 1 < argc ? argv[i + 1] : "";
    const std::size_t equals = value.find('=');
    if (word == "--simulate") {
      options.devices.simulate = true;
    } else if (word == "--bus" && equals != std::string::npos) {
      options.devices.buses.push_back({value.substr(0, equals), value.substr(equals + 1)});
      ++i;
    } else if (word == "--port" && !value.empty()) {
      options.port = static_cast<std::uint16_t>(std::atoi(value.c_str()));
      ++i;
    } else if (file.empty() && !word.starts_with("--")) {
      file = word;
    } else {
      return "";
    }
  }
  return file;
}

}  // namespace

int main(int argc, char** argv) {
  app::RobotOptions options{.port = motion::default_port};
  options.thread.fifo = options.thread.lock_memory = rt::Want::attempt;  // real-time if the system permits it
  const std::string file = read_command_line(argc, argv, options);
  if (file.empty())
    return std::puts("08_real_robot FILE [--simulate] [--bus NAME=INTERFACE] [--port PORT]"), 2;

  const auto created = app::Robot::from_file(file, options);  // opens the buses; nothing moves yet
  if (!created) return std::fprintf(stderr, "%s\n", created.error().message.c_str()), 1;
  app::Robot& robot = **created;
  running = &robot;
  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, [](int) { running->shut_down(); });
  std::signal(SIGPIPE,
              SIG_IGN);  // a closed standard output must not end the program before the robot has stopped
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  std::puts(robot.place().c_str());

  auto loop =
      std::async(std::launch::async, [&robot] { return robot.run(); });  // returns when the robot has stopped
  bool ended = false;
  while (!ended) {
    ended = loop.wait_for(20ms) == std::future_status::ready;
    while (const auto line = robot.next_report()) std::puts(line->text.c_str());
  }
  const auto ran = loop.get();
  const auto totals = robot.finish();
  if (!ran) return std::fprintf(stderr, "%s\n", ran.error().message.c_str()), 1;
  if (totals) std::printf("%llu requests accepted\n", static_cast<unsigned long long>(totals->accepted));
  return robot.fault().reason == motion::Errc{} ? 0 : 1;
}
