// The parts of a motion server, for its sources. Sessions and replies are in server.cpp, goals and streams in
// server_goals.cpp, planning and waiting in server_planning.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "takt/motion/planner.hpp"
#include "takt/motion/planning_work.hpp"
#include "takt/motion/server.hpp"

namespace takt::motion {

/// Makes a request without a motion.
inline std::unique_ptr<Request> command(RequestKind kind, GoalId goal = 0) {
  auto request = std::make_unique<Request>();
  request->kind = kind;
  request->goal = goal;
  return request;
}

struct Server::Parts {
  Parts(robot::RobotDescription robot, shm::SpscRing<Request*>& requests, shm::SpscRing<Event>& events,
        shm::LatestValue<Snapshot>& state, ServerOptions options)
      : robot_(std::make_shared<const robot::RobotDescription>(std::move(robot))),
        requests_(&requests),
        events_(&events),
        state_(&state),
        options_(std::move(options)) {}

  // What Server's functions of these names do.
  void connected(ClientId client, Time now);
  void received(ClientId client, std::string_view line, Time now);
  void refused(ClientId client, LineFault fault);
  void disconnected(ClientId client, Time now);
  [[nodiscard]] bool owes(ClientId client) const;
  [[nodiscard]] Duration poll(Time now);
  void set_interfaces(std::span<const std::string> interfaces);
  [[nodiscard]] bool idle() const noexcept;

  /// The setpoints of one client for one set of joints.
  struct Stream {
    GoalId goal = 0;     ///< 0 = it was stopped, and may begin again after a pause
    Time last{};         ///< arrival of its last setpoint
    Duration timeout{};  ///< of that setpoint
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
    std::uint64_t order = 0;  ///< increases from request to request
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
    double time = 0;  ///< s on its path, as last reported by the loop
    Time next_feedback{};
    Request* first = nullptr;          ///< the request that began it, borrowed until the goal ends
    bool waited = false;               ///< it waited for others, after its "accepted"
    std::optional<Rejection> exceeds;  ///< a limit of its own that it exceeded at its beginning
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
  void handle(ClientId client, const std::string& id, const ControllersMessage& message, Time now);

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
  /// rejects the request if there is none
  [[nodiscard]] bool has_room(ClientId client, const std::string& id, Time now);
  void hand_over(ClientId client, const std::string& id, std::unique_ptr<Request> request, Time now);
  void cancel_goal(GoalId goal, Errc reason, Time now);
  void push_outbox(Time now);

  void advance_controllers(Time now);
  void answer(ControllersWork& work, Time now);
  void drop_controllers_requests(ClientId client);

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
  Time now_{};                             ///< the latest `now`
  std::size_t line_bytes_ = 0;             ///< bytes of the message being handled
  std::deque<PlanningJob> planning_;       ///< in order of arrival
  std::shared_ptr<PlanningWork> working_;  ///< the executor's present work, if any
  std::deque<PlanningJob> waiting_;        ///< in order: motions that wait for goals to end
  std::deque<Request*> outbox_;            ///< in order, not yet in the ring; borrowed_ owns them
  std::deque<std::shared_ptr<ControllersWork>> controllers_;  ///< in order of arrival; the first one runs
  GoalId last_goal_ = 0;
  std::uint64_t last_order_ = 0;
  std::size_t in_flight_ = 0;
  std::vector<LineOutput> output_;
};

}  // namespace takt::motion
