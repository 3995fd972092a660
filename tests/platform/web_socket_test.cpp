#include "takt/platform/web_socket.hpp"

#include <doctest/doctest.h>

#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "platform/send_queue.hpp"
#include "platform/sha1.hpp"
#include "support/random.hpp"

namespace {

using namespace takt;
using namespace takt::platform;
using Kind = WebSocketEvent::Kind;
using namespace std::string_view_literals;

constexpr std::string_view page = "https://app.foxglove.dev";

WebSocketOptions options() {
  return {.subprotocols = {"foxglove.websocket.v1", "foxglove.sdk.v1"},
          .origins = {std::string(page)},
          .max_message = 1000,
          .max_fragments = 4};
}

/// A request with the key of RFC 6455, section 1.3, and one change.
std::string request(std::string_view instead_of = {}, std::string_view text = {}) {
  std::string all =
      "GET /chat HTTP/1.1\r\nHost: 127.0.0.1:8765\r\nUpgrade: websocket\r\nConnection: keep-alive, "
      "Upgrade\r\n"
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
      "Sec-WebSocket-Protocol: other, foxglove.sdk.v1\r\n\r\n";
  if (instead_of.empty()) return all;
  const std::size_t at = all.find(instead_of);
  REQUIRE(at != std::string::npos);
  return all.replace(at, instead_of.size(), text);
}

/// A client's frame. `first`: FIN, reserved bits and opcode.
std::string frame(unsigned first, std::string_view payload, std::size_t form = 0) {
  std::string bytes(1, static_cast<char>(first));
  const auto number = [&bytes](std::size_t value, int size) {
    for (int shift = 8 * (size - 1); shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift);
  };
  const std::size_t length = payload.size();
  const bool is_short = form == 0 ? length < 126 : form == 1;
  const bool is_middle = form == 0 ? length < 65536 : form == 2;
  number(0x80 | (is_short ? length : is_middle ? 126 : 127), 1);
  if (!is_short) number(length, is_middle ? 2 : 8);
  constexpr std::string_view mask = "\x12\xF3\x56\x9A"sv;
  bytes += mask;
  for (std::size_t i = 0; i < length; ++i) bytes += static_cast<char>(payload[i] ^ mask[i % 4]);
  return bytes;
}

struct Seen {
  Kind kind;
  std::string payload;
  friend bool operator==(const Seen&, const Seen&) = default;
};

/// A client and the session that it talks with.
struct Talk {
  WebSocketSession session{options()};

  /// What the session makes of the bytes, handed over in pieces of this size.
  std::vector<Seen> say(std::string_view bytes, std::size_t piece = std::string_view::npos) {
    std::vector<Seen> all;
    while (!bytes.empty()) {
      std::string_view part = bytes.substr(0, piece);
      bytes.remove_prefix(part.size());
      while (!part.empty()) {
        const WebSocketEvent event = session.receive(part);
        if (event.kind != Kind::none) all.push_back({event.kind, std::string(event.payload)});
      }
    }
    return all;
  }
  void open() {
    REQUIRE(say(request()) == std::vector<Seen>{{Kind::opened, ""}});
    (void)session.take_output();
  }
};

/// The close code with which the session answers a client's bytes after the handshake.
unsigned close_code_for(std::string_view bytes) {
  Talk talk;
  talk.open();
  const auto seen = talk.say(bytes);
  REQUIRE(!seen.empty());
  REQUIRE(seen.back().kind == Kind::closed);
  REQUIRE(!talk.session.is_open());
  const std::string output = talk.session.take_output();
  REQUIRE(output.size() >= 4);
  REQUIRE(output[0] == '\x88');
  return static_cast<unsigned>(static_cast<unsigned char>(output[2]) << 8 |
                               static_cast<unsigned char>(output[3]));
}

std::string status_for(const std::string& text) {
  Talk talk;
  const auto seen = talk.say(text);
  REQUIRE(seen.size() == 1);
  const std::string answer = talk.session.take_output();
  CHECK((seen[0].kind == Kind::opened) == answer.starts_with("HTTP/1.1 101"));
  return answer.substr(9, 3);
}

}  // namespace

TEST_CASE("sha1 and base64 give the digests of their standards") {
  const auto hash = [](std::string_view text) { return base64(sha1(text)); };
  CHECK(hash("abc") == "qZk+NkcGgWq6PiVxeFDCbJzQ2J0=");
  CHECK(hash("") == "2jmj7l5rSw0yVb/vlWAYkK/YBwk=");
  CHECK(hash(std::string(1'000'000, 'a')) == "NKqXPNTE2qT2Husr260nMWU0AW8=");
  const auto text = [](std::string_view bytes) {
    return base64({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
  };
  CHECK(text("") == "");
  CHECK(text("f") == "Zg==");
  CHECK(text("fo") == "Zm8=");
  CHECK(text("foo") == "Zm9v");
  CHECK(text("foobar") == "Zm9vYmFy");
}

TEST_CASE("a handshake is answered with the accept key of RFC 6455 and one offered subprotocol") {
  Talk talk;
  CHECK(talk.say(request(), 1) == std::vector<Seen>{{Kind::opened, ""}});
  const std::string answer = talk.session.take_output();
  CHECK(answer.starts_with("HTTP/1.1 101 Switching Protocols\r\n"));
  CHECK(answer.find("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n") != std::string::npos);
  CHECK(answer.find("Sec-WebSocket-Protocol: foxglove.sdk.v1\r\n") != std::string::npos);
  CHECK(answer.ends_with("\r\n\r\n"));
  CHECK(talk.session.subprotocol() == "foxglove.sdk.v1");
}

TEST_CASE("a handshake that is wrong, foreign or too long is rejected with its status") {
  struct Change {
    const char* from;
    const char* to;
  };
  constexpr Change changes[] = {{"GET ", "POST "},
                                {"HTTP/1.1", "HTTP/1.0"},
                                {"/chat", "chat"},
                                {"Host: 127.0.0.1:8765\r\n", ""},
                                {"Host:", "Host: 127.0.0.1\r\nHost:"},
                                {"Upgrade: websocket", "Upgrade: h2c"},
                                {"keep-alive, Upgrade", "keep-alive"},
                                {"dGhlIHNhbXBsZSBub25jZQ==", "dGhlIHNhbXBsZSBub25jZ="},
                                {"dGhlIHNhbXBsZSBub25jZQ==", "dGhlIHNhbXBsZSBub25jZR=="},
                                {"foxglove.sdk.v1", "foxglove.sdk.v2"},
                                {"Connection:", "Connection :"},
                                {"Connection:", " folded\r\nConnection:"},
                                {"keep-alive", "keep\x01live"}};
  for (const Change& change : changes) {
    CAPTURE(change.from);
    CHECK(status_for(request(change.from, change.to)) == "400");
  }
  CHECK(status_for(request("Version: 13", "Version: 8")) == "426");
  for (const char* host : {"robot.example:8765", "localhost.evil.example", "127.0.0.1.evil.example", "[::1",
                           "127.0.0.1:", "127.0.0.1:x", "[cafe]", "[]:1"})
    CHECK_MESSAGE(status_for(request("127.0.0.1:8765", host)) == "403", host);
  for (const char* host : {"localhost", "LOCALHOST:80", "[::1]:8765", "192.168.0.7:8765"})
    CHECK_MESSAGE(status_for(request("127.0.0.1:8765", host)) == "101", host);
  const auto with_origin = [](std::string_view origin) {
    return request("Upgrade: websocket", "Upgrade: websocket\r\nOrigin: " + std::string(origin));
  };
  CHECK(status_for(with_origin(page)) == "101");
  CHECK(status_for(with_origin("https://app.foxglove.dev.evil.example")) == "403");
  CHECK(status_for(with_origin("null")) == "403");
  CHECK(status_for(request("/chat", "/" + std::string(9000, 'x'))) == "431");
}

TEST_CASE("messages arrive whole, however their bytes are cut") {
  const std::string text =
      "gr\xC3\xBC\xC3\x9F"
      "e";
  std::string bytes = frame(0x81, text) + frame(0x01, text.substr(0, 3)) + frame(0x89, "hi") +
                      frame(0x80, text.substr(3)) + frame(0x82, std::string(300, 'b')) + frame(0x81, "") +
                      frame(0x8A, "pong") +
                      frame(0x88,
                            "\x03\xE8"
                            "bye");
  const std::vector<Seen> expected{{Kind::text, text},
                                   {Kind::text, text},
                                   {Kind::binary, std::string(300, 'b')},
                                   {Kind::text, ""},
                                   {Kind::closed, ""}};
  for (const std::size_t piece : {std::size_t{1}, std::size_t{2}, std::size_t{7}, bytes.size()}) {
    Talk talk;
    talk.open();
    CHECK(talk.say(bytes, piece) == expected);
    CHECK(talk.session.take_output() == "\x8A\x02hi\x88\x02\x03\xE8");
    CHECK(talk.say(frame(0x81, "late")).empty());
    CHECK(talk.session.take_output().empty());
  }
}

TEST_CASE("random messages, fragments, controls and cuts arrive as they were sent") {
  for (std::size_t i = 0; i < test::count(300); ++i) {
    auto random = test::generator(i);
    const auto below = [&random](std::size_t limit) { return random() % limit; };
    std::string bytes;
    std::vector<Seen> expected;
    for (std::size_t messages = 1 + below(5); messages > 0; --messages) {
      const bool is_text = below(2) == 0;
      std::string payload(below(1001), 'x');
      for (char& c : payload) c = static_cast<char>(is_text ? 32 + below(95) : below(256));
      expected.push_back({is_text ? Kind::text : Kind::binary, payload});
      const std::size_t fragments = 1 + below(4);
      std::size_t at = 0;
      for (std::size_t k = 1; k <= fragments; ++k) {
        const std::size_t size = k == fragments ? payload.size() - at : below(payload.size() - at + 1);
        const unsigned opcode = k > 1 ? 0U : is_text ? 1U : 2U;
        bytes += frame(opcode | (k == fragments ? 0x80U : 0U), payload.substr(at, size));
        at += size;
        if (below(3) == 0) bytes += frame(0x89, std::string(below(126), 'p'));
      }
    }
    Talk talk;
    talk.open();
    CHECK(talk.say(bytes, 1 + below(400)) == expected);
  }
}

TEST_CASE("each violation of the protocol has the close code of RFC 6455") {
  const auto bad = [](std::string bytes) { return close_code_for(bytes); };
  std::string unmasked = frame(0x81, "");
  unmasked[1] = 0;
  CHECK(bad(unmasked) == 1002);
  for (const unsigned first : {0xC1U, 0xA1U, 0x91U, 0x83U, 0x87U, 0x8BU, 0x8FU, 0x09U, 0x08U})
    CHECK_MESSAGE(bad(frame(first, "")) == 1002, first);
  CHECK(bad(frame(0x81, std::string(125, 'x'), 2)) == 1002);
  CHECK(bad(frame(0x81, std::string(125, 'x'), 3)) == 1002);
  CHECK(bad(frame(0x89, std::string(126, 'x'))) == 1002);
  CHECK(bad("\x81\xFF\xFF"sv.data() + std::string(20, '\xFF')) == 1002);
  CHECK(bad(frame(0x80, "x")) == 1002);
  CHECK(bad(frame(0x01, "x") + frame(0x81, "y")) == 1002);
  CHECK(bad(frame(0x81, "\xC3")) == 1007);
  CHECK(bad(frame(0x01, "\xC3") + frame(0x80, "\x28")) == 1007);
  CHECK(bad(frame(0x81, std::string(1001, 'x'))) == 1009);
  CHECK(bad(frame(0x02, std::string(600, 'x')) + frame(0x80, std::string(401, 'x'))) == 1009);
  CHECK(bad(frame(0x02, "") + frame(0, "") + frame(0, "") + frame(0, "") + frame(0x80, "")) == 1009);
  CHECK(bad(frame(0x88, "x")) == 1002);
  for (const std::string_view code : {"\x03\xE7"sv, "\x03\xEC"sv, "\x03\xED"sv, "\x03\xEE"sv, "\x03\xF7"sv,
                                      "\x0B\xB7"sv, "\x13\x88"sv, "\xFF\xFF"sv})
    CHECK(bad(frame(0x88, code)) == 1002);
  CHECK(bad(frame(0x88, "\x03\xE8\xFF"sv)) == 1007);
  CHECK(bad(frame(0x88, "\x0F\xA0"sv)) == 4000);
}

TEST_CASE("a session closes from its side once, and frames have the shortest form of the length") {
  Talk talk;
  talk.session.close(WebSocketClose::going_away);
  CHECK(talk.session.take_output().empty());
  talk.open();
  talk.session.close(WebSocketClose::going_away);
  talk.session.close(WebSocketClose::normal);
  CHECK(talk.session.take_output() == "\x88\x02\x03\xE9");
  const auto size_of = [](std::size_t payload) {
    std::string out;
    append_binary_frame(out, std::string(payload, 'x'));
    return out.size() - payload;
  };
  CHECK(size_of(125) == 2);
  CHECK(size_of(126) == 4);
  CHECK(size_of(65535) == 4);
  CHECK(size_of(65536) == 10);
  std::string ping;
  append_ping_frame(ping);
  CHECK(ping == "\x89\x00"sv);
}

TEST_CASE("a slow client loses its oldest samples, but no other frame and none that is sent in part") {
  SendQueue queue(2, 100);
  CHECK(queue.push("control", false));
  for (const char* sample : {"s1", "s2", "s3"}) CHECK(queue.push(sample, true));
  CHECK(queue.dropped() == 1);
  CHECK(queue.front() == "control");
  queue.sent(7);
  CHECK(queue.front() == "s2");
  queue.sent(1);
  CHECK(queue.push("s4", true));
  CHECK(queue.front() == "2");
  queue.sent(1);
  CHECK(queue.front() == "s4");
  CHECK(queue.push(std::string(100, 'x'), false));
  CHECK(queue.front().size() == 100);
  CHECK_FALSE(queue.push("y", false));
  CHECK_FALSE(queue.push("y", true));
  CHECK(queue.dropped() == 3);
}
