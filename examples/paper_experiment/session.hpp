// A connection to a running robot with statistics: sent and answered requests, latency of each first
// reference, and the end of each goal. Between two requests at a rate it takes the replies that have arrived,
// without waiting.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "takt/core/time.hpp"
#include "takt/motion/client.hpp"
#include "takt/platform/steady_clock.hpp"
#include "takt/platform/tcp_stream.hpp"

namespace paper {

namespace motion = takt::motion;
namespace trajectory = takt::trajectory;
using takt::Duration;
using takt::Time;

using Body = decltype(motion::ClientMessage::body);

/// The motion requests between two marks.
struct SectionBooks {
  std::string name;
  std::string mark;       ///< its name in the recording
  bool measured = false;  ///< it ran to its end without a pause of the machine
  std::size_t sent = 0;
  std::size_t accepted = 0;
  std::size_t rejected = 0;
  double rate = 0;                              ///< Hz; 0: not at a rate
  std::map<std::string, std::size_t> refusals;  ///< by reason
  std::vector<double> handover_to_reference;    ///< us, per accepted request
  std::vector<double> receive_to_reference;     ///< us

  [[nodiscard]] std::size_t answered() const { return accepted + rejected; }
};

/// The answer to one request.
struct Answer {
  motion::GoalId goal = 0;
  motion::GoalState state = motion::GoalState::active;  ///< of the goal: active or pending
  std::optional<motion::Rejection> why;                 ///< of a rejection
};

class Session {
 public:
  /// Connects to 127.0.0.1. Ends the program if that, or a later operation on this connection, fails.
  explicit Session(std::uint16_t port);

  [[nodiscard]] const motion::GreetingReply& robot() const { return robot_; }
  [[nodiscard]] const std::vector<SectionBooks>& sections() const { return sections_; }
  [[nodiscard]] SectionBooks& section() { return sections_.back(); }

  /// Starts a section here and, with the mark `mark`, in the robot's recording.
  void begin_section(const std::string& name, const std::string& mark);
  /// Sets a mark in the robot's recording.
  void mark(const std::string& text);

  /// Why the section is spoilt: the machine paused so long that the robot stopped, or that a stream or a
  /// queue timed out. Asks the robot.
  [[nodiscard]] std::optional<std::string> interruption();

  /// Sends a request and returns its number.
  std::uint64_t send(Body body);
  /// Sends `count` requests at `rate` Hz, at absolute times; `make(k)` creates request k. Takes replies that
  /// have arrived. Waits while too many are missing, and at the end for the rest. Stops early if the robot is
  /// not ready. Returns the numbers of the first and last request.
  std::pair<std::uint64_t, std::uint64_t> send_at_rate(double rate, std::size_t count,
                                                       const std::function<Body(std::size_t)>& make);

  /// Waits for the answer to a request; empty if none arrives within 5 s.
  [[nodiscard]] std::optional<Answer> answer(std::uint64_t request);
  /// Waits for the end of a goal; empty if it does not arrive within `patience`.
  [[nodiscard]] std::optional<motion::ResultReply> result(motion::GoalId goal, Duration patience);
  /// The current state of the robot.
  [[nodiscard]] motion::StateReply state();
  /// Takes replies until `time`.
  void wait_until(Time time);
  /// Waits until every request is answered, at most 5 s.
  void wait_for_answers();
  [[nodiscard]] Time now() const { return clock_.now(); }

  /// The number of requests without an answer.
  [[nodiscard]] std::size_t unanswered() const { return pending_.size(); }

 private:
  /// Takes the next reply. Returns whether one arrived within `patience`.
  bool take(Duration patience);
  void book(const motion::ServerMessage& message);
  void book_answer(const std::string& id, Answer answer, const std::optional<motion::LatencyReply>& latency);
  template <class Done>
  void take_until(Time deadline, Done&& done);

  takt::platform::SteadyClock clock_;
  motion::Client<takt::platform::TcpStream, takt::platform::SteadyClock> client_;
  motion::GreetingReply robot_;
  std::uint64_t last_request_ = 0;
  struct Pending {
    std::size_t section = 0;
    bool counts = false;  ///< it requests motion
  };
  std::map<std::uint64_t, Pending> pending_;
  std::map<std::uint64_t, Answer> answers_;
  std::map<motion::GoalId, motion::ResultReply> results_;
  std::vector<SectionBooks> sections_{SectionBooks{}};
  std::optional<motion::Rejection> late_;  // effects of a pause in this section on a robot that continued
};

/// Prints `why` to stderr and ends the program.
[[noreturn]] void give_up(const std::string& why);

}  // namespace paper
