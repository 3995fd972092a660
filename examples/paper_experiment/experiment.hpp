// What the experiments on both robots share: steps with an expected outcome, the motions that they are made of, and the file
// that tells what came out.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "session.hpp"

namespace paper {

/// Something that was tried, and whether it went as it should.
struct Step {
  std::string section;
  std::string name;
  std::string expected;
  std::string outcome;
  bool as_expected = false;
};

/// Position and velocity of the quintic from rest at `from` to rest at `to` in `duration` seconds, at `time`.
struct QuinticPoint {
  double position = 0;
  double velocity = 0;
};
[[nodiscard]] QuinticPoint rest_to_rest(double from, double to, double duration, double time);

/// A goal that is on its way, or its refusal.
struct Running {
  std::string name;
  std::optional<Answer> answer;
  double expected_duration = 0;  ///< s
};

/// Thrown out of a section that a pause of the machine made worthless.
struct Interruption {
  std::string why;
};

class Experiment {
 public:
  /// Measures all sections, or only the one of a name.
  explicit Experiment(Session& session, std::string only = {}) : session_(&session), only_(std::move(only)) {}

  [[nodiscard]] Session& session() { return *session_; }

  /// A section of the experiment: `body` runs between two marks in the recording. When a pause of the machine hits it, resets the
  /// robot, moves the joints back to where the section began and repeats it, three times at most. Throws Interruption when the
  /// last of them was hit, too.
  void measure(const std::string& name, const std::function<void()>& body);

  /// Sends a request and waits until it is answered, not until it ends.
  [[nodiscard]] Running start(std::string name, Body body, double expected_duration);
  /// start() of one that must be told to wait.
  [[nodiscard]] Running start_waiting(std::string name, Body body, double expected_duration);
  /// Waits until all of them have ended, each as expected.
  void await(const std::vector<Running>& goals, motion::GoalState expected = motion::GoalState::succeeded);
  /// start() and await() of one.
  void run(std::string name, Body body, double expected_duration);

  /// A request that makes no goal of its own, and that must be accepted.
  void ask(std::string name, Body body);

  /// A stream of set-points at a rate, the last one held for a moment, then cancelled. Expected: all are accepted, and the goal
  /// lives until it is cancelled.
  void stream(double rate, std::size_t count,
              const std::function<motion::SetpointMessage(std::size_t)>& make);
  /// Requests at a rate, each preempting the one before it. Expected: all are accepted, and the last one succeeds.
  void preempting_moves(double rate, std::size_t count,
                        const std::function<motion::MoveMessage(std::size_t)>& make);
  /// A request that must be refused for `reason`; where a joint is named, for a value near `value` of that joint.
  void expect_refusal(std::string name, Body body, motion::Errc reason, const std::string& joint = {},
                      double value = 0);

  /// Names a part that was left out.
  void skip(std::string what) { skipped_.push_back(std::move(what)); }
  /// Books a step. Throws Interruption when one that is not as expected was hit by a pause of the machine.
  void add(std::string name, std::string expected, std::string outcome, bool as_expected);

  /// Writes what came out, of what was measured; true if that is everything, nothing was lost and every step went as expected.
  [[nodiscard]] bool finish(const std::string& path) const;

 private:
  void expect_all_accepted();
  /// Waits until the robot is ready, resets it where it stopped, and moves all joints to `positions`, if there are any.
  void make_ready(const std::vector<double>& positions);

  Session* session_;
  std::string only_;
  std::vector<Step> steps_;
  std::vector<std::string> skipped_;
  struct Hit {
    std::string section;
    std::string why;
  };
  std::vector<Hit> hits_;            // one for each time that a pause hit a section
  std::optional<Hit> not_measured_;  // the section that was hit too often
};

/// The two experiments. `data` is the folder of the example data.
void run_on_mhubo(Experiment& experiment, const std::string& data);
void run_on_arm6(Experiment& experiment, const std::string& data);

/// The text of a file; ends the program when it cannot be read.
[[nodiscard]] std::string read_file(const std::string& path);

}  // namespace paper
