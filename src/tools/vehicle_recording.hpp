// The recording of a drive, and the vehicle that plays it.
//
//   /vehicle/received   each payload of the vehicle, as it came: what the recorded variant gives again
//   /vehicle/odometry   vehicle::OdometryEstimate, after each of them
//   /vehicle/status     VehicleStatus, every cycle
//   /vehicle/command    VehicleCommand, every cycle
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "takt/core/error.hpp"
#include "takt/core/fields.hpp"
#include "takt/core/setup_error.hpp"
#include "takt/core/time.hpp"
#include "takt/mobile/pose.hpp"
#include "takt/record/reader.hpp"
#include "takt/record/recorder.hpp"
#include "takt/robot/vehicle_description.hpp"
#include "takt/secure/channel.hpp"
#include "takt/vehicle/vehicle_drive.hpp"
#include "tools/drive_publication.hpp"
#include "tools/drive_view.hpp"

namespace takt::tools {

/// What the vehicle is told to do.
struct VehicleCommand {
  mobile::Twist wanted{};  ///< m/s, rad/s: by keys or the script
  double steering = 0;     ///< rad
  double throttle = 0;     ///< -1..1, of full throttle
  double brake = 0;        ///< 0..1

  TAKT_FIELDS(VehicleCommand, wanted, steering, throttle, brake)
};

/// One drive's recording. A thread writes it.
class VehicleRecording {
 public:
  /// Errors: those of record::Recorder::create(); app's recording_exists.
  [[nodiscard]] static SetupResult<VehicleRecording> open(const std::string& path,
                                                          const robot::VehicleDescription& description);

  /// All three are real-time safe. One thread calls them.
  void received(std::span<const std::uint8_t> payload, Time now) noexcept;
  void write(const vehicle::OdometryEstimate& estimate, Time now) noexcept;
  void write(const DriveView& view) noexcept;

  /// Ends the file. "recorded 1200 values in run.mcap, 0 lost". Errors: those of record::Recorder::finish(),
  /// and write_failed if values were lost.
  [[nodiscard]] SetupResult<std::string> finish();

 private:
  VehicleRecording(std::string path, std::unique_ptr<record::Recorder> recorder)
      : path_(std::move(path)), recorder_(std::move(recorder)) {}

  std::string path_;
  std::unique_ptr<record::Recorder> recorder_;
};

/// A channel that records what it opens. Without a recording it is the channel.
template <secure::Channel C>
class RecordedChannel {
 public:
  static constexpr std::size_t overhead = C::overhead;
  static constexpr std::size_t max_handshake = C::max_handshake;

  /// The recording must outlive the channel; null: none.
  RecordedChannel(C channel, VehicleRecording* recording) noexcept
      : channel_(std::move(channel)), recording_(recording) {}

  [[nodiscard]] Result<secure::Opened> open(std::span<const std::uint8_t> datagram, Time now) noexcept {
    const Result<secure::Opened> opened = channel_.open(datagram, now);
    if (opened && !opened->payload.empty() && recording_ != nullptr)
      recording_->received(opened->payload, now);
    return opened;
  }
  [[nodiscard]] Result<std::size_t> seal(std::span<const std::uint8_t> payload, secure::Urgency urgency,
                                         Time now, std::span<std::uint8_t> out) noexcept {
    return channel_.seal(payload, urgency, now, out);
  }
  [[nodiscard]] bool established(Time now) const noexcept { return channel_.established(now); }
  [[nodiscard]] Time next_handshake() const noexcept { return channel_.next_handshake(); }
  [[nodiscard]] Result<std::size_t> poll_handshake(Time now, std::span<std::uint8_t> out) noexcept {
    return channel_.poll_handshake(now, out);
  }

 private:
  C channel_;
  VehicleRecording* recording_;
};

/// A vehicle that says what a recorded one said, in the same rhythm, and does not obey. After the last
/// payload it is silent.
class RecordedVehicle {
 public:
  /// Reads the whole file once. The first payload is due at `start`. Errors: those of record::Reader;
  /// record's bad_message: there is no payload of a vehicle.
  [[nodiscard]] static SetupResult<RecordedVehicle> open(const std::string& path, Time start);

  Status receive(std::span<const std::uint8_t> /*datagram*/, Time /*now*/) noexcept { return {}; }
  void recover() noexcept {}
  [[nodiscard]] Time next_send() const noexcept { return payload_.empty() ? Time::max() : due_; }
  /// Writes the payload that is due, and reads the next one. If the file can no longer be read, it ends.
  [[nodiscard]] Result<std::size_t> poll(Time now, std::span<std::uint8_t> out);

 private:
  explicit RecordedVehicle(record::Reader reader) : reader_(std::move(reader)) {}
  [[nodiscard]] SetupResult<void> read_next();

  record::Reader reader_;
  std::optional<Duration> ahead_;  ///< our clock minus the recorded one
  Time start_{};
  Time due_{};
  std::vector<std::uint8_t> payload_;  ///< empty: there is no more
};

}  // namespace takt::tools
