// The client against recorded answers of a server.
#include "takt/motion/client.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>

#include "takt/core/manual_clock.hpp"

namespace {

using namespace takt::motion;
using namespace std::chrono_literals;
using takt::Duration;
using takt::ManualClock;

/// A server that has already sent all its bytes.
class SpokenStream {
 public:
  explicit SpokenStream(std::string said) : said_(std::move(said)) {}

  takt::Status send(std::span<const std::uint8_t> bytes, Duration) {
    asked_->append(bytes.begin(), bytes.end());
    return {};
  }
  takt::Result<std::size_t> receive(std::span<std::uint8_t> bytes, Duration) {
    const std::size_t count = std::min(bytes.size(), said_.size());
    std::copy_n(said_.begin(), count, bytes.begin());
    said_.erase(0, count);
    return count;
  }

  [[nodiscard]] std::shared_ptr<const std::string> asked() const { return asked_; }

 private:
  std::string said_;
  std::shared_ptr<std::string> asked_ = std::make_shared<std::string>();
};

TEST_CASE("a rejected request tells its caller which joint, when, what was found and what is allowed") {
  RejectedReply reply{"\"takt 1\"", {Errc::velocity_limit, "elbow: too fast", "elbow", 0.5, 4.0, 3.5}};
  Client client(SpokenStream(to_line(reply)), ManualClock());

  const auto accepted = client.request({"", MoveMessage{}}, 1s);
  REQUIRE_FALSE(accepted);
  CHECK(accepted.error().error == Errc::velocity_limit);
  CHECK(accepted.error().message == "elbow: too fast");
  REQUIRE(accepted.error().rejection);
  CHECK(*accepted.error().rejection == reply.why);
}

TEST_CASE("a server that does not answer rejects nothing") {
  Client client(SpokenStream(""), ManualClock());
  const auto accepted = client.request({"", MoveMessage{}}, 1s);
  REQUIRE_FALSE(accepted);
  CHECK(accepted.error().error == Errc::message_too_slow);
  CHECK_FALSE(accepted.error().rejection);
}

TEST_CASE("a request goes out under an id of its own, and what comes before its answer waits for next()") {
  const ResultReply earlier{"0", 7, GoalState::succeeded, {}};
  const RejectedReply of_another{"0", {Errc::unknown_goal, "no goal 3", "", {}, {}, {}}};
  AcceptedReply reply;
  reply.id = "\"takt 1\"";
  reply.goal = 8;
  SpokenStream stream(to_line(earlier) + to_line(of_another) + to_line(reply));
  const auto asked = stream.asked();
  Client client(std::move(stream), ManualClock());

  const auto accepted = client.request({"", CancelMessage{}}, 1s);
  CHECK(*asked == "{\"id\":\"takt 1\",\"cancel\":{}}\n");
  REQUIRE(accepted);
  CHECK(accepted->goal == 8);
  CHECK(std::get<ResultReply>(client.next(1s).value().value()) == earlier);
  CHECK(std::get<RejectedReply>(client.next(1s).value().value()) == of_another);
  CHECK_FALSE(client.next(1s).value());
}

TEST_CASE("a message that is given back comes first again") {
  const ResultReply first{"0", 7, GoalState::succeeded, {}};
  const ResultReply second{"0", 8, GoalState::succeeded, {}};
  Client client(SpokenStream(to_line(first) + to_line(second)), ManualClock());

  client.put_back(client.next(1s).value().value());
  CHECK(std::get<ResultReply>(client.next(1s).value().value()) == first);
  CHECK(std::get<ResultReply>(client.next(1s).value().value()) == second);
}

TEST_CASE("of the messages that nobody reads the oldest are dropped") {
  constexpr std::size_t unread = Client<SpokenStream, ManualClock>::most_kept + 10;
  std::string said;
  for (std::size_t goal = 1; goal <= unread; ++goal)
    said += to_line(ResultReply{"0", goal, GoalState::succeeded, {}});
  AcceptedReply reply;
  reply.id = "\"takt 1\"";
  Client client(SpokenStream(said + to_line(reply)), ManualClock());

  REQUIRE(client.request({"", CancelMessage{}}, 1s));
  CHECK(std::get<ResultReply>(client.next(1s).value().value()).goal == 11);
}

}  // namespace
