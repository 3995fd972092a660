#include "takt/platform/line_server.hpp"

#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "support/eventually.hpp"
#include "takt/platform/tcp_stream.hpp"

namespace {

using namespace std::chrono_literals;
using takt::ClientId;
using takt::Duration;
using takt::LineFault;
using takt::LineOutput;
using takt::Time;
using takt::platform::LineServer;
using takt::platform::LineServerOptions;
using takt::platform::TcpStream;
using takt::test::eventually;

/// Echoes each line. "flood" sends a megabyte, "bye" closes, "later" is answered once `release` is set.
class Echo {
 public:
  std::atomic<int> connections{0};
  std::atomic<int> lost{0};
  std::atomic<bool> release{false};

  void connected(ClientId client, Time) {
    ++connections;
    output_.push_back({client, "hello\n", false});
  }
  void received(ClientId client, std::string_view line, Time) {
    if (line == "later")
      owed_.push_back(client);
    else if (line == "flood")
      output_.push_back({client, std::string(1 << 20, 'x') + "\n", false});
    else
      output_.push_back({client, std::string(line) + "\n", line == "bye"});
  }
  void refused(ClientId client, LineFault fault, Time) {
    constexpr const char* words[] = {"too long\n", "too slow\n", "too many\n"};
    output_.push_back({client, words[static_cast<int>(fault)], true});
  }
  void disconnected(ClientId client, Time) {
    std::erase(owed_, client);
    ++lost;
  }
  bool owes(ClientId client) const { return std::count(owed_.begin(), owed_.end(), client) > 0; }
  Duration poll(Time) {
    if (!release) return 10ms;
    for (const ClientId client : std::exchange(owed_, {})) output_.push_back({client, "at last\n", false});
    return 10ms;
  }
  std::vector<LineOutput> take_output() { return std::exchange(output_, {}); }

 private:
  std::vector<LineOutput> output_;
  std::vector<ClientId> owed_;
};

/// A server on a free port with its own thread.
struct Running {
  explicit Running(LineServerOptions options = {}) {
    const auto opened = server.open(options);
    REQUIRE(opened);
    port = *opened;
    thread = std::thread([this] { server.run(echo); });
  }
  ~Running() {
    server.stop();
    thread.join();
  }

  Echo echo;
  LineServer server;
  std::uint16_t port = 0;
  std::thread thread;
};

struct Peer {
  explicit Peer(std::uint16_t port) : stream(connect(port)) {}
  explicit Peer(TcpStream connected) : stream(std::move(connected)) {}

  static TcpStream connect(std::uint16_t port) {
    auto connected = TcpStream::connect("127.0.0.1", port, 5s);
    if (!connected) FAIL(connected.error().message);
    return std::move(*connected);
  }

  bool say(const std::string& text) {
    return stream.send({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, 5s).has_value();
  }

  /// The next line, or "" if the connection ended or no line came within 5 s.
  std::string line() {
    for (;;) {
      if (const auto end = buffer.find('\n'); end != std::string::npos) {
        std::string result = buffer.substr(0, end);
        buffer.erase(0, end + 1);
        return result;
      }
      std::uint8_t chunk[65536];
      const auto count = stream.receive(chunk, 5s);
      if (!count || *count == 0) return "";
      buffer.append(chunk, chunk + *count);
    }
  }

  TcpStream stream;
  std::string buffer;
};

/// A connected socket, for operations that TcpStream does not have.
int raw_connection(std::uint16_t port) {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): as the socket calls want it
  REQUIRE(::connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  return descriptor;
}

/// The next `count` bytes, or fewer if the connection ends.
std::string receive(int descriptor, std::size_t count) {
  std::string text;
  for (char c = 0; text.size() < count && ::recv(descriptor, &c, 1, 0) == 1;) text += c;
  return text;
}

TEST_CASE("lines come back, however they are cut") {
  Running running;
  Peer peer(running.port);
  CHECK(peer.line() == "hello");
  CHECK(peer.say("one\ntwo\r\n\nthr"));
  CHECK(peer.line() == "one");
  CHECK(peer.line() == "two");
  for (const char c : std::string("ee\n")) CHECK(peer.say(std::string(1, c)));
  CHECK(peer.line() == "three");
  CHECK(peer.say("bye\nnot heard\n"));
  CHECK(peer.line() == "bye");
  CHECK(peer.line() == "");
  CHECK(eventually([&] { return running.echo.lost == 1; }));
}

TEST_CASE("a large answer arrives whole") {
  Running running;
  Peer peer(running.port);
  peer.line();
  CHECK(peer.say("flood\nafter\n"));
  CHECK(peer.line().size() == 1 << 20);
  CHECK(peer.line() == "after");
}

TEST_CASE("a line without an end is refused by length before it is stored, and the reason arrives") {
  LineServerOptions options;
  options.max_line = 1000;
  Running running(options);
  Peer peer(running.port);
  peer.line();
  CHECK(peer.say(std::string(1000, 'a') + "\n"));
  CHECK(peer.line().size() == 1000);
  CHECK(peer.say(std::string(100'000, 'a')));
  CHECK(peer.line() == "too long");
  CHECK(peer.line() == "");
}

TEST_CASE("a line that drips is refused by time, and an idle client is not") {
  LineServerOptions options;
  options.line_deadline = 100ms;
  Running running(options);
  Peer slow(running.port);
  Peer idle(running.port);
  slow.line();
  idle.line();
  CHECK(slow.say("{"));
  CHECK(slow.line() == "too slow");
  CHECK(idle.say("still here\n"));
  CHECK(idle.line() == "still here");
}

TEST_CASE("one client too many is rejected with the reason, and accepted when another leaves") {
  LineServerOptions options;
  options.max_clients = 3;
  Running running(options);
  std::vector<Peer> peers;
  for (int i = 0; i < 3; ++i) {
    peers.emplace_back(running.port);
    CHECK(peers.back().line() == "hello");
  }
  {
    Peer late(running.port);
    CHECK(late.line() == "too many");
    CHECK(late.line() == "");
  }
  peers.pop_back();
  CHECK(eventually([&] { return Peer(running.port).line() == "hello"; }));
  CHECK(peers[0].say("fine\n"));
  CHECK(peers[0].line() == "fine");
}

TEST_CASE("200 idle connections and one client that never reads do not disturb another") {
  LineServerOptions options;
  options.max_output = 2 << 20;
  Running running(options);
  std::vector<Peer> idle;
  for (int i = 0; i < 200; ++i) idle.emplace_back(running.port);
  Peer deaf(running.port);
  Peer good(running.port);
  CHECK(good.line() == "hello");
  bool open = true;
  for (int i = 0; i < 200 && open; ++i) {
    open = deaf.say("flood\n");
    CHECK(good.say("ping\n"));
    CHECK(good.line() == "ping");
  }
  CHECK(eventually([&] { return running.echo.lost == 1; }));
  CHECK(running.echo.connections == 202);
}

TEST_CASE("a client that ends without a line feed is heard, and one that resets is forgotten") {
  Running running;
  {
    Peer peer(running.port);
    peer.line();
    CHECK(peer.say("half"));
  }
  {
    const int descriptor = raw_connection(running.port);
    const linger reset{1, 0};
    ::setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    ::close(descriptor);
  }
  CHECK(eventually([&] { return running.echo.lost == running.echo.connections; }));
  Peer next(running.port);
  CHECK(next.line() == "hello");
}

TEST_CASE("a client that ends its input reads on until it has what it is owed") {
  Running running;
  const int descriptor = raw_connection(running.port);
  CHECK(receive(descriptor, 6) == "hello\n");
  REQUIRE(::send(descriptor, "one\nlater", 9, 0) == 9);
  ::shutdown(descriptor, SHUT_WR);
  CHECK(receive(descriptor, 5) == "one\n ");  // the space checks whether the client is still connected
  CHECK(running.echo.lost == 0);
  running.echo.release = true;
  CHECK(receive(descriptor, 1000) == "at last\n");  // then the connection ends
  CHECK(eventually([&] { return running.echo.lost == 1; }));
  ::close(descriptor);
}

TEST_CASE("a client that closes its connection is removed, with its unsent lines") {
  Running running;
  for (const bool ends_its_input_first : {false, true}) {
    CAPTURE(ends_its_input_first);
    const int before = running.echo.lost;
    const int descriptor = raw_connection(running.port);
    CHECK(receive(descriptor, 6) == "hello\n");
    REQUIRE(::send(descriptor, "later\n", 6, 0) == 6);
    if (ends_its_input_first) {
      ::shutdown(descriptor, SHUT_WR);
      CHECK(receive(descriptor, 1) == " ");
    }
    ::close(descriptor);
    if (ends_its_input_first) running.echo.release = true;  // the answer finds no client
    CHECK(eventually([&] { return running.echo.lost == before + 1; }));
  }
}

TEST_CASE("without file descriptors clients wait, and are served when there are some") {
  Running running;
  Peer good(running.port);
  good.line();
  rlimit saved{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &saved) == 0);
  std::vector<int> filler;
  rlimit tight = saved;
  tight.rlim_cur = 64;
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &tight) == 0);
  for (;;) {
    const int descriptor = ::dup(0);
    if (descriptor < 0) break;
    filler.push_back(descriptor);
  }
  REQUIRE(filler.size() > 1);
  ::close(filler.back());
  filler.pop_back();
  // Takes the last descriptor, so the server has none left for accept(). The C library may hold one for a
  // moment.
  std::optional<Peer> waiting;
  CHECK(eventually([&] {
    if (auto connected = TcpStream::connect("127.0.0.1", running.port, 5s))
      waiting.emplace(std::move(*connected));
    return waiting.has_value();
  }));
  std::this_thread::sleep_for(150ms);
  CHECK(good.say("ping\n"));
  CHECK(good.line() == "ping");
  for (const int descriptor : filler) ::close(descriptor);
  if (waiting) CHECK(waiting->line() == "hello");
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &saved) == 0);
}

TEST_CASE("a port that is taken is an error with its number, and stopping before running is no trouble") {
  LineServer first;
  const auto port = first.open();
  REQUIRE(port);
  LineServer second;
  LineServerOptions options;
  options.port = *port;
  const auto taken = second.open(options);
  REQUIRE_FALSE(taken);
  CHECK(taken.error().message.find(std::to_string(*port)) != std::string::npos);
  first.stop();
  Echo echo;
  first.run(echo);
  CHECK_FALSE(TcpStream::connect("127.0.0.1", *port, 1s));
}

}  // namespace
