// The shortest program that moves a robot: it connects, requests a motion, and waits for the result. Run it
// against takt run examples/robots/arm6.json
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "takt/motion/client.hpp"
#include "takt/platform/steady_clock.hpp"
#include "takt/platform/tcp_stream.hpp"

using namespace takt;
using namespace std::chrono_literals;

int main(int argc, char** argv) {
  const int port = argc > 1 ? std::atoi(argv[1]) : motion::default_port;
  auto stream = platform::TcpStream::connect("127.0.0.1", static_cast<std::uint16_t>(port), 2s);
  if (!stream) return std::puts(stream.error().message.c_str()), 1;

  motion::Client robot(std::move(*stream), platform::SteadyClock());
  motion::MoveMessage move;
  move.joints.names = {"elbow_joint"};
  move.positions = {1.2};  // rad
  const auto accepted = robot.request({"", move}, 2s);
  if (!accepted) return std::puts(accepted.error().message.c_str()), 1;

  std::printf("accepted: %.2f s\n", accepted->duration.value_or(0));
  const auto result = robot.result(accepted->goal, 30s);
  if (!result) return std::puts(result.error().message.c_str()), 1;
  std::printf("%s\n", motion::state_name(result->state).data());
  return result->state == motion::GoalState::succeeded ? 0 : 1;
}
