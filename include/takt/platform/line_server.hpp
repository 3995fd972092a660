// Carries lines of text between TCP clients and a LineService, on 127.0.0.1 only: what comes from other machines needs
// authentication first. One thread, whichever calls run(); the service is only ever called from it. Made for clients that
// misbehave. Lines are capped in length and in the time that they may take. A client that does not read is dropped; one that
// ends its input reads on until it has its answers. One client too many is told so. If file descriptors run out, it waits for
// some.
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

struct LineServerOptions {
  std::uint16_t port = 0;                            ///< 0: any free port
  std::size_t max_line = std::size_t{4} << 20;       ///< bytes, without the '\n'
  Duration line_deadline = std::chrono::seconds(5);  ///< from the first byte of a line to its '\n'
  std::size_t max_clients = 256;
  std::size_t max_output = std::size_t{4} << 20;  ///< bytes that may wait for a client that does not read
};

class LineServer {
 public:
  LineServer();
  ~LineServer();
  LineServer(const LineServer&) = delete;
  LineServer& operator=(const LineServer&) = delete;

  /// Begins to listen; returns the port. Connections wait until run(). Error: the system's, for example the port is taken.
  [[nodiscard]] SetupResult<std::uint16_t> open(const LineServerOptions& options = {});

  /// Serves until stop(). What the service says to the last poll() is still sent, as far as the clients take it at once; then all
  /// connections are closed. Once per open().
  template <LineService S>
  void run(S& service) {
    Adapter<S> adapter(service);
    serve(adapter);
  }

  /// Ends run(), also one that has not begun. From any thread; not from a signal handler.
  void stop() noexcept;

 private:
  /// The service without its type.
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
