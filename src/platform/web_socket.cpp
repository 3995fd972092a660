#include "takt/platform/web_socket.hpp"

#include <algorithm>

#include "core/utf8.hpp"
#include "platform/web_socket_request.hpp"

namespace takt::platform {
namespace {

constexpr std::uint8_t opcode_continuation = 0x0;
constexpr std::uint8_t opcode_text = 0x1;
constexpr std::uint8_t opcode_binary = 0x2;
constexpr std::uint8_t opcode_close = 0x8;
constexpr std::uint8_t opcode_ping = 0x9;
constexpr std::uint8_t opcode_pong = 0xA;
constexpr std::uint8_t final_bit = 0x80;
constexpr std::uint8_t reserved_bits = 0x70;
constexpr std::uint8_t mask_bit = 0x80;
constexpr std::uint8_t length_bits = 0x7F;
constexpr std::uint8_t two_byte_length = 126;
constexpr std::uint8_t eight_byte_length = 127;
constexpr std::size_t mask_size = 4;
constexpr std::size_t max_control = 125;

void append_number(std::string& out, std::uint64_t value, int bytes) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) out += static_cast<char>(value >> shift & 0xFF);
}

/// A server's frames are not masked, and have the shortest form of the length.
void append_frame(std::string& out, std::uint8_t opcode, std::string_view payload) {
  out += static_cast<char>(final_bit | opcode);
  if (payload.size() < two_byte_length) {
    append_number(out, payload.size(), 1);
  } else if (payload.size() <= 0xFFFF) {
    out += static_cast<char>(two_byte_length);
    append_number(out, payload.size(), 2);
  } else {
    out += static_cast<char>(eight_byte_length);
    append_number(out, payload.size(), 8);
  }
  out += payload;
}

/// The codes that a close frame may have (RFC 6455, section 7.4).
bool is_close_code(unsigned code) {
  return (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) || (code >= 3000 && code <= 4999);
}

/// The size of a whole header, known from its first two bytes.
std::size_t header_size(std::uint8_t second) {
  const std::uint8_t length = second & length_bits;
  return 2 + mask_size + (length == two_byte_length ? 2U : length == eight_byte_length ? 8U : 0U);
}

/// Whether the first two bytes begin a frame that a client may send.
bool is_client_frame(std::uint8_t first, std::uint8_t second) {
  const std::uint8_t opcode = first & 0x0F;
  const bool is_known = opcode <= opcode_binary || (opcode >= opcode_close && opcode <= opcode_pong);
  const bool is_sound_control =
      opcode < opcode_close || ((first & final_bit) != 0 && (second & length_bits) <= max_control);
  return (first & reserved_bits) == 0 && is_known && is_sound_control && (second & mask_bit) != 0;
}

}  // namespace

WebSocketEvent WebSocketSession::receive(std::string_view& bytes) {
  while (!bytes.empty()) {
    WebSocketEvent event;
    switch (phase_) {
      case Phase::request:
        event = take_request(bytes);
        break;
      case Phase::header:
        event = take_header(bytes);
        break;
      case Phase::payload:
        event = take_payload(bytes);
        break;
      case Phase::ended:
        bytes = {};
        break;
    }
    if (event.kind != WebSocketEvent::Kind::none) return event;
  }
  return {};
}

WebSocketEvent WebSocketSession::take_request(std::string_view& bytes) {
  constexpr std::string_view end = "\r\n\r\n";
  while (!bytes.empty() && !request_.ends_with(end)) {
    if (request_.size() == options_.max_request) {
      output_ = rejected_request("431 Request Header Fields Too Large", "The request is too long.").text;
      phase_ = Phase::ended;
      return {WebSocketEvent::Kind::closed};
    }
    request_ += bytes.front();
    bytes.remove_prefix(1);
  }
  if (!request_.ends_with(end)) return {};
  HandshakeAnswer answer = answer_request(request_, options_);
  request_ = {};
  output_ = std::move(answer.text);
  subprotocol_ = std::move(answer.subprotocol);
  phase_ = answer.is_accepted ? Phase::header : Phase::ended;
  return {answer.is_accepted ? WebSocketEvent::Kind::opened : WebSocketEvent::Kind::closed};
}

WebSocketEvent WebSocketSession::take_header(std::string_view& bytes) {
  while (!bytes.empty() && frame_.size < frame_.needed) {
    frame_.bytes[frame_.size++] = static_cast<std::uint8_t>(bytes.front());
    bytes.remove_prefix(1);
    if (frame_.size != 2) continue;
    if (!is_client_frame(frame_.bytes[0], frame_.bytes[1])) return fail(WebSocketClose::protocol_error);
    frame_.needed = header_size(frame_.bytes[1]);
  }
  return frame_.size == frame_.needed ? begin_payload() : WebSocketEvent{};
}

/// The header is complete: checks the length, and the frame's place in a message.
WebSocketEvent WebSocketSession::begin_payload() {
  const std::uint8_t form = frame_.bytes[1] & length_bits;
  std::uint64_t length = form;
  if (form >= two_byte_length) {
    length = 0;
    for (std::size_t i = 2; i < frame_.needed - mask_size; ++i) length = length << 8 | frame_.bytes[i];
    const std::uint64_t least = form == two_byte_length ? two_byte_length : 0x10000;
    if (length < least || length >> 63 != 0) return fail(WebSocketClose::protocol_error);
  }
  if (!frame_.is_control()) {
    const bool continues = frame_.opcode() == opcode_continuation;
    if (continues != (opcode_ != 0)) return fail(WebSocketClose::protocol_error);
    if (length > options_.max_message - message_.size() || fragments_ == options_.max_fragments)
      return fail(WebSocketClose::too_large);
    ++fragments_;
    if (!continues) opcode_ = frame_.opcode();
  }
  frame_.left = length;
  phase_ = Phase::payload;
  return length == 0 ? end_frame() : WebSocketEvent{};
}

WebSocketEvent WebSocketSession::take_payload(std::string_view& bytes) {
  const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(frame_.left, bytes.size()));
  std::string& target = frame_.is_control() ? control_ : message_;
  const std::size_t before = target.size();
  target += bytes.substr(0, count);
  bytes.remove_prefix(count);
  const std::uint8_t* const mask = &frame_.bytes[frame_.needed - mask_size];
  for (std::size_t i = before; i < target.size(); ++i)
    target[i] = static_cast<char>(static_cast<std::uint8_t>(target[i]) ^ mask[frame_.taken++ % mask_size]);
  frame_.left -= count;
  return frame_.left == 0 ? end_frame() : WebSocketEvent{};
}

WebSocketEvent WebSocketSession::end_frame() {
  phase_ = Phase::header;
  const WebSocketEvent event = frame_.is_control() ? end_control()
                               : frame_.is_final() ? end_message()
                                                   : WebSocketEvent{};
  frame_ = {};
  return event;
}

WebSocketEvent WebSocketSession::end_control() {
  const std::string payload = std::exchange(control_, {});
  if (frame_.opcode() == opcode_close) return take_close(payload);
  if (frame_.opcode() == opcode_ping) append_frame(output_, opcode_pong, payload);
  return {};
}

WebSocketEvent WebSocketSession::end_message() {
  using Kind = WebSocketEvent::Kind;
  delivered_ = std::exchange(message_, {});
  fragments_ = 0;
  const std::uint8_t opcode = std::exchange(opcode_, std::uint8_t{0});
  if (opcode == opcode_text && !is_utf8(delivered_)) return fail(WebSocketClose::bad_text);
  return {opcode == opcode_text ? Kind::text : Kind::binary, delivered_};
}

/// Answers the client's close frame with its code.
WebSocketEvent WebSocketSession::take_close(std::string_view payload) {
  const auto byte = [payload](std::size_t i) -> unsigned { return static_cast<std::uint8_t>(payload[i]); };
  if (payload.size() == 1) return fail(WebSocketClose::protocol_error);
  if (payload.size() >= 2) {
    if (!is_close_code(byte(0) << 8 | byte(1))) return fail(WebSocketClose::protocol_error);
    if (!is_utf8(payload.substr(2))) return fail(WebSocketClose::bad_text);
  }
  append_frame(output_, opcode_close, payload.substr(0, 2));
  phase_ = Phase::ended;
  return {WebSocketEvent::Kind::closed};
}

WebSocketEvent WebSocketSession::fail(WebSocketClose code) {
  std::string payload;
  append_number(payload, static_cast<std::uint16_t>(code), 2);
  append_frame(output_, opcode_close, payload);
  phase_ = Phase::ended;
  return {WebSocketEvent::Kind::closed};
}

void WebSocketSession::close(WebSocketClose code) {
  if (is_open()) static_cast<void>(fail(code));
}

void append_text_frame(std::string& out, std::string_view text) { append_frame(out, opcode_text, text); }
void append_binary_frame(std::string& out, std::string_view bytes) {
  append_frame(out, opcode_binary, bytes);
}
void append_ping_frame(std::string& out) { append_frame(out, opcode_ping, {}); }

}  // namespace takt::platform
