// The motion server as a machine without sockets, threads or clocks: lines of clients and the time go in, lines for clients and
// requests for the loop come out. It speaks the protocol of motion/wire.hpp, plans (motion/planner.hpp), numbers goals,
// keeps for every request who asked, and turns the loop's events back into replies. It is a LineService: give it to
// platform::LineServer to serve TCP.
//
//     motion::Server service(robot, channels.requests, channels.events, channels.state);
//     platform::LineServer lines;                       // 127.0.0.1, a free port
//     const auto port = lines.open({.port = 7470});
//     std::thread thread([&] { lines.run(service); });  // ... lines.stop(); thread.join();
//
// A client can disturb itself only: tables, queues and the requests in flight are bounded for each client and for all together,
// and nothing that it sends reaches the loop before it has been planned and found within the limits.
//
// Long messages cost time: a line of more than `read_at_once` bytes, and a motion of more than `plan_at_once` waypoints, joins a
// queue that an executor works off, piece by piece (planning_work.hpp); given a thread of its own, it holds up nobody else. A
// client's further motions wait behind its own. Cancels and stops do not wait, and what they overtake is recalled: a cancel of
// everything recalls all motions that are still to be planned, an emergency stop all that the loop has not been handed yet,
// resets included.
//
// A motion that says "when_busy":"queue" waits here until the goals that hold its joints have succeeded, and those that waited for
// them before it; it is planned only then, from where they ended. If one of them ends in any other way, it is recalled. Streams,
// and goals that are being stopped already, cannot succeed: they have only to end.
//
// A trajectory whose start is in the future waits here, too, and is planned shortly before: by 0.1 s, or 2 s where planning takes
// long; from where the goals that run then will have led to by its start. The engine then begins it in the right cycle, whatever
// this thread does.
//
// What was asked for before a fault does not move the robot after it: a reset, too, recalls all motions that have not begun.
//
// A stream that was stopped by others (cancelled, its joints taken, a fault) does not begin anew by the set-points of a client that
// has not noticed: they are refused (stream_ended) until the client has paused for its own time-out.
//
// A goal belongs to the client that asked for it. When the client vanishes the goal is stopped (client_lost), unless it said
// "on_disconnect":"continue"; streams always stop. Set-points of one client for one set of joints are one goal.
//
// One thread at a time. Allocates. The loop must have ended when a Server is destroyed, as it frees what the loop borrowed.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "takt/core/line_service.hpp"
#include "takt/core/time.hpp"
#include "takt/motion/planner.hpp"
#include "takt/motion/planning_work.hpp"
#include "takt/motion/request.hpp"
#include "takt/motion/snapshot.hpp"
#include "takt/motion/wire.hpp"
#include "takt/robot/description.hpp"
#include "takt/shm/latest_value.hpp"
#include "takt/shm/spsc_ring.hpp"

namespace takt::motion {

struct ServerOptions {
  std::size_t read_at_once = std::size_t{64} << 10;  ///< bytes; a longer line waits in the planning queue
  std::size_t plan_at_once = 64;                     ///< waypoints; a longer trajectory waits there too
  /// Works off the planning queue, one piece at a time. By default poll() does the work itself, one piece in each call.
  Executor executor = [](const std::function<void()>& work) { work(); };
  std::size_t max_waypoints = default_max_waypoints;
  std::size_t max_in_flight = 128;            ///< requests that the loop has not answered yet, of all clients
  std::size_t max_in_flight_per_client = 32;  ///< of one client; running goals do not count
  std::size_t max_goals = max_joints;         ///< active, of all clients
  std::size_t max_waiting = 256;  ///< requests that wait to be planned or for goals to end, of all clients
  std::size_t max_waiting_per_client = 32;
  std::size_t max_waiting_bytes = std::size_t{64} << 20;  ///< of their lines, of all clients
  std::size_t max_waiting_bytes_per_client = std::size_t{16} << 20;
  Duration farthest_start = std::chrono::hours(1);  ///< how far ahead a start may be
  double feedback_rate = 10;                        ///< Hz, "feedback" of each running trajectory or move
  /// False where the loop's clock is not the one that gives `now` (simulated time).
  bool report_latency = true;
  /// Told, on the server's thread, of every mark that a client makes, and of every request that the server refuses itself; what the
  /// loop refuses, the loop's events tell.
  std::function<void(Time now, std::string_view text)> on_mark;
  std::function<void(Time now, const Rejection& why)> on_refusal;
};

/// What the server counted since its beginning.
struct ServerCounters {
  std::uint64_t lines = 0;     ///< received
  std::uint64_t accepted = 0;  ///< requests that were answered so
  std::uint64_t rejected = 0;
  std::uint64_t errors = 0;  ///< lines that were no request
};

class Server {
 public:
  /// The server is the only producer of `requests` and the only reader of `events` and `state`; all must outlive it.
  Server(robot::RobotDescription robot, shm::SpscRing<Request*>& requests, shm::SpscRing<Event>& events,
         shm::LatestValue<Snapshot>& state, ServerOptions options = {});

  void connected(ClientId client, Time now);
  void received(ClientId client, std::string_view line, Time now);
  void refused(ClientId client, LineFault fault, Time now);
  void disconnected(ClientId client, Time now);
  /// Answers, results of goals, or a subscription.
  [[nodiscard]] bool owes(ClientId client) const;
  /// Hands requests over to the loop, takes in its events, sends what they, subscriptions and feedback ask for, and takes
  /// the planning queue on by one piece. Wants to be called again within 1 ms while the loop or the executor owes an answer or
  /// goals run, at once (0) while the executor is free and the queue is not empty, else within 10 ms.
  Duration poll(Time now);
  [[nodiscard]] std::vector<LineOutput> take_output() { return std::exchange(output_, {}); }

  /// What the buses of the robot really are open on, for reasons that name it: a text for each bus; fewer leave the rest as described.
  void set_interfaces(std::span<const std::string> interfaces);
  [[nodiscard]] const ServerCounters& counters() const noexcept { return counters_; }
  /// Goals that have not ended.
  [[nodiscard]] std::size_t goals() const noexcept { return goals_.size(); }
  /// Whether nothing is left to be done: no request waits, none is the loop's.
  [[nodiscard]] bool idle() const noexcept;
  /// Requests that the loop has not given back, those of running goals included.
  [[nodiscard]] std::size_t borrowed() const noexcept { return borrowed_.size(); }

 private:
  /// Set-points of one client for one set of joints.
  struct Stream {
    GoalId goal = 0;     ///< 0 = it was stopped, and may begin anew after a pause
    Time last{};         ///< when its last set-point came
    Duration timeout{};  ///< of that set-point
  };

  struct Client {
    std::size_t in_flight = 0;
    double state_rate = 0;  ///< Hz; 0 = not subscribed
    Time next_state{};
    std::string subscription_id;
    std::map<std::uint64_t, Stream> streams;  ///< by the bits of the joint set
  };

  /// A request that the loop has borrowed.
  struct Borrowed {
    std::unique_ptr<Request> request;
    ClientId client = 0;  ///< 0 = the server's own
    std::string id;
    std::uint64_t order = 0;  ///< rises from request to request
    bool answered = false;
  };

  struct Goal {
    ClientId client = 0;
    std::string id;
    RequestKind kind = RequestKind::trajectory;
    JointSet joints;
    OnDisconnect on_disconnect = OnDisconnect::stop;
    GoalState state = GoalState::pending;
    double duration = 0;
    double time = 0;  ///< s on its path, as it was last told
    Time next_feedback{};
    Request* first = nullptr;          ///< the request that began it, borrowed until the goal ends
    bool waited = false;               ///< it waited for others, and was accepted before that
    std::optional<Rejection> exceeds;  ///< a limit of its own that it began beyond
  };

  void handle(ClientId client, const std::string& id, const TrajectoryMessage& message, Time now);
  void handle(ClientId client, const std::string& id, const MoveMessage& message, Time now);
  void handle(ClientId client, const std::string& id, const SetpointMessage& message, Time now);
  void handle(ClientId client, const std::string& id, const CancelMessage& message, Time now);
  void handle(ClientId client, const std::string& id, const SpeedMessage& message, Time now);
  void handle(ClientId client, const std::string& id, const StateMessage& message, Time now);
  void handle(ClientId client, const std::string& id, const SubscribeMessage& message, Time now);
  void handle(ClientId client, const std::string& id, const EmergencyStopMessage& message, Time now);
  void handle(ClientId client, const std::string& id, const ResetMessage& message, Time now);
  void handle(ClientId client, const std::string& id, const MarkMessage& message, Time now);

  void take_message(ClientId client, PlanningWork::Read read, std::size_t bytes, Time now);
  void plan_or_queue(ClientId client, const std::string& id, MotionMessage message, Time now);
  void set_message(PlanningJob& job, MotionMessage message) const;
  [[nodiscard]] bool is_short(const PlanningJob& job) const;
  void plan_now(PlanningJob job);
  void take_plan(const PlanningJob& job, Plan&& planned);
  void continue_stream(const PlanningJob& job, Plan&& planned);
  void advance_planning(Time now);
  void take_work(Time now);
  void take_read(PlanningJob job, PlanningWork::Read read, Time now);

  [[nodiscard]] bool has_to_wait(PlanningJob& job) const;
  [[nodiscard]] bool may_begin(const PlanningJob& job) const;
  [[nodiscard]] Snapshot state_at_start(const PlanningJob& job) const;
  void begin_scheduled();
  void begin_waiting(std::vector<PlanningJob> jobs);
  [[nodiscard]] std::vector<GoalBefore> goals_before(const PlanningJob& job) const;
  void wait(PlanningJob job);
  [[nodiscard]] Rejection too_far(Time start, Time on_loop) const;
  void goal_ended(GoalId goal, bool succeeded);
  [[nodiscard]] bool has_room_to_wait(const PlanningJob& job) const;
  void recall_motions();
  [[nodiscard]] bool recall(GoalId goal);
  void recall_outbox(Time now);
  void refuse(const PlanningJob& job, Rejection why);
  void refuse(const PlanningJob& job, Errc reason);

  [[nodiscard]] bool may_stream(ClientId client, const SetpointMessage& message, Time now);
  void end_stream(const Goal& goal, GoalId number, Time now);
  void end_all_streams(Time now);
  void forget_stream(const Goal& goal, GoalId number);
  void stop_unwanted_stream(const Goal& goal, GoalId number, Time now);

  void begin_motion(const PlanningJob& job, Plan&& planned);
  void begin_goal(ClientId client, const std::string& id, Request& request, OnDisconnect on_disconnect);
  [[nodiscard]] bool has_room(ClientId client) const;
  [[nodiscard]] bool has_room(ClientId client, const std::string& id,
                              Time now);  ///< refuses if there is none
  void hand_over(ClientId client, const std::string& id, std::unique_ptr<Request> request, Time now);
  void cancel_goal(GoalId goal, Errc reason, Time now);
  void push_outbox(Time now);

  void take_event(const Event& event, Time now);
  void take_goal_event(const Event& event, Time now);
  [[nodiscard]] bool revive_stream(GoalId goal);
  void answer(Borrowed& borrowed, const Event& event);

  void accept(ClientId client, AcceptedReply reply);
  void reject(ClientId client, const std::string& id, Rejection why);
  void refuse(ClientId client, const std::string& id, Rejection why, Time now);
  void refuse(ClientId client, const std::string& id, Errc reason, Time now);
  void send(ClientId client, const ServerMessage& message, bool close = false);
  [[nodiscard]] Rejection why(const Event& event) const;
  [[nodiscard]] Rejection excess_of(const Event& event) const;
  void send_states(Time now);
  void send_feedback(Time now);
  void send_feedback(GoalId number, Goal& goal);
  [[nodiscard]] StateReply state_now() const;

  std::shared_ptr<const robot::RobotDescription> robot_;
  shm::SpscRing<Request*>* requests_;
  shm::SpscRing<Event>* events_;
  shm::LatestValue<Snapshot>* state_;
  ServerOptions options_;
  ServerCounters counters_;

  std::unordered_map<ClientId, Client> clients_;
  std::unordered_map<const Request*, Borrowed> borrowed_;
  std::unordered_map<GoalId, Goal> goals_;
  Time now_{};                             ///< the latest time that was given
  std::size_t line_bytes_ = 0;             ///< of the message that is being handled
  std::deque<PlanningJob> planning_;       ///< in order
  std::shared_ptr<PlanningWork> working_;  ///< what the executor does now, if anything
  std::deque<PlanningJob> waiting_;        ///< in order: motions that wait for goals to end
  std::deque<Request*> outbox_;            ///< in order, on their way into the ring; borrowed_ owns them
  GoalId last_goal_ = 0;
  std::uint64_t last_order_ = 0;
  std::size_t in_flight_ = 0;
  std::vector<LineOutput> output_;
};
static_assert(LineService<Server>);

}  // namespace takt::motion
