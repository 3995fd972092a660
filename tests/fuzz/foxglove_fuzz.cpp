// Fuzzes the Foxglove server with messages of a client, one a line: each answer is JSON, and no request harms
// another client.
#include <nlohmann/json.hpp>
#include <string_view>

#include "support/require.hpp"
#include "takt/record/foxglove_server.hpp"

using namespace takt;
using takt::test::require;

namespace {

void check_output(record::FoxgloveServer& server) {
  for (const MessageOutput& output : server.take_output()) {
    require(output.client == 1 || output.is_sample);
    if (output.kind == MessageKind::text) require(nlohmann::json::accept(output.bytes));
  }
}

record::FoxgloveOptions options() {
  record::FoxgloveOptions made;
  made.parameters = [](const std::vector<component::Assignment>& changes) {
    record::ParameterAnswer answer;
    answer.values = changes;
    answer.values.push_back({"gain", 1.0});
    return answer;
  };
  made.max_subscriptions = 2;
  made.max_watched = 2;
  return made;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view lines(reinterpret_cast<const char*>(data), size);
  record::FoxgloveServer server(options(), {{.topic = "/a"}, {.topic = "/b"}});
  server.connected(2, {});
  (void)server.take_output();
  server.connected(1, {});
  Time now{};
  while (!lines.empty()) {
    const std::size_t end = lines.find('\n');
    server.received(1, MessageKind::text, lines.substr(0, end), now);
    lines.remove_prefix(end == std::string_view::npos ? lines.size() : end + 1);
    check_output(server);
    now += std::chrono::milliseconds(300);
    (void)server.poll(now);
    server.publish(0, 1, "x");
    check_output(server);
  }
  return 0;
}
