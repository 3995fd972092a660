// The parts of a motion server's work that may take long: reading a message of megabytes, planning a motion through thousands of
// waypoints. Each is one piece that looks at nothing but what it was made with, so that it can be done on another thread while
// the server answers everybody else; where there is no other thread the server does it itself, with the same result.
//
// Allocates; for the side without deadlines.
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

/// Does a piece of work, here and now or soon on another thread (platform/worker.hpp).
using Executor = std::function<void(std::function<void()>)>;

/// The message of a request for motion.
using MotionMessage = std::variant<TrajectoryMessage, MoveMessage, SetpointMessage>;

/// A goal that another one waits for.
struct GoalBefore {
  GoalId goal = 0;
  bool must_succeed = true;  ///< else it only has to end
};

/// A request that is on its way from the client's line to a plan.
struct PlanningJob {
  ClientId client = 0;
  std::string id;                                    ///< of the request; unknown while it is a line
  std::variant<std::string, MotionMessage> request;  ///< the line, or the message that it was
  std::size_t bytes = 0;                             ///< of the line
  Time received{};
  std::optional<Time> start;       ///< of a motion that is to begin then, on the loop's clock
  GoalId goal = 0;                 ///< 0 = no number was given to the client yet
  JointSet joints;                 ///< of the message; empty where it names one that the robot has not
  std::vector<GoalBefore> before;  ///< what it waits for
  bool recalled = false;           ///< to be refused as soon as its id is known
};

/// A piece of work for one job: the line is read, or the message is planned.
class PlanningWork {
 public:
  using Read = tl::expected<ClientMessage, ParseFailure>;

  PlanningWork(PlanningJob job, std::shared_ptr<const robot::RobotDescription> robot, const Snapshot& state,
               std::size_t max_waypoints)
      : job_(std::move(job)), robot_(std::move(robot)), state_(state), max_waypoints_(max_waypoints) {}

  /// Does the work. On any one thread, once.
  void run() {
    if (const auto* line = std::get_if<std::string>(&job_.request)) {
      result_ = parse_client_message(*line, max_waypoints_);
    } else {
      result_ = std::visit([this](const auto& message) { return plan(message, *robot_, state_); },
                           std::get<MotionMessage>(job_.request));
    }
    done_.store(true, std::memory_order_release);  // release: whoever sees it sees the result
  }

  /// Whether run() has ended. The rest is for the owner: the job at any time, the result from then on.
  [[nodiscard]] bool done() const noexcept {
    return done_.load(std::memory_order_acquire);  // acquire: pairs with run()'s release
  }
  [[nodiscard]] std::variant<Read, Plan>& result() noexcept { return result_; }

  /// run() reads the request only; everything else in it is the owner's.
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
