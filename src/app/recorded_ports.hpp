// In-ports of controllers in a recording (app/run_recorder.hpp): what each of them has read. Components
// beside the robot write when they like. A controller sees of that its reads alone, so a replay answers them
// alike.
//
//   /reads/CONTROLLER.PORT   each new sample, with the reads before it that found none
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "takt/component/port.hpp"
#include "takt/core/fields.hpp"
#include "takt/core/setup_error.hpp"
#include "takt/core/time.hpp"
#include "takt/record/recorder.hpp"
#include "takt/robot/manager.hpp"

namespace takt::app {

inline constexpr std::string_view read_topics = "/reads/";

/// The name and the type of an in-port.
struct RecordedPort {
  std::string name;           ///< "controller.port"
  std::string sample_schema;  ///< of its component::Sample
};

/// The beginning of a message in a recording. The sample follows.
struct RecordedRead {
  std::uint64_t number = 0;  ///< of the port's samples, from 1
  std::uint64_t cycle = 0;   ///< cycles whose devices were read before this
  std::uint64_t empty = 0;   ///< reads since the last sample, that found none
  std::uint64_t missed = 0;  ///< samples that were lost between the last one and this one

  TAKT_FIELDS(RecordedRead, number, cycle, empty, missed)
};
/// When a read happens.
struct ReadMoment {
  Time time{};              ///< of the cycle that began last
  std::uint64_t cycle = 0;  ///< as in RecordedRead
};
/// The schema of the messages of a port; empty if that would be too long: then a message is its bytes.
[[nodiscard]] std::string read_schema(const RecordedPort& port);

/// The in-port of a controller by its full name; null if there is none. The controller must stay loaded.
[[nodiscard]] component::InPortBase* find_in_port(robot::Manager& manager, std::string_view name);

/// Records the reads of ports. Real-time safe after construction.
class PortReads {
 public:
  /// Taps the ports of all controllers that are loaded, at set-up. It must outlive the robot's cycles.
  explicit PortReads(robot::Manager& manager);

  [[nodiscard]] const std::vector<RecordedPort>& ports() const noexcept { return ports_; }
  /// The topics; their schemas live as long as this.
  [[nodiscard]] std::vector<record::Topic> topics() const;
  /// Begins to record, by the loop's lane, before the first cycle. `first`: the index of the first topic.
  /// `moment`: the present one. All must outlive the robot's cycles.
  void record_to(record::Lane& lane, std::size_t first, const ReadMoment& moment) noexcept {
    lane_ = &lane;
    first_ = first;
    moment_ = &moment;
  }

 private:
  class Tap final : public component::PortTap {
   public:
    Tap(PortReads& reads, std::size_t port, std::size_t bytes)
        : reads_(&reads), port_(port), message_(sizeof(RecordedRead) + bytes) {}
    [[nodiscard]] bool read(component::InPortBase& port) noexcept override;

   private:
    PortReads* reads_;
    std::size_t port_;
    RecordedRead head_;
    std::uint64_t missed_ = 0;  ///< by the port, up to the last sample
    std::vector<std::uint8_t> message_;
  };

  std::vector<RecordedPort> ports_;
  std::vector<std::string> schemas_;
  std::deque<Tap> taps_;
  record::Lane* lane_ = nullptr;
  std::size_t first_ = 0;
  const ReadMoment* moment_ = nullptr;
};

}  // namespace takt::app
