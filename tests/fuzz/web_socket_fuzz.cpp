// Fuzzes a WebSocket session with any bytes of a client. No message is larger than allowed, and texts are
// UTF-8. The events do not depend on how the bytes are cut.
#include <string>
#include <string_view>
#include <vector>

#include "core/utf8.hpp"
#include "support/require.hpp"
#include "takt/platform/web_socket.hpp"

using namespace takt;
using namespace takt::platform;
using takt::test::require;

namespace {

constexpr std::size_t max_message = 300;

struct Result {
  std::vector<std::string> events;
  std::string output;

  friend bool operator==(const Result&, const Result&) = default;
};

Result play(std::string_view bytes, std::size_t piece) {
  WebSocketSession session(
      {.subprotocols = {"foxglove.websocket.v1"}, .max_message = max_message, .max_fragments = 3});
  Result result;
  while (!bytes.empty()) {
    std::string_view part = bytes.substr(0, piece);
    bytes.remove_prefix(part.size());
    while (!part.empty()) {
      const WebSocketEvent event = session.receive(part);
      require(event.payload.size() <= max_message);
      require(event.kind != WebSocketEvent::Kind::text || is_utf8(event.payload));
      if (event.kind == WebSocketEvent::Kind::none) continue;
      result.events.push_back(std::to_string(static_cast<int>(event.kind)) + std::string(event.payload));
      require(session.is_open() == (event.kind != WebSocketEvent::Kind::closed));
    }
  }
  result.output = session.take_output();
  return result;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  require(play(bytes, size) == play(bytes, 1));
  return 0;
}
