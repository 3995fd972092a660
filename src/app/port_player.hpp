// A component from a recording: it has the recorded out-ports, and writes into them again what was recorded,
// in the recorded rhythm. Connections do not see the difference.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "record/message_form.hpp"
#include "takt/component/component.hpp"
#include "takt/component/opaque_port.hpp"
#include "takt/core/setup_error.hpp"
#include "takt/core/time.hpp"
#include "takt/record/compression.hpp"
#include "takt/record/reader.hpp"
#include "takt/shm/byte_ring.hpp"

namespace takt::app {

/// A thread reads the file ahead into a ring, so the callbacks of the cycle are real-time safe. In virtual
/// time the cycle reads the file itself.
class PortPlayer final : public component::Component {
 public:
  static constexpr component::ComponentMetadata about{
      .type = "Recording",
      .version = "1.0.0",
      .vendor = "takt",
      .category = "recorder",
      .description = "Writes recorded values into out-ports."};

  /// Reads the whole file once, and makes the ports that the component of this name had. Errors: those of
  /// record::Reader; shm's bad_schema; component's no_such_port: the file has no port of it, one without a
  /// valid name, or too many.
  [[nodiscard]] static SetupResult<std::shared_ptr<PortPlayer>> open(const std::string& name,
                                                                     const std::string& path,
                                                                     record::Compression* compression);
  ~PortPlayer() override { static_cast<void>(finish()); }

  /// Begins to read. `reads_itself`: no thread reads, as in virtual time. Errors: those of record::Reader.
  [[nodiscard]] SetupResult<void> begin(bool reads_itself);
  /// Ends the thread, after the last cycle. "played 1200 values of run.mcap, 0 late"; empty if it never
  /// began. An error of the file after its beginning is in the text.
  [[nodiscard]] std::string finish();

  [[nodiscard]] Status on_execute(const component::CycleTime& cycle) noexcept override;
  void on_deactivate(const component::CycleTime& /*cycle*/) noexcept override { pauses_ = true; }

 private:
  struct Port {
    std::string topic;
    record::MessageForm form;
    std::unique_ptr<component::OpaqueOutPort> out;
  };
  /// What precedes a value in the ring.
  struct Head {
    std::uint64_t port = 0;
    Time stamp{};
  };

  PortPlayer(std::string name, std::string path, record::Compression* compression)
      : Component(about, std::move(name)), path_(std::move(path)), compression_(compression) {}
  [[nodiscard]] SetupResult<record::Reader> reader() const;
  [[nodiscard]] SetupResult<void> add_port(const record::SampleRecord& sample, std::string_view prefix);
  [[nodiscard]] Port* find_port_of(std::string_view topic) noexcept;
  /// Reads until the ring is full, or the file ends.
  void fill();
  [[nodiscard]] bool put_read_value();

  std::string path_;
  record::Compression* compression_;
  std::vector<Port> ports_;
  Time first_{};              ///< stamp of the first value of any component
  bool was_virtual_ = false;  ///< recorded in virtual time, whose stamps then stay

  // Of the reading side.
  std::optional<record::Reader> reader_;
  const Port* waiting_ = nullptr;  ///< the port of value_, which has found no room
  Time waiting_stamp_{};
  std::vector<std::uint8_t> value_;
  std::string failure_;
  std::atomic<bool> at_end_{false};
  bool reads_itself_ = false;
  bool has_begun_ = false;
  std::mutex mutex_;  // protects stop_
  std::condition_variable wake_;
  bool stop_ = false;
  std::thread thread_;

  shm::ByteRing ring_{std::size_t{4} << 20};

  // Of the cycle.
  std::optional<Duration> ahead_;  ///< our clock minus the recorded one
  bool pauses_ = false;
  Time last_cycle_{};
  std::uint64_t played_ = 0;
  std::uint64_t late_ = 0;  ///< cycles in which the file was not read far enough
};

}  // namespace takt::app
