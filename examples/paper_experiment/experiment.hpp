// The common part of the experiments on both robots: steps with an expected outcome, the motions, and the
// file of results.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "session.hpp"

namespace paper {

/// A step, and whether its outcome was as expected.
struct Step {
  std::string section;
  std::string name;
  std::string expected;
  std::string outcome;
  bool as_expected = false;
};

/// Position and velocity at `time` (s) of the quintic from rest at `from` to rest at `to` in `duration`
/// seconds.
struct QuinticPoint {
  double position = 0;
  double velocity = 0;
};
[[nodiscard]] QuinticPoint rest_to_rest(double from, double to, double duration, double time);

/// A running goal, or its rejection.
struct Running {
  std::string name;
  std::optional<Answer> answer;
  double expected_duration = 0;  ///< s
};

/// Thrown out of a section that a pause of the machine has spoilt.
struct Interruption {
  std::string why;
};

class Experiment {
 public:
  /// Measures all sections, or only the section named `only`.
  explicit Experiment(Session& session, std::string only = {}) : session_(&session), only_(std::move(only)) {}

  [[nodiscard]] Session& session() { return *session_; }

  /// Runs `body`, a section of the experiment, between two marks in the recording. If a pause of the machine
  /// interrupts it, resets the robot, moves the joints back to the start, and repeats it up to three times.
  /// Throws Interruption if the last try was interrupted too.
  void measure(const std::string& name, const std::function<void()>& body);

  /// Sends a request and waits for its answer, not for the end of its goal.
  [[nodiscard]] Running start(std::string name, Body body, double expected_duration);
  /// As start(), for a request that the server must queue.
  [[nodiscard]] Running start_waiting(std::string name, Body body, double expected_duration);
  /// Waits until all goals have ended, each as expected.
  void await(const std::vector<Running>& goals, motion::GoalState expected = motion::GoalState::succeeded);
  /// start() and await() for one request.
  void run(std::string name, Body body, double expected_duration);

  /// A request without a goal that must be accepted.
  void ask(std::string name, Body body);

  /// Streams set-points at `rate` Hz, holds the last one for a moment, and cancels. Expected: all are
  /// accepted, and the goal runs until it is cancelled.
  void stream(double rate, std::size_t count,
              const std::function<motion::SetpointMessage(std::size_t)>& make);
  /// Requests at a rate, each preempting the previous one. Expected: all are accepted, and the last one
  /// succeeds.
  void preempting_moves(double rate, std::size_t count,
                        const std::function<motion::MoveMessage(std::size_t)>& make);
  /// A request that must be rejected for `reason`. If `joint` is named, the rejection must report a value
  /// near `value` for it.
  void expect_refusal(std::string name, Body body, motion::Errc reason, const std::string& joint = {},
                      double value = 0);

  /// Records a part that was left out.
  void skip(std::string what) { skipped_.push_back(std::move(what)); }
  /// Records a step. Throws Interruption if a pause of the machine interrupted an unexpected one.
  void add(std::string name, std::string expected, std::string outcome, bool as_expected);

  /// Writes the results. Returns true if all sections were measured, no request was lost, and every step went
  /// as expected.
  [[nodiscard]] bool finish(const std::string& path) const;

 private:
  void expect_all_accepted();
  /// Waits until the robot is ready, resets it if it has stopped, and moves all joints to `positions` unless
  /// it is empty.
  void make_ready(const std::vector<double>& positions);

  Session* session_;
  std::string only_;
  std::vector<Step> steps_;
  std::vector<std::string> skipped_;
  struct Hit {
    std::string section;
    std::string why;
  };
  std::vector<Hit> hits_;            // one per interruption of a section
  std::optional<Hit> not_measured_;  // the section that was interrupted too often
};

/// The two experiments. `data` is the folder of the example data.
void run_on_mhubo(Experiment& experiment, const std::string& data);
void run_on_arm6(Experiment& experiment, const std::string& data);

/// The text of a file. Ends the program if it cannot be read.
[[nodiscard]] std::string read_file(const std::string& path);

}  // namespace paper
