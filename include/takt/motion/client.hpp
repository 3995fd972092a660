// The client's side of the wire protocol (motion/wire.hpp), over any byte stream. It sends requests and waits
// for the answers and results.
//
//     auto stream = platform::TcpStream::connect("127.0.0.1", motion::default_port, 2s);
//     motion::Client client(std::move(*stream), platform::SteadyClock());
//
//     const motion::MoveMessage move{.joints = {{"elbow_joint"}, ""}, .positions = {1.2}};  // rad
//     auto accepted = client.request({"", move}, 2s);
//
//     auto result = client.result(accepted->goal, 60s);  // how the goal ended
//
// Use a client from one thread at a time. It allocates and waits: it is for programs without deadlines.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "takt/core/byte_stream.hpp"
#include "takt/core/setup_error.hpp"
#include "takt/core/time.hpp"
#include "takt/motion/wire.hpp"

namespace takt::motion {

/// Cuts a stream of bytes into lines.
class LineBuffer {
 public:
  /// The longest line that append() accepts, in bytes.
  static constexpr std::size_t longest_line = std::size_t{16} << 20;

  /// Adds received bytes. Returns false if a line becomes longer than longest_line.
  [[nodiscard]] bool append(std::span<const std::uint8_t> bytes) {
    for (const std::uint8_t byte : bytes) buffer_ += static_cast<char>(byte);
    return buffer_.size() - begin_ <= longest_line;
  }

  /// Takes the next whole line, without its '\n'. Returns nothing if there is none.
  [[nodiscard]] std::optional<std::string> next() {
    const std::size_t end = buffer_.find('\n', searched_);
    if (end == std::string::npos) {
      buffer_.erase(0, begin_);
      begin_ = 0;
      searched_ = buffer_.size();
      return std::nullopt;
    }
    std::string line = buffer_.substr(begin_, end - begin_);
    begin_ = searched_ = end + 1;
    return line;
  }

 private:
  std::string buffer_;
  std::size_t begin_ = 0;     ///< where the next line begins
  std::size_t searched_ = 0;  ///< no '\n' lies between begin_ and here
};

/// Why a request failed: the reason and text of a rejection, or the error of the connection.
struct RequestError : SetupError {
  /// The server's answer, with joint, time, value and limit. Empty if the server did not answer.
  std::optional<Rejection> rejection;
};

/// A client over a byte stream S and a clock C, both of which it owns. Each `timeout` bounds the duration of
/// that call. Not real-time safe.
template <ByteStream S, Clock C>
class Client {
 public:
  /// The most messages that wait for next().
  static constexpr std::size_t most_kept = 4096;

  /// Takes the connected stream and the clock that measures the timeouts.
  Client(S stream, C clock) : stream_(std::move(stream)), clock_(std::move(clock)) {}

  /// Waits for the server's first line. Errors: those of the stream; message_too_slow; malformed (the peer is
  /// no motion server, or one of another protocol version).
  [[nodiscard]] SetupResult<GreetingReply> greeting(Duration timeout) {
    const auto message =
        wait_for<GreetingReply>(clock_.now() + timeout, [](const GreetingReply&) { return true; });
    if (!message) return fail(message.error().error, message.error().message);
    if (message->protocol != wire_protocol_version) {
      return fail(Errc::malformed, "the server speaks protocol " + std::to_string(message->protocol) +
                                       ", but this client speaks " + std::to_string(wire_protocol_version));
    }
    return *message;
  }

  /// Sends one message and does not wait for an answer. Errors: those of the stream.
  [[nodiscard]] SetupResult<void> send(const ClientMessage& message,
                                       Duration timeout = std::chrono::seconds(5)) {
    const std::string line = to_line(message);
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): text as bytes
    const std::span<const std::uint8_t> bytes(reinterpret_cast<const std::uint8_t*>(line.data()),
                                              line.size());
    if (Status sent = stream_.send(bytes, timeout); !sent)
      return fail(sent.error(), "the server cannot be reached");
    return {};
  }

  /// Returns the next message of any kind, oldest first; nothing after `timeout`. Messages that arrive during
  /// other calls are kept for this one, except feedback; beyond `most_kept` the oldest are dropped. Errors:
  /// those of the stream; malformed.
  [[nodiscard]] SetupResult<std::optional<ServerMessage>> next(Duration timeout) {
    if (!waiting_.empty()) {
      std::optional<ServerMessage> message(std::move(waiting_.front()));
      waiting_.pop_front();
      return message;
    }
    return receive(clock_.now() + timeout);
  }

  /// Gives a message back: next() returns it first.
  void put_back(ServerMessage message) { waiting_.push_front(std::move(message)); }

  /// Sends a message under an id of the client's own and waits until the server accepts it. Other messages
  /// that arrive meanwhile stay for next(). Errors: the rejection; those of the stream; message_too_slow.
  [[nodiscard]] tl::expected<AcceptedReply, RequestError> request(ClientMessage message, Duration timeout) {
    return ask<AcceptedReply>(std::move(message), timeout);
  }

  /// Asks the robot's manager of controllers (app/controller_commands.hpp). `request`: JSON text of an object
  /// with one key. Errors: as above.
  [[nodiscard]] tl::expected<ControllersReply, RequestError> controllers(std::string request,
                                                                         Duration timeout) {
    return ask<ControllersReply>({"", ControllersMessage{std::move(request)}}, timeout);
  }

  /// Asks once for the state of the robot. Errors: those of the stream; message_too_slow.
  [[nodiscard]] SetupResult<StateReply> state(Duration timeout) {
    const std::string id = next_id();
    const Time deadline = clock_.now() + timeout;
    if (auto sent = send({id, StateMessage{}}, timeout); !sent)
      return fail(sent.error().error, sent.error().message);
    return wait_for<StateReply>(deadline, [&](const StateReply& reply) { return reply.id == id; });
  }

  /// Waits for the end of a goal. Calls `progress(const FeedbackReply&)` for each feedback of that goal.
  /// Errors: those of the stream; message_too_slow.
  template <class Progress>
  [[nodiscard]] SetupResult<ResultReply> result(GoalId goal, Duration timeout, Progress&& progress) {
    return wait_for<ResultReply>(
        clock_.now() + timeout, [&](const ResultReply& reply) { return reply.goal == goal; },
        [&](const ServerMessage& other) {
          const auto* feedback = std::get_if<FeedbackReply>(&other);
          if (feedback != nullptr && feedback->goal == goal) progress(*feedback);
          return false;
        });
  }
  /// The same without a progress callback.
  [[nodiscard]] SetupResult<ResultReply> result(GoalId goal, Duration timeout) {
    return result(goal, timeout, [](const FeedbackReply&) {});
  }

 private:
  /// An id that differs from those which the caller gives to send(): a JSON string.
  std::string next_id() { return "\"takt " + std::to_string(++last_id_) + '"'; }

  /// Sends a message under an own id, and waits for its answer or rejection.
  template <class Reply>
  [[nodiscard]] tl::expected<Reply, RequestError> ask(ClientMessage message, Duration timeout) {
    const auto failed = [](SetupError error, std::optional<Rejection> rejection = std::nullopt) {
      return tl::unexpected<RequestError>(RequestError{std::move(error), std::move(rejection)});
    };
    const Time deadline = clock_.now() + timeout;
    message.id = next_id();
    if (auto sent = send(message, timeout); !sent) return failed(sent.error());
    std::optional<Rejection> rejection;
    auto answer = wait_for<Reply>(
        deadline, [&](const Reply& reply) { return reply.id == message.id; },
        [&](const ServerMessage& other) {
          const auto* rejected = std::get_if<RejectedReply>(&other);
          const auto* error = std::get_if<ErrorReply>(&other);
          if (rejected != nullptr && rejected->id == message.id) rejection = rejected->why;
          if (error != nullptr) rejection = error->why;
          return rejection.has_value();
        });
    if (rejection) return failed({rejection->reason, rejection->message}, rejection);
    if (!answer) return failed(answer.error());
    return *std::move(answer);
  }

  void keep(ServerMessage&& message) {
    if (waiting_.size() >= most_kept) waiting_.pop_front();
    waiting_.push_back(std::move(message));
  }

  SetupResult<std::optional<ServerMessage>> receive(Time deadline) {
    for (;;) {
      if (const auto line = lines_.next()) {
        auto message = parse_server_message(*line);
        if (!message)
          return fail(message.error().reason,
                      "the server does not speak this protocol: " + message.error().message);
        return std::optional<ServerMessage>(std::move(*message));
      }
      std::array<std::uint8_t, 16384> chunk{};
      const auto count = stream_.receive(chunk, deadline - clock_.now());
      if (!count) return fail(count.error(), "the server ended the connection");
      if (*count == 0) return std::optional<ServerMessage>();
      if (!lines_.append(std::span(chunk).first(*count)))
        return fail(Errc::message_too_large, "the server sent a line that is too long");
    }
  }

  /// Waits for the first message of type M for which `wanted` returns true. `look(message)` sees every other
  /// message, and ends the wait by returning true. Other messages stay for next(), except feedback.
  template <class M, class Wanted, class Look>
  SetupResult<M> wait_for(Time deadline, Wanted&& wanted, Look&& look) {
    for (std::size_t i = 0; i < waiting_.size(); ++i) {
      const M* match = std::get_if<M>(&waiting_[i]);
      if (match == nullptr || !wanted(*match)) continue;
      M found = *match;
      waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
      return found;
    }
    for (;;) {
      auto message = receive(deadline);
      if (!message) return fail(message.error().error, message.error().message);
      if (!*message) return fail(Errc::message_too_slow, "the server did not answer in time");
      const M* match = std::get_if<M>(&**message);
      if (match != nullptr && wanted(*match)) return *match;
      if (look(**message)) return fail(Errc::malformed, "refused");
      if (!std::holds_alternative<FeedbackReply>(**message)) keep(std::move(**message));
    }
  }
  template <class M, class Wanted>
  SetupResult<M> wait_for(Time deadline, Wanted&& wanted) {
    return wait_for<M>(deadline, wanted, [](const ServerMessage&) { return false; });
  }

  S stream_;
  C clock_;
  LineBuffer lines_;
  std::deque<ServerMessage> waiting_;
  std::uint64_t last_id_ = 0;
};

}  // namespace takt::motion
