// Carries lines of text between TCP clients and a LineService, on 127.0.0.1 only. Other machines would need
// authentication first. The thread that calls run() does all the work and makes all calls to the service. Not
// real-time safe.
//
// The server limits misbehaving clients. A line has a largest length and a deadline. The server drops a
// client that does not read. A client that ends its input still gets its answers. A client beyond the limit
// gets an error and is closed. If no file descriptor is left, new clients wait.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "takt/core/line_service.hpp"
#include "takt/core/setup_error.hpp"
#include "takt/core/time.hpp"

namespace takt::platform {

/// Limits of a LineServer.
struct LineServerOptions {
  std::uint16_t port = 0;                            ///< 0: any free port
  std::size_t max_line = max_line_bytes;             ///< bytes, without the '\n'
  Duration line_deadline = std::chrono::seconds(5);  ///< from the first byte of a line to its '\n'
  std::size_t max_clients = 256;                     ///< at a time
  std::size_t max_output = std::size_t{4} << 20;     ///< bytes that may wait for a slow client
};

/// The server. Only stop() may be called from other threads.
class LineServer {
 public:
  LineServer();
  ~LineServer();
  LineServer(const LineServer&) = delete;
  LineServer& operator=(const LineServer&) = delete;

  /// Starts to listen and returns the port. Connections wait until run(). Errors: listen_failed with the
  /// system's reason, for example that the port is taken.
  [[nodiscard]] SetupResult<std::uint16_t> open(const LineServerOptions& options = {});

  /// Serves until stop(). Call it once per open(). At the end, it sends the output of the last poll() as far
  /// as clients accept it at once, and closes all connections.
  template <LineService S>
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
    virtual void received(ClientId client, std::string_view line, Time now) = 0;
    virtual void refused(ClientId client, LineFault fault, Time now) = 0;
    virtual void disconnected(ClientId client, Time now) = 0;
    virtual bool owes(ClientId client) = 0;
    virtual Duration poll(Time now) = 0;
    virtual std::vector<LineOutput> take_output() = 0;

   protected:
    AnyService() = default;
  };

  template <LineService S>
  class Adapter final : public AnyService {
   public:
    explicit Adapter(S& service) : service_(&service) {}
    void connected(ClientId client, Time now) override { service_->connected(client, now); }
    void received(ClientId client, std::string_view line, Time now) override {
      service_->received(client, line, now);
    }
    void refused(ClientId client, LineFault fault, Time now) override {
      service_->refused(client, fault, now);
    }
    void disconnected(ClientId client, Time now) override { service_->disconnected(client, now); }
    bool owes(ClientId client) override { return service_->owes(client); }
    Duration poll(Time now) override { return service_->poll(now); }
    std::vector<LineOutput> take_output() override { return service_->take_output(); }

   private:
    S* service_;
  };

  void serve(AnyService& service);

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace takt::platform
