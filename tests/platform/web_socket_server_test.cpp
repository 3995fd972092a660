#include "takt/platform/web_socket_server.hpp"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "takt/platform/tcp_stream.hpp"

namespace {

using namespace takt;
using namespace takt::platform;
using namespace std::chrono_literals;
using namespace std::string_view_literals;

constexpr Duration patience = 60s;

/// Sends each message back, and samples without end to clients that say "flood".
class Mirror {
 public:
  std::atomic<int> members{0};

  void connected(ClientId client, Time) {
    ++members;
    output_.push_back({client, MessageKind::text, "hello"});
  }
  void received(ClientId client, MessageKind kind, std::string_view bytes, Time) {
    if (bytes == "flood") flooded_.push_back(client);
    output_.push_back({client, kind, std::string(bytes)});
  }
  void disconnected(ClientId client, Time) {
    std::erase(flooded_, client);
    --members;
  }
  Duration poll(Time) {
    for (const ClientId client : flooded_)
      output_.push_back({client, MessageKind::binary, std::string(100'000, 'x'), true});
    return 1ms;
  }
  std::vector<MessageOutput> take_output() { return std::exchange(output_, {}); }

 private:
  std::vector<ClientId> flooded_;
  std::vector<MessageOutput> output_;
};

/// A server on a free port with its own thread.
struct Running {
  explicit Running(WebSocketServerOptions options = {}) {
    const auto opened = server.open(std::move(options));
    REQUIRE(opened);
    port = *opened;
    thread = std::thread([this] { server.run(mirror); });
  }
  ~Running() { stop(); }
  void stop() {
    if (!thread.joinable()) return;
    server.stop();
    thread.join();
  }

  Mirror mirror;
  WebSocketServer server;
  std::uint16_t port = 0;
  std::thread thread;
};

/// A client that sends bytes as they are.
struct Peer {
  explicit Peer(const Running& running)
      : stream(std::move(*TcpStream::connect("127.0.0.1", running.port, patience))) {}

  void send(std::string_view bytes) {
    CHECK(stream.send({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}, patience));
  }
  void open() {
    send(
        "GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n");
    CHECK(read_until("\x81\x05hello"));
  }
  /// Whether the text comes before the server closes the connection.
  bool read_until(std::string_view text) {
    while (got.find(text) == std::string::npos) {
      std::array<std::uint8_t, 4096> buffer{};
      const auto size = stream.receive(buffer, patience);
      if (!size || *size == 0) return false;
      got.append(reinterpret_cast<const char*>(buffer.data()), *size);
    }
    return true;
  }
  bool is_closed_by_server() { return !read_until("never sent by any server"); }

  TcpStream stream;
  std::string got;
};

/// A masked text frame; the mask is zero.
std::string text_frame(std::string_view text) {
  return "\x81" + std::string(1, static_cast<char>(0x80 | text.size())) + std::string(4, '\0') +
         std::string(text);
}

}  // namespace

TEST_CASE("messages go to the service and back, and the end of the server closes with going away") {
  Running running;
  Peer peer(running);
  peer.open();
  peer.send(text_frame("again"));
  CHECK(
      peer.read_until("\x81\x05"
                      "again"));
  running.stop();
  CHECK(peer.read_until("\x88\x02\x03\xE9"));
  CHECK(peer.is_closed_by_server());
}

TEST_CASE("a client that does not finish its handshake is dropped") {
  Running running({.handshake = 50ms});
  Peer peer(running);
  peer.send("GET / HTTP/1.1\r\n");
  CHECK(peer.is_closed_by_server());
  CHECK(running.mirror.members == 0);
}

TEST_CASE("a silent client gets a ping, and is dropped without an answer") {
  Running running({.ping_after = 20ms, .silence_limit = 300ms});
  Peer peer(running);
  peer.open();
  CHECK(peer.read_until("\x89\x00"sv));
  CHECK(peer.is_closed_by_server());
}

TEST_CASE("clients beyond the limit are closed, and a place that is free again is given away") {
  Running running({.max_clients = 1});
  {
    Peer first(running);
    first.open();
    Peer second(running);
    CHECK(second.is_closed_by_server());
  }
  while (running.mirror.members != 0) std::this_thread::yield();
  bool is_served = false;
  while (!is_served) {  // the place is free soon after the service knows
    Peer third(running);
    third.send("GET / HTTP/1.1\r\n\r\n");
    is_served = third.read_until("400 Bad Request");
  }
}

TEST_CASE("a client that does not read loses samples, and others are served") {
  Running running({.max_samples = 4});
  Peer sleeper(running);
  sleeper.open();
  sleeper.send(text_frame("flood"));
  for (int i = 0; i < 3; ++i) {
    Peer peer(running);
    peer.open();
    peer.send(text_frame("again"));
    CHECK(
        peer.read_until("\x81\x05"
                        "again"));
  }
  sleeper.send(text_frame("awake"));
  CHECK(
      sleeper.read_until("\x81\x05"
                         "awake"));
}

TEST_CASE("an address that is no number, or a port that is taken, is an error") {
  Running running;
  WebSocketServer other;
  const auto named = other.open({.address = "localhost"});
  REQUIRE_FALSE(named);
  CHECK(named.error().message.find("localhost") != std::string::npos);
  CHECK_FALSE(other.open({.port = running.port}));
}
