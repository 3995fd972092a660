#include "takt/record/foxglove_server.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "record/joint_state_message.hpp"
#include "support/random.hpp"

namespace {

using namespace takt;
using namespace std::chrono_literals;
using nlohmann::json;
using record::FoxgloveServer;

/// A server with two channels and two parameters, and what its clients got.
struct Rig {
  record::FoxgloveOptions options() {
    record::FoxgloveOptions made;
    made.name = "rig";
    made.parameters = [this](const std::vector<component::Assignment>& changes) {
      record::ParameterAnswer answer;
      for (const component::Assignment& one : changes) {
        if (one.parameter == "tip.gain")
          gain = std::get<double>(one.value);
        else
          answer.mistakes.push_back("no parameter " + one.parameter);
      }
      answer.values = {{"tip.gain", gain}, {"tip.on", true}};
      return answer;
    };
    made.executor = [this](const std::function<void()>& work) {
      if (is_slow)
        late.push_back(work);
      else
        work();
    };
    made.max_subscriptions = 3;
    made.max_requests = 2;
    return made;
  }

  std::vector<json> say(const json& request, ClientId client = 1) {
    server.received(client, MessageKind::text, request.dump(), {});
    return texts(client);
  }
  std::vector<json> texts(ClientId client) {
    std::vector<json> all;
    for (const MessageOutput& output : server.take_output()) {
      if (output.client == client && output.kind == MessageKind::text)
        all.push_back(json::parse(output.bytes));
    }
    return all;
  }
  std::string error_of(const json& request) {
    const auto answers = say(request);
    REQUIRE(answers.size() == 1);
    REQUIRE(answers[0]["op"] == "status");
    REQUIRE(answers[0]["level"] == 2);
    return answers[0]["message"];
  }

  double gain = 1;
  bool is_slow = false;
  std::vector<std::function<void()>> late;
  FoxgloveServer server{options(),
                        {{.topic = "/a", .encoding = "json"}, {.topic = "/b", .encoding = "json"}}};
};

json subscribe(int id, int channel) {
  return {{"op", "subscribe"}, {"subscriptions", {{{"id", id}, {"channelId", channel}}}}};
}

}  // namespace

TEST_CASE("a client gets the server's information, then the channels") {
  Rig rig;
  rig.server.connected(1, {});
  const auto texts = rig.texts(1);
  REQUIRE(texts.size() == 2);
  CHECK(texts[0]["op"] == "serverInfo");
  CHECK(texts[0]["name"] == "rig");
  CHECK(texts[0]["capabilities"] == json({"time", "parameters", "parametersSubscribe"}));
  CHECK(texts[1]["op"] == "advertise");
  REQUIRE(texts[1]["channels"].size() == 2);
  CHECK(texts[1]["channels"][1]["topic"] == "/b");
}

TEST_CASE("messages go to those who subscribed, with their own number of the subscription") {
  Rig rig;
  rig.server.connected(1, {});
  rig.server.connected(2, {});
  CHECK_FALSE(rig.server.wants(1));
  (void)rig.server.take_output();
  CHECK(rig.say(subscribe(0x01020304, 1)).empty());
  CHECK(rig.server.wants(1));
  CHECK_FALSE(rig.server.wants(0));
  rig.server.publish(0, 7, "zero");
  rig.server.publish(1, 0x0102030405060708, "one");
  const auto output = rig.server.take_output();
  REQUIRE(output.size() == 1);
  CHECK(output[0].client == 1);
  CHECK(output[0].is_sample);
  CHECK(output[0].bytes == std::string("\1\4\3\2\1\10\7\6\5\4\3\2\1one"));
  CHECK(rig.say({{"op", "unsubscribe"}, {"subscriptionIds", {0x01020304}}}).empty());
  CHECK_FALSE(rig.server.wants(1));
  rig.server.tell_time(1);
  const auto times = rig.server.take_output();
  REQUIRE(times.size() == 2);
  CHECK(times[0].bytes == std::string("\2\1\0\0\0\0\0\0\0", 9));
}

TEST_CASE("parameters are read, set, and told to those who subscribed") {
  Rig rig;
  rig.server.connected(1, {});
  rig.server.connected(2, {});
  (void)rig.server.take_output();
  auto answers = rig.say({{"op", "getParameters"}, {"parameterNames", json::array()}, {"id", "x"}});
  REQUIRE(answers.size() == 1);
  CHECK(answers[0] == json{{"op", "parameterValues"},
                           {"id", "x"},
                           {"parameters",
                            {{{"name", "tip.gain"}, {"value", 1.0}, {"type", "float64"}},
                             {{"name", "tip.on"}, {"value", true}}}}});
  CHECK(rig.say({{"op", "subscribeParameterUpdates"}, {"parameterNames", {"tip.gain"}}}, 2).empty());
  rig.server.received(1, MessageKind::text,
                      R"({"op":"setParameters","id":"y","parameters":[{"name":"tip.gain","value":2.5}]})",
                      {});
  CHECK(rig.gain == 2.5);
  int answered = 0;
  for (const MessageOutput& output : rig.server.take_output()) {
    const json text = json::parse(output.bytes);
    CHECK(text["parameters"] == json{{{"name", "tip.gain"}, {"value", 2.5}, {"type", "float64"}}});
    CHECK(text.contains("id") == (output.client == 1));
    ++answered;
  }
  CHECK(answered == 2);
  rig.gain = 4;  // somebody else
  (void)rig.server.poll(Time(1s));
  answers = rig.texts(2);
  REQUIRE(answers.size() == 1);
  CHECK(answers[0]["parameters"][0]["value"] == 4.0);
  CHECK(rig.say({{"op", "unsubscribeParameterUpdates"}, {"parameterNames", {"tip.gain"}}}, 2).empty());
  rig.gain = 5;
  (void)rig.server.poll(Time(2s));
  CHECK(rig.texts(2).empty());
}

TEST_CASE("a bad request gets a status that says why, and changes nothing") {
  Rig rig;
  rig.server.connected(1, {});
  (void)rig.server.take_output();
  CHECK(rig.error_of(subscribe(1, 2)) == "there is no channel 2");
  CHECK(rig.say(subscribe(1, 0)).empty());
  CHECK(rig.error_of(subscribe(1, 1)) == "subscription 1 exists already");
  CHECK(rig.say(subscribe(2, 0)).empty());
  CHECK(rig.say(subscribe(3, 0)).empty());
  CHECK(rig.error_of(subscribe(4, 0)) == "too many subscriptions");
  CHECK(rig.error_of(subscribe(-1, 0)).starts_with("/subscriptions/0/id: "));
  CHECK(rig.error_of({{"op", "unsubscribe"}, {"subscriptionIds", {9}}}) == "there is no subscription 9");
  CHECK(rig.error_of({{"op", "dance"}}).find("dance") != std::string::npos);
  CHECK(rig.error_of(json::array()).size() > 0);
  CHECK(rig.error_of(json::object()).starts_with("/op: "));
  CHECK(rig.error_of({{"op", "subscribe"}}).starts_with("/subscriptions: "));
  const json no_value = {{"op", "setParameters"}, {"parameters", {{{"name", "tip.gain"}}}}};
  CHECK(rig.error_of(no_value).find("cannot be deleted") != std::string::npos);
  const json unknown = {{"op", "setParameters"}, {"parameters", {{{"name", "x"}, {"value", 1}}}}};
  CHECK(rig.error_of(unknown) == "no parameter x");
  rig.server.received(1, MessageKind::text, "{", {});
  CHECK(rig.texts(1)[0]["message"].get<std::string>().starts_with("the message is not JSON"));
  rig.server.received(1, MessageKind::binary, "\1", {});
  CHECK(rig.texts(1)[0]["level"] == 2);
}

TEST_CASE("a slow desk keeps no client waiting, and its queue is bounded") {
  Rig rig;
  rig.is_slow = true;
  rig.server.connected(1, {});
  (void)rig.server.take_output();
  const json get = {{"op", "getParameters"}, {"parameterNames", {"tip.on"}}};
  CHECK(rig.say(get).empty());
  CHECK(rig.say(get).empty());
  CHECK(rig.error_of(get) == "too many requests for parameters");
  REQUIRE(rig.late.size() == 1);
  rig.late[0]();
  (void)rig.server.poll(Time(1s));
  CHECK(rig.texts(1).size() == 1);
  REQUIRE(rig.late.size() == 2);
  rig.server.disconnected(1, {});
  rig.late[1]();
  (void)rig.server.poll(Time(2s));
  CHECK(rig.server.take_output().empty());
}

TEST_CASE("a joint state has the bytes that Fast-CDR writes") {
  const std::vector<std::string> names{"a", "bcd"};
  const std::vector<double> positions{1, -2.5};
  const std::vector<double> efforts{3, 4};
  record::CdrWriter writer;
  record::write_joint_state(writer, {1'000'000'002, "base", names, positions, {}, efforts});
  std::string hex;
  for (const std::uint8_t byte : writer.message()) {
    constexpr const char* digits = "0123456789abcdef";
    hex += digits[byte >> 4];
    hex += digits[byte & 15];
  }
  CHECK(hex ==
        "00010000010000000200000005000000626173650000000002000000020000006100000004000000"
        "626364000200000000000000000000000000f03f00000000000004c0000000000200000000000000"
        "000008400000000000001040");
}
