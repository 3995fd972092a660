// What the experiments on both robots share: steps with an expected outcome, the motions that they are made of, and the file
// that tells what came out.
#pragma once

#include <cstdint>
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

class Experiment {
 public:
  explicit Experiment(Session& session) : session_(&session) {}

  [[nodiscard]] Session& session() { return *session_; }
  void begin_section(const std::string& name);

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
  void add(std::string name, std::string expected, std::string outcome, bool as_expected);

  /// Writes what came out; true if nothing was lost and every step went as expected.
  [[nodiscard]] bool finish(const std::string& path) const;

 private:
  void expect_all_accepted();

  Session* session_;
  std::vector<Step> steps_;
  std::vector<std::string> skipped_;
};

/// The two experiments. `data` is the folder of the example data.
void run_on_mhubo(Experiment& experiment, const std::string& data);
void run_on_arm6(Experiment& experiment, const std::string& data);

/// The text of a file; ends the program when it cannot be read.
[[nodiscard]] std::string read_file(const std::string& path);

}  // namespace paper
