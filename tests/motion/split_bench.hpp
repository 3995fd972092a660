// A whole robot in virtual time, with the motion server beside its loop or at the other end of a link. It
// records all lines to clients and all references, bit for bit.
#pragma once

#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "motion/wire_support.hpp"
#include "takt/app/devices.hpp"
#include "takt/core/manual_clock.hpp"
#include "takt/motion/loop.hpp"
#include "takt/motion/remote_loop.hpp"
#include "takt/motion/request_gateway.hpp"
#include "takt/motion/server.hpp"

namespace takt::test {

/// A line of a client, this many cycles after the robot was ready.
struct Line {
  std::uint64_t cycle = 0;
  std::string text;
  ClientId client = 1;
};

/// The result as seen from outside.
struct Course {
  std::vector<std::string> lines;         ///< to clients
  std::vector<std::uint64_t> references;  ///< bits of all references of all cycles
  motion::ServerCounters counters;
};

class SplitBench final : public motion::LoopObserver {
 public:
  enum class Form { together, split };

  SplitBench(robot::RobotDescription description, Form form, motion::ServerOptions options = {})
      : robot(std::move(description)),
        form_(form),
        hardware_(std::move(app::Devices::create(robot, {.simulate = true, .start = clock.now()}).value())),
        gateway(robot, beside_loop),
        remote(robot, beside_server),
        loop(std::move(*motion::Loop<ManualClock>::create(clock, robot, *hardware_, beside_loop, *this))) {
    motion::Channels& channels = form == Form::together ? beside_loop : beside_server;
    server = std::make_unique<motion::Server>(robot, channels.requests, channels.events, channels.state,
                                              std::move(options));
    for (const ClientId client : {ClientId{1}, ClientId{2}}) server->connected(client, clock.now());
    if (form == Form::split) connect();
  }

  /// A new link between server and loop.
  void connect() {
    links_.push_back(std::make_unique<motion::Link>());
    gateway.attach(*links_.back());
    REQUIRE(remote.attach(*links_.back()));
  }
  motion::Link& link() { return *links_.back(); }

  /// Plays the lines, and continues until `cycles` after ready.
  Course play(std::vector<Line> lines, std::uint64_t cycles) {
    lines_ = std::move(lines);
    last_cycle_ = cycles;
    REQUIRE(loop->run());
    server_turn(clock.now());
    course.counters = server->counters();
    return std::move(course);
  }

  void before_cycle(Time now) noexcept override {
    server_turn(now);
    if (!ready_) return;
    while (next_ < lines_.size() && lines_[next_].cycle <= cycle_) {
      server->received(lines_[next_].client, lines_[next_].text, now);
      ++next_;
    }
    server_turn(now);
    if (cycle_ == last_cycle_) loop->shut_down();
  }
  void after_cycle(const motion::Snapshot& snapshot) noexcept override {
    state = snapshot;
    for (std::size_t i = 0; i < snapshot.joint_count; ++i) {
      const MotionState& reference = snapshot.joints[i].reference;
      for (const double number : {reference.position, reference.velocity, reference.acceleration})
        course.references.push_back(std::bit_cast<std::uint64_t>(number));
    }
    if (ready_) ++cycle_;
    ready_ = ready_ || snapshot.state == motion::RobotState::ready;
    if (each_cycle) each_cycle(cycle_);
  }
  void on_event(const motion::Event& event) noexcept override { events.push_back(event); }

  robot::RobotDescription robot;

 private:
  Form form_;

 public:
  ManualClock clock;

 private:
  std::unique_ptr<app::Devices> hardware_;

 public:
  motion::Channels beside_loop;
  motion::Channels beside_server;
  motion::RequestGateway gateway;
  motion::RemoteLoop remote;
  std::unique_ptr<motion::Loop<ManualClock>> loop;
  std::unique_ptr<motion::Server> server;
  bool server_lives = true;
  motion::Snapshot state;  ///< of the loop's last cycle
  std::vector<motion::Event> events;
  std::function<void(std::uint64_t cycle)> each_cycle;
  Course course;

 private:
  void server_turn(Time now) {
    carry(now);
    if (server_lives) static_cast<void>(server->poll(now));
    carry(now);
    for (const LineOutput& output : server->take_output())
      course.lines.push_back(std::to_string(output.client) + ": " + output.bytes);
  }
  /// Polls until nothing moves any more, because virtual time stands still.
  void carry(Time now) {
    if (form_ == Form::together) return;
    for (bool more = true; more;) {
      more = gateway.poll(now) == Duration(0);
      if (server_lives) more = remote.poll(now) == Duration(0) || more;
    }
    gateway.poll(now);
  }

  std::vector<std::unique_ptr<motion::Link>> links_;
  std::vector<Line> lines_;
  std::size_t next_ = 0;
  bool ready_ = false;
  std::uint64_t cycle_ = 0;
  std::uint64_t last_cycle_ = 0;
};

}  // namespace takt::test
