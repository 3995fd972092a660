// The live streams of a robot: a Foxglove server and PlotJuggler's datagrams. Each has threads of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "takt/app/controller_commands.hpp"
#include "takt/app/devices.hpp"
#include "takt/app/live_options.hpp"
#include "takt/core/setup_error.hpp"
#include "takt/motion/loop.hpp"
#include "takt/robot/description.hpp"

namespace takt::app {

/// The streams of one run.
class LiveStream {
 public:
  /// Opens the server and the socket, and starts their threads. `now`: of the loop's clock. The other
  /// arguments must outlive the stream. Errors: those of platform::WebSocketServer::open() and
  /// platform::UdpSocket::open().
  [[nodiscard]] static SetupResult<std::unique_ptr<LiveStream>> create(const LiveOptions& options,
                                                                       const robot::RobotDescription& robot,
                                                                       const Devices* devices,
                                                                       ControllerCommands& commands,
                                                                       Time now);
  /// Ends the threads.
  ~LiveStream();
  LiveStream(const LiveStream&) = delete;
  LiveStream& operator=(const LiveStream&) = delete;

  /// Takes the samples; it belongs to the loop.
  [[nodiscard]] motion::LoopObserver& tap() noexcept;
  /// The port of the Foxglove server; std::nullopt without one.
  [[nodiscard]] std::optional<std::uint16_t> foxglove_port() const noexcept;

 private:
  struct Parts;
  explicit LiveStream(std::unique_ptr<Parts> parts) noexcept;
  std::unique_ptr<Parts> parts_;
};

}  // namespace takt::app
