// A server of Foxglove's WebSocket protocol, without a socket: channels that clients subscribe to, their
// messages, the time, and parameters to read and set. A MessageService: platform/web_socket_server.hpp
// carries it. Foxglove, Lichtblick and PlotJuggler are its clients.
//
//     record::FoxgloveServer server({.name = "arm"}, {{.topic = "/loop", .encoding = "json"}});
//     if (server.wants(0)) server.publish(0, unix_nanoseconds, R"({"busy":0.0002})");
//
// It speaks the subprotocols of foxglove_subprotocols: ws-protocol at 305d217, and the same part of the SDK.
// A bad request is answered with a status, and the connection stays. Memory for each client is bounded.
//
// Parameters come from a desk, which may take its time: it runs in an executor, one call at a time. Changes
// are found by asking it twice a second while a client has subscribed to a parameter.
//
// Not real-time safe: it allocates. One thread calls it.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "takt/component/assignment.hpp"
#include "takt/core/message_service.hpp"
#include "takt/core/time.hpp"

namespace takt::record {

/// The subprotocols that a client may offer.
inline constexpr const char* foxglove_subprotocols[] = {"foxglove.websocket.v1", "foxglove.sdk.v1"};
/// The web page of Foxglove, which may connect.
inline constexpr const char* foxglove_origin = "https://app.foxglove.dev";
/// The port that clients try first.
inline constexpr std::uint16_t foxglove_port = 8765;

/// A stream of messages. The schema is that of the encoding: "ros2msg" for "cdr", "jsonschema" for "json".
struct LiveChannel {
  std::string topic;  ///< "/joints/measured"; unique
  std::string encoding{};
  std::string schema_name{};
  std::string schema{};
  std::string schema_encoding{};
};

/// The values of all parameters, after changes.
struct ParameterAnswer {
  std::vector<component::Assignment> values;  ///< with unique names
  std::vector<std::string> mistakes;          ///< why changes were rejected
};
/// Applies changes, perhaps none, and gives all values. It may wait, for a bounded time.
using ParameterDesk = std::function<ParameterAnswer(const std::vector<component::Assignment>& changes)>;

/// Options of a FoxgloveServer.
struct FoxgloveOptions {
  std::string name = "takt";   ///< of the server, for people
  std::string session{};       ///< another text for another run: clients then forget what they have
  ParameterDesk parameters{};  ///< null: there are no parameters
  /// Runs `parameters`, one call at a time. The default runs it inside received() and poll().
  std::function<void(const std::function<void()>&)> executor = [](const std::function<void()>& work) {
    work();
  };
  std::size_t max_subscriptions = 256;  ///< of a client
  std::size_t max_watched = 1024;       ///< parameters that a client subscribes to
  std::size_t max_requests = 32;        ///< for parameters, that are not answered, in total
};

/// The server.
class FoxgloveServer {
 public:
  /// Channel i of `channels` has number i.
  FoxgloveServer(FoxgloveOptions options, std::vector<LiveChannel> channels);

  /// Whether a client has subscribed to the channel.
  [[nodiscard]] bool wants(std::size_t channel) const;
  /// Sends a message to all who subscribed. `time`: ns since 1970, as for tell_time().
  void publish(std::size_t channel, std::uint64_t time, std::string_view message);
  /// Tells all clients the time of the robot.
  void tell_time(std::uint64_t time);
  /// Tells all clients something, for people.
  void warn(std::string_view text);

  /// The service (core/message_service.hpp).
  void connected(ClientId client, Time now);
  void received(ClientId client, MessageKind kind, std::string_view bytes, Time now);
  void disconnected(ClientId client, Time now);
  Duration poll(Time now);
  [[nodiscard]] std::vector<MessageOutput> take_output() { return std::exchange(output_, {}); }

 private:
  class Reader;
  struct Work;

  struct Client {
    std::map<std::uint32_t, std::size_t> subscriptions;  ///< channels, by the client's ids
    std::set<std::string, std::less<>> watched;          ///< names of parameters
  };

  void subscribe(ClientId client, std::uint64_t id, std::uint64_t channel);
  void unsubscribe(ClientId client, std::uint64_t id);
  void watch(ClientId client, const std::vector<std::string>& names, bool wanted);
  void ask(std::shared_ptr<Work> work);
  void advance();
  void answer(const Work& work);
  void tell_changes(const std::vector<component::Assignment>& values);
  void refuse(ClientId client, std::string_view reason);
  void send(ClientId client, std::string text);
  void send_sample(ClientId client, std::string bytes);

  FoxgloveOptions options_;
  std::vector<LiveChannel> channels_;
  std::string advertisement_;
  std::map<ClientId, Client> clients_;
  std::deque<std::shared_ptr<Work>> requests_;  ///< in order of arrival; the first one runs
  std::map<std::string, component::ParameterValue, std::less<>> known_;  ///< parameters, as last seen
  Time next_look_{};                                                     ///< at the parameters
  std::vector<MessageOutput> output_;
};
static_assert(MessageService<FoxgloveServer>);

}  // namespace takt::record
