// Carries messages between WebSocket clients and a MessageService. The thread that calls run() does all the
// work and makes all calls to the service. By default it listens on 127.0.0.1 only. Not real-time safe.
//
// The server limits misbehaving clients. A handshake has a deadline, and messages have a largest size. A slow
// client loses the oldest samples, and its connection once other messages fill its queue. A silent client
// gets a ping, and is dropped without an answer. Clients beyond the limit are closed at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "takt/core/message_service.hpp"
#include "takt/core/setup_error.hpp"
#include "takt/core/time.hpp"
#include "takt/platform/web_socket.hpp"

namespace takt::platform {

/// Where a WebSocketServer listens, and its limits.
struct WebSocketServerOptions {
  std::string address = "127.0.0.1";  ///< numeric; another one than loopback lets other machines in
  std::uint16_t port = 0;             ///< 0: any free port
  WebSocketOptions sessions{};
  std::size_t max_clients = 32;                       ///< at a time
  std::size_t max_samples = 1024;                     ///< that may wait for a slow client
  std::size_t max_output = std::size_t{8} << 20;      ///< bytes that may wait for a slow client
  Duration handshake = std::chrono::seconds(5);       ///< time for the handshake
  Duration ping_after = std::chrono::seconds(10);     ///< without a byte from the client
  Duration silence_limit = std::chrono::seconds(30);  ///< after which a silent client is dropped
};

/// The server. Only stop() may be called from other threads.
class WebSocketServer {
 public:
  WebSocketServer();
  ~WebSocketServer();
  WebSocketServer(const WebSocketServer&) = delete;
  WebSocketServer& operator=(const WebSocketServer&) = delete;

  /// Starts to listen and returns the port. Connections wait until run(). Errors: bad_address; listen_failed
  /// with the system's reason, for example that the port is taken.
  [[nodiscard]] SetupResult<std::uint16_t> open(WebSocketServerOptions options = {});

  /// Serves until stop(). Call it once per open(). At the end, all clients get a close frame.
  template <MessageService S>
  void run(S& service) {
    Adapter<S> adapter(service);
    serve(adapter);
  }

  /// Ends run(), or a later run() at once. Call it from any thread, but not from a signal handler.
  void stop() noexcept;

 private:
  /// The service with its type erased.
  class AnyService {
   public:
    virtual ~AnyService() = default;
    AnyService(const AnyService&) = delete;
    AnyService& operator=(const AnyService&) = delete;
    virtual void connected(ClientId client, Time now) = 0;
    virtual void received(ClientId client, MessageKind kind, std::string_view bytes, Time now) = 0;
    virtual void disconnected(ClientId client, Time now) = 0;
    virtual Duration poll(Time now) = 0;
    virtual std::vector<MessageOutput> take_output() = 0;

   protected:
    AnyService() = default;
  };

  template <MessageService S>
  class Adapter final : public AnyService {
   public:
    explicit Adapter(S& service) : service_(&service) {}
    void connected(ClientId client, Time now) override { service_->connected(client, now); }
    void received(ClientId client, MessageKind kind, std::string_view bytes, Time now) override {
      service_->received(client, kind, bytes, now);
    }
    void disconnected(ClientId client, Time now) override { service_->disconnected(client, now); }
    Duration poll(Time now) override { return service_->poll(now); }
    std::vector<MessageOutput> take_output() override { return service_->take_output(); }

   private:
    S* service_;
  };

  void serve(AnyService& service);

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace takt::platform
