// The motion server, without sockets, threads or clocks. Lines of clients and the time go in; lines for
// clients and requests for the loop come out. It speaks the protocol of motion/wire.hpp, plans
// (motion/planner.hpp), numbers goals, remembers which client sent each request, and turns the loop's events
// into replies. It is a LineService: platform::LineServer serves it over TCP.
//
//     motion::Server service(robot, channels.requests, channels.events, channels.state);
//     platform::LineServer lines;
//     const auto port = lines.open({.port = 7470});     // on 127.0.0.1
//
//     std::thread thread([&] { lines.run(service); });  // at the end: lines.stop(); thread.join();
//
// Protection. A client can only disturb itself. Tables, queues and requests in flight are bounded, per client
// and in total. The loop gets only requests that were planned and found within the limits.
//
// Long messages. A line of more than `read_at_once` bytes, or a motion of more than `plan_at_once` waypoints,
// joins the planning queue. An executor works on that queue piece by piece (planning_work.hpp). If the
// executor has its own thread, other clients do not wait. A client's later motions wait behind its earlier
// ones. Cancels and stops do not wait, and they recall what they overtake. A cancel of everything recalls all
// motions that are not planned yet. An emergency stop recalls every request that the loop has not got yet,
// resets included.
//
// Queued motions. A motion with "when_busy":"queue" waits here for the goals that hold its joints, and for
// motions that waited for these goals before it. After they succeed, it is planned from where they ended. If
// one of them ends otherwise, the motion is recalled. Streams, and goals that already stop, cannot succeed:
// they only have to end.
//
// Start times. A trajectory with a start in the future also waits here. It is planned 0.1 s before its start,
// or 2 s before if planning takes long. The plan begins where the running goals will be at that time. The
// controller begins it in the right cycle, independent of this thread.
//
// Faults. A request from before a fault does not move the robot after it: a reset, too, recalls all motions
// that have not begun.
//
// Streams. If a cancel, another goal or a fault stops a stream, its client may not notice at once. Its
// setpoints are refused (stream_ended) until it pauses for its own timeout. Setpoints of one client for one
// set of joints are one goal.
//
// Lost clients. A goal belongs to its client. When the client vanishes, the goal is stopped (client_lost),
// unless it said "on_disconnect":"continue". Streams always stop.
//
// Controllers. Requests to the robot's manager of controllers are answered by the owner of the loop's process
// (ServerOptions::controllers), one at a time. Such a request may wait for the loop, and only other ones of
// its kind wait for it.
//
// Not real-time safe: it allocates. Use it from one thread at a time. The loop must have ended before a
// Server is destroyed, because the destructor frees the requests that the loop borrowed.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "takt/core/line_service.hpp"
#include "takt/core/time.hpp"
#include "takt/motion/controllers_work.hpp"
#include "takt/motion/planning_work.hpp"
#include "takt/motion/request.hpp"
#include "takt/motion/snapshot.hpp"
#include "takt/motion/wire.hpp"
#include "takt/robot/description.hpp"
#include "takt/shm/latest_value.hpp"
#include "takt/shm/spsc_ring.hpp"

namespace takt::motion {

/// The settings of a Server.
struct ServerOptions {
  std::size_t read_at_once = std::size_t{64} << 10;  ///< bytes; a longer line joins the planning queue
  std::size_t plan_at_once = 64;                     ///< waypoints; a longer trajectory joins it too
  /// Works on the planning queue, one piece at a time. The default does the work inside poll(), one piece per
  /// call.
  Executor executor = [](const std::function<void()>& work) { work(); };
  /// The most waypoints in one trajectory message.
  std::size_t max_waypoints = default_max_waypoints;
  std::size_t max_in_flight = 128;            ///< requests that the loop has not answered, in total
  std::size_t max_in_flight_per_client = 32;  ///< the same per client; running goals do not count
  std::size_t max_goals = max_joints;         ///< active goals, in total
  std::size_t max_waiting = 256;            ///< requests that wait for planning or for goals to end, in total
  std::size_t max_waiting_per_client = 32;  ///< the same per client
  std::size_t max_waiting_bytes = std::size_t{64} << 20;             ///< bytes of their lines, in total
  std::size_t max_waiting_bytes_per_client = std::size_t{16} << 20;  ///< the same per client
  Duration farthest_start = std::chrono::hours(1);                   ///< how far ahead a start may be
  double feedback_rate = 10;  ///< Hz, "feedback" of each running trajectory or move
  /// Set it to false if the loop's clock differs from the clock of `now` (simulated time).
  bool report_latency = true;
  /// Callbacks on the server's thread: each mark of a client, and each request that the server refuses
  /// itself. The loop's events report what the loop refuses.
  std::function<void(Time now, std::string_view text)> on_mark;
  std::function<void(Time now, const Rejection& why)> on_refusal;
  /// Callback on the server's thread: each request, right before the loop can take it, in that order.
  std::function<void(Time now, const Request& request)> on_hand_over{};
  /// Answers "controllers" requests. Null: they are rejected (no_controllers).
  ControllersDesk controllers;
  /// Runs `controllers`, one request at a time. The default runs it inside received() and poll().
  Executor controllers_executor = [](const std::function<void()>& work) { work(); };
  std::size_t max_controllers_requests = 64;            ///< that are not answered, in total
  std::size_t max_controllers_requests_per_client = 8;  ///< the same per client
};

/// Totals since the server's construction.
struct ServerCounters {
  std::uint64_t lines = 0;     ///< received
  std::uint64_t accepted = 0;  ///< requests answered with "accepted"
  std::uint64_t rejected = 0;  ///< requests answered with "rejected"
  std::uint64_t errors = 0;    ///< lines that are no request
};

/// The motion server. It satisfies LineService.
class Server {
 public:
  /// The server is the only producer of `requests` and the only reader of `events` and `state`. All three
  /// must outlive it.
  Server(robot::RobotDescription robot, shm::SpscRing<Request*>& requests, shm::SpscRing<Event>& events,
         shm::LatestValue<Snapshot>& state, ServerOptions options = {});
  ~Server();
  Server(Server&&) noexcept;
  Server& operator=(Server&&) noexcept;

  /// A client connected. Sends it the greeting. Argument `now` of all functions: the caller's clock, at the
  /// time of the call.
  void connected(ClientId client, Time now);
  /// A client sent a complete line, without its '\n'.
  void received(ClientId client, std::string_view line, Time now);
  /// The transport refused a line or a connection, for the reason `fault`. Answers with an error and closes
  /// the connection.
  void refused(ClientId client, LineFault fault, Time now);
  /// A client vanished: its goals stop unless they continue by "on_disconnect".
  void disconnected(ClientId client, Time now);
  /// Whether the server still owes this client an answer, a goal's result, or a subscription's state.
  [[nodiscard]] bool owes(ClientId client) const;
  /// Hands requests to the loop and takes its events. Sends answers, subscriptions and feedback. Advances the
  /// planning queue by one piece. Returns the time until the next necessary call. It is 0 while the executor
  /// is free and the queue is not empty. It is at most 1 ms while the loop or the executor owes an answer or
  /// goals run. Otherwise it is at most 10 ms.
  Duration poll(Time now);
  /// Moves out the lines for the clients, in order.
  [[nodiscard]] std::vector<LineOutput> take_output();

  /// Sets the interface that each bus uses, for messages that name it. Buses without an entry keep the
  /// description's.
  void set_interfaces(std::span<const std::string> interfaces);
  /// Totals since the server's construction.
  [[nodiscard]] const ServerCounters& counters() const noexcept;
  /// The number of goals that have not ended.
  [[nodiscard]] std::size_t goals() const noexcept;
  /// Whether no request waits and the loop has borrowed none.
  [[nodiscard]] bool idle() const noexcept;
  /// The number of requests that the loop has not given back, including those of running goals.
  [[nodiscard]] std::size_t borrowed() const noexcept;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};
static_assert(LineService<Server>);

}  // namespace takt::motion
