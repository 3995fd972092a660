// The long parts of a motion server's work: parsing a message of megabytes, or planning a motion through
// thousands of waypoints. Each piece uses only the data that it was made with. So another thread can do it
// while the server answers other clients. Without such a thread the server does it itself, with the same
// result.
//
// Not real-time safe: it allocates.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "takt/core/joint.hpp"
#include "takt/core/line_service.hpp"
#include "takt/core/time.hpp"
#include "takt/motion/planner.hpp"
#include "takt/motion/snapshot.hpp"
#include "takt/motion/wire.hpp"
#include "takt/robot/description.hpp"

namespace takt::motion {

/// Runs a piece of work, at once or soon on another thread (platform/worker.hpp).
using Executor = std::function<void(std::function<void()>)>;

/// The message of a request for motion.
using MotionMessage = std::variant<TrajectoryMessage, MoveMessage, SetpointMessage>;

/// A goal that a queued request waits for.
struct GoalBefore {
  GoalId goal = 0;
  bool must_succeed = true;  ///< otherwise it only has to end
};

/// A request between the client's line and the plan.
struct PlanningJob {
  ClientId client = 0;                               ///< who sent it
  std::string id;                                    ///< of the request; unknown before the line is parsed
  std::variant<std::string, MotionMessage> request;  ///< the line, or the parsed message
  std::size_t bytes = 0;                             ///< of the line
  Time received{};                                   ///< when its last byte arrived, on the server's clock
  std::optional<Time> start;                         ///< when the motion begins, on the loop's clock
  GoalId goal = 0;                                   ///< 0 = the client was given no number yet
  JointSet joints;                                   ///< of the message; empty if it names an unknown joint
  std::vector<GoalBefore> before;                    ///< goals that it waits for
  bool recalled = false;                             ///< reject it as soon as its id is known
};

/// One piece of work for one job: parses the line, or plans the message.
class PlanningWork {
 public:
  using Read = tl::expected<ClientMessage, ParseFailure>;  ///< a parsed line, or why it is no message.

  /// Takes the job and a copy of the state. `max_waypoints` is the limit for one trajectory message.
  PlanningWork(PlanningJob job, std::shared_ptr<const robot::RobotDescription> robot, const Snapshot& state,
               std::size_t max_waypoints)
      : job_(std::move(job)), robot_(std::move(robot)), state_(state), max_waypoints_(max_waypoints) {}

  /// Does the work. Call it once, on any one thread.
  void run() {
    if (const auto* line = std::get_if<std::string>(&job_.request)) {
      result_ = parse_client_message(*line, max_waypoints_);
    } else {
      result_ = std::visit([this](const auto& message) { return plan(message, *robot_, state_); },
                           std::get<MotionMessage>(job_.request));
    }
    done_.store(true, std::memory_order_release);  // Release: a thread that reads true also sees the result.
  }

  /// Whether run() has ended. After that the owner may use result(); job() is the owner's at any time.
  [[nodiscard]] bool done() const noexcept {
    return done_.load(std::memory_order_acquire);  // acquire: pairs with run()'s release
  }
  /// The parsed message or the plan. Valid once done() is true.
  [[nodiscard]] std::variant<Read, Plan>& result() noexcept { return result_; }

  /// The job. run() reads only its `request`; the owner may change every other field.
  [[nodiscard]] PlanningJob& job() noexcept { return job_; }

 private:
  PlanningJob job_;
  std::shared_ptr<const robot::RobotDescription> robot_;
  Snapshot state_;
  std::size_t max_waypoints_;
  std::variant<Read, Plan> result_;
  std::atomic<bool> done_{false};
};

}  // namespace takt::motion
