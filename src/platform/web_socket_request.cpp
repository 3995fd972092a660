#include "platform/web_socket_request.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <vector>

#include "platform/sha1.hpp"

namespace takt::platform {
namespace {

constexpr std::string_view line_end = "\r\n";
constexpr std::string_view bad_request = "400 Bad Request";
constexpr std::string_view forbidden = "403 Forbidden";
constexpr std::string_view handshake_guid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

struct Header {
  std::string_view name;
  std::string_view value;
};

bool is_same(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blank = " \t";
  const std::size_t first = text.find_first_not_of(blank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

/// Splits at a separator, and gives up to `separator` and what follows it.
std::string_view next_piece(std::string_view& text, std::string_view separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view piece = text.substr(0, end);
  text.remove_prefix(std::min(end + separator.size(), text.size()));
  return piece;
}

/// A letter, digit or mark that a header's name may have (RFC 9110, "token").
bool is_token_character(unsigned char c) {
  return std::isalnum(c) != 0 ||
         (c != 0 && std::string_view("!#$%&'*+-.^_`|~").find(static_cast<char>(c)) != std::string_view::npos);
}

bool is_value_character(unsigned char c) { return c == '\t' || (c >= 0x20 && c != 0x7F); }

/// std::nullopt if a line is not "name: value".
std::optional<std::vector<Header>> headers_in(std::string_view lines) {
  std::vector<Header> headers;
  while (!lines.empty()) {
    const std::string_view line = next_piece(lines, line_end);
    if (line.empty()) break;
    const std::size_t colon = line.find(':');
    if (colon == 0 || colon == std::string_view::npos) return std::nullopt;
    const Header header{line.substr(0, colon), trimmed(line.substr(colon + 1))};
    if (!std::ranges::all_of(header.name, is_token_character)) return std::nullopt;
    if (!std::ranges::all_of(header.value, is_value_character)) return std::nullopt;
    headers.push_back(header);
  }
  return headers;
}

/// The headers of a request, by name.
class Headers {
 public:
  explicit Headers(std::vector<Header> headers) : headers_(std::move(headers)) {}

  [[nodiscard]] std::ptrdiff_t count(std::string_view name) const {
    return std::ranges::count_if(headers_,
                                 [name](const Header& header) { return is_same(header.name, name); });
  }
  /// The value of the first one; empty: there is none.
  [[nodiscard]] std::string_view value(std::string_view name) const {
    const auto found =
        std::ranges::find_if(headers_, [name](const Header& header) { return is_same(header.name, name); });
    return found == headers_.end() ? std::string_view() : found->value;
  }
  /// The words of all lists with this name, in order.
  [[nodiscard]] std::vector<std::string_view> words(std::string_view name) const {
    std::vector<std::string_view> words;
    for (const Header& header : headers_) {
      std::string_view list = header.value;
      while (is_same(header.name, name) && !list.empty()) words.push_back(trimmed(next_piece(list, ",")));
    }
    return words;
  }
  [[nodiscard]] bool has_word(std::string_view name, std::string_view word) const {
    return std::ranges::any_of(words(name), [word](std::string_view one) { return is_same(one, word); });
  }

 private:
  std::vector<Header> headers_;
};

bool is_request_line(std::string_view line) {
  const std::string_view method = next_piece(line, " ");
  const std::string_view target = next_piece(line, " ");
  const bool is_printable = std::ranges::all_of(target, [](unsigned char c) { return c > 0x20 && c < 0x7F; });
  return method == "GET" && target.starts_with('/') && is_printable && line == "HTTP/1.1";
}

/// 16 bytes in base64: 21 letters, one with two bits, and the padding.
bool is_key(std::string_view key) {
  const auto is_letter = [](unsigned char c) { return std::isalnum(c) != 0 || c == '+' || c == '/'; };
  return key.size() == 24 && std::ranges::all_of(key.substr(0, 22), is_letter) &&
         std::string_view("AQgw").find(key[21]) != std::string_view::npos && key.ends_with("==");
}

/// An IP address or localhost, with or without a port. A name of DNS could be an attacker's.
bool is_local_host(std::string_view host) {
  const auto is_port = [](std::string_view text) {
    return text.empty() || (text[0] == ':' && text.size() > 1 &&
                            text.find_first_not_of("0123456789", 1) == std::string_view::npos);
  };
  if (host.starts_with('[')) {
    const std::size_t end = std::min(host.find(']'), host.size());
    const std::string_view address = host.substr(1, end - 1);
    return end < host.size() && address.find(':') != std::string_view::npos &&
           address.find_first_not_of("0123456789abcdefABCDEF:.") == std::string_view::npos &&
           is_port(host.substr(end + 1));
  }
  const std::size_t end = std::min(host.find(':'), host.size());
  const std::string_view name = host.substr(0, end);
  const bool is_address =
      std::ranges::count(name, '.') == 3 && name.find_first_not_of("0123456789.") == std::string_view::npos;
  return (is_address || is_same(name, "localhost")) && is_port(host.substr(end));
}

/// Why the request does not open a WebSocket; empty: it does.
std::string_view mistake_in(const Headers& headers) {
  if (headers.count("Host") != 1) return "The request needs one Host.";
  if (!headers.has_word("Upgrade", "websocket")) return "This server speaks WebSocket only.";
  if (!headers.has_word("Connection", "Upgrade")) return "The header Connection must have Upgrade.";
  if (headers.count("Sec-WebSocket-Key") != 1 || !is_key(headers.value("Sec-WebSocket-Key")))
    return "Sec-WebSocket-Key must be 16 bytes in base64.";
  return {};
}

bool has(const std::vector<std::string>& list, std::string_view word) {
  return std::ranges::find(list, word) != list.end();
}

HandshakeAnswer accepted(const Headers& headers, std::string_view subprotocol) {
  const auto digest = sha1(std::string(headers.value("Sec-WebSocket-Key")) + std::string(handshake_guid));
  HandshakeAnswer answer{true, std::string(subprotocol), {}};
  answer.text =
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
      "Sec-WebSocket-Accept: " +
      base64(digest) + "\r\n";
  if (!subprotocol.empty()) answer.text += "Sec-WebSocket-Protocol: " + answer.subprotocol + "\r\n";
  answer.text += line_end;
  return answer;
}

}  // namespace

HandshakeAnswer rejected_request(std::string_view status, std::string_view reason) {
  HandshakeAnswer answer;
  answer.text = "HTTP/1.1 " + std::string(status) + "\r\nConnection: close\r\nContent-Type: text/plain\r\n" +
                "Sec-WebSocket-Version: 13\r\nContent-Length: " + std::to_string(reason.size() + 1) +
                "\r\n\r\n" + std::string(reason) + "\n";
  return answer;
}

HandshakeAnswer answer_request(std::string_view request, const WebSocketOptions& options) {
  if (!is_request_line(next_piece(request, line_end)))
    return rejected_request(bad_request, "The request must be GET with HTTP/1.1.");
  auto listed = headers_in(request);
  if (!listed) return rejected_request(bad_request, "A header is malformed.");
  const Headers headers(std::move(*listed));
  if (const std::string_view mistake = mistake_in(headers); !mistake.empty())
    return rejected_request(bad_request, mistake);
  if (headers.value("Sec-WebSocket-Version") != "13")
    return rejected_request("426 Upgrade Required", "The version of WebSocket must be 13.");
  if (!is_local_host(headers.value("Host")))
    return rejected_request(forbidden, "The host must be an IP address or localhost.");
  if (headers.count("Origin") > 1 ||
      (headers.count("Origin") == 1 && !has(options.origins, headers.value("Origin"))))
    return rejected_request(forbidden, "Web pages of this origin may not connect.");
  if (options.subprotocols.empty()) return accepted(headers, {});
  for (const std::string_view offered : headers.words("Sec-WebSocket-Protocol")) {
    if (has(options.subprotocols, offered)) return accepted(headers, offered);
  }
  return rejected_request(bad_request, "This server speaks none of the subprotocols offered.");
}

}  // namespace takt::platform
