// The server's side of one WebSocket connection (RFC 6455), without a socket. Bytes of the client go in;
// messages, and bytes for the client, come out. It uses no extensions, so no message is compressed.
//
//     platform::WebSocketSession session({.subprotocols = {"foxglove.websocket.v1"}});
//     while (!bytes.empty()) {
//       const platform::WebSocketEvent event = session.receive(bytes);  // takes from the front of `bytes`
//       if (event.kind == platform::WebSocketEvent::Kind::text) answer(event.payload);
//     }
//     send(session.take_output());  // the handshake's answer, pongs, and the close frame
//     platform::append_text_frame(out, R"({"op":"status"})");
//
// The client's bytes may be anything. The first violation of the protocol ends the session with the close
// code that RFC 6455 asks for. Memory is bounded by the options, before anything is allocated.
//
// Any web page can reach a server on the loopback interface. So the handshake rejects pages whose origin is
// not in the list, and hosts that are neither an IP address nor localhost. Not real-time safe: it allocates.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace takt::platform {

/// The limits of a session, and the clients that it accepts.
struct WebSocketOptions {
  /// A client must offer one of these; the first that it offers is used. Empty: none is used.
  std::vector<std::string> subprotocols{};
  /// The origins of web pages that may connect: "https://app.foxglove.dev". Programs send no origin.
  std::vector<std::string> origins{};
  std::size_t max_request = std::size_t{8} << 10;  ///< bytes of the HTTP request
  std::size_t max_message = std::size_t{1} << 20;  ///< bytes of a message, over all of its fragments
  std::size_t max_fragments = 1024;                ///< of a message
};

/// The close codes of RFC 6455 that a session sends.
enum class WebSocketClose : std::uint16_t {
  normal = 1000,
  going_away = 1001,
  protocol_error = 1002,
  bad_text = 1007,   ///< a text is not UTF-8
  too_large = 1009,  ///< a message or its number of fragments
};

/// The result of WebSocketSession::receive().
struct WebSocketEvent {
  enum class Kind : std::uint8_t {
    none,    ///< more bytes are needed
    opened,  ///< the handshake is complete
    text,    ///< a message, valid UTF-8
    binary,  ///< a message
    /// The session is over: the handshake failed, the client closed it or broke the protocol. Send the
    /// output, then close the connection.
    closed,
  };
  Kind kind = Kind::none;
  std::string_view payload{};  ///< of a message; valid until the next call
};

/// One connection, from its first byte on.
class WebSocketSession {
 public:
  /// Keeps the options.
  explicit WebSocketSession(WebSocketOptions options) : options_(std::move(options)) {}

  /// Takes bytes of the client from the front of `bytes`, up to the next event. After Kind::closed it ignores
  /// all bytes.
  [[nodiscard]] WebSocketEvent receive(std::string_view& bytes);
  /// Moves out the bytes that the session itself sends.
  [[nodiscard]] std::string take_output() { return std::exchange(output_, {}); }

  /// Ends the session from this side: the output gets a close frame. Nothing happens if it has ended, or has
  /// not opened.
  void close(WebSocketClose code);
  /// Whether the handshake is complete and the session has not ended.
  [[nodiscard]] bool is_open() const noexcept { return phase_ == Phase::header || phase_ == Phase::payload; }
  /// The subprotocol in use; empty: none.
  [[nodiscard]] const std::string& subprotocol() const noexcept { return subprotocol_; }

 private:
  enum class Phase : std::uint8_t { request, header, payload, ended };

  /// The header of a client's frame.
  struct Frame {
    std::array<std::uint8_t, 14> bytes{};
    std::size_t size = 0;    ///< bytes received
    std::size_t needed = 2;  ///< bytes of the whole header, as far as known
    std::uint64_t left = 0;  ///< bytes of the payload that have not come
    std::size_t taken = 0;   ///< bytes of the payload that have come, for the mask

    [[nodiscard]] std::uint8_t opcode() const noexcept { return bytes[0] & 0x0F; }
    [[nodiscard]] bool is_control() const noexcept { return (bytes[0] & 0x08) != 0; }
    [[nodiscard]] bool is_final() const noexcept { return (bytes[0] & 0x80) != 0; }
  };

  [[nodiscard]] WebSocketEvent take_request(std::string_view& bytes);
  [[nodiscard]] WebSocketEvent take_header(std::string_view& bytes);
  [[nodiscard]] WebSocketEvent begin_payload();
  [[nodiscard]] WebSocketEvent take_payload(std::string_view& bytes);
  [[nodiscard]] WebSocketEvent end_frame();
  [[nodiscard]] WebSocketEvent end_control();
  [[nodiscard]] WebSocketEvent end_message();
  [[nodiscard]] WebSocketEvent take_close(std::string_view payload);
  WebSocketEvent fail(WebSocketClose code);

  WebSocketOptions options_;
  Phase phase_ = Phase::request;
  std::string request_;
  std::string subprotocol_;
  Frame frame_;
  std::string message_;      ///< the unfinished message
  std::string delivered_;    ///< the payload of the last event
  std::string control_;      ///< the payload of a control frame, at most 125 bytes
  std::uint8_t opcode_ = 0;  ///< of the unfinished message; 0: there is none
  std::size_t fragments_ = 0;
  std::string output_;
};

/// Appends a frame with a whole text, which must be UTF-8.
void append_text_frame(std::string& out, std::string_view text);
/// Appends a frame with a whole binary message.
void append_binary_frame(std::string& out, std::string_view bytes);
/// Appends a ping without a payload.
void append_ping_frame(std::string& out);

}  // namespace takt::platform
