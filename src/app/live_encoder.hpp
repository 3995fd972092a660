// Live samples as messages of Foxglove's channels, and as PlotJuggler's JSON. Not real-time safe.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "app/live_sample.hpp"
#include "takt/record/foxglove_server.hpp"
#include "takt/robot/description.hpp"

namespace takt::app {

/// The channels of a robot, in the order of live_channels().
enum class LiveTopic : std::uint8_t { measured, reference, robot, loop, buses };
inline constexpr std::size_t live_topic_count = 5;

[[nodiscard]] std::vector<record::LiveChannel> live_channels();

/// Encodes the samples of one robot, in order.
class LiveEncoder {
 public:
  /// `epoch`: ns since 1970 at the zero of the loop's clock.
  LiveEncoder(const robot::RobotDescription& robot, std::int64_t epoch);

  /// Takes the next sample.
  void take(const LiveSample& sample);
  /// Its time in ns since 1970.
  [[nodiscard]] std::uint64_t time() const noexcept;
  [[nodiscard]] std::string message(LiveTopic topic) const;
  /// The whole sample as one document.
  [[nodiscard]] std::string document() const;

 private:
  const robot::RobotDescription* robot_;
  std::int64_t epoch_;
  std::vector<std::string> names_;
  LiveSample sample_;
  std::array<double, max_live_buses> loads_{};  ///< fraction of the time since the sample before
};

}  // namespace takt::app
