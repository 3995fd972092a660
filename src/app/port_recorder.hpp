// Records the out-ports of components: a component with an in-port for each of them.
//
//   /ports/NAME   each value of the port "component.port", at its stamp
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "takt/component/component.hpp"
#include "takt/component/connection.hpp"
#include "takt/component/opaque_port.hpp"
#include "takt/core/setup_error.hpp"
#include "takt/core/time.hpp"
#include "takt/record/recorder.hpp"

namespace takt::app {

/// The path, or "run.1.mcap" and so on while "run.mcap" exists. A system keeps older recordings.
[[nodiscard]] std::string free_path(const std::string& path);

/// Runs in a context of its own, beside those of the components: a port pays for a copy into a ring. The
/// callbacks of the cycle are real-time safe.
class PortRecorder final : public component::Component {
 public:
  static constexpr component::ComponentMetadata about{.type = "PortRecorder",
                                                      .version = "1.0.0",
                                                      .vendor = "takt",
                                                      .category = "recorder",
                                                      .description = "Records out-ports of components."};
  /// Its period. A ring holds what a port writes meanwhile.
  static constexpr Duration period = std::chrono::milliseconds(20);

  explicit PortRecorder(std::string name) : Component(about, std::move(name)) {}
  ~PortRecorder() override { static_cast<void>(finish()); }

  /// Connects a port to it. Set-up, before open(). Errors: those of component::connect().
  [[nodiscard]] SetupResult<void> add(const std::string& name, component::OutPortBase& port);
  /// Begins the file; of a name that exists, the one with the next free number: run.mcap, run.1.mcap.
  /// `writes_itself`: no thread writes, as in virtual time. Errors: those of record::Recorder::create().
  [[nodiscard]] SetupResult<void> open(const std::string& path, const record::Metadata& metadata,
                                       record::Compression* compression, bool writes_itself);
  /// Ends the file, after the last cycle. "recorded 1200 values in run.mcap, 0 lost"; empty if it was never
  /// open. Errors: those of record::Recorder::finish().
  [[nodiscard]] SetupResult<std::string> finish();

  [[nodiscard]] Status on_execute(const component::CycleTime&) noexcept override;
  /// Records what was written last.
  void on_deactivate(const component::CycleTime& cycle) noexcept override {
    static_cast<void>(on_execute(cycle));
  }

 private:
  struct Port {
    std::string name;
    std::unique_ptr<component::OpaqueInPort> in;
    component::Connection connection;
  };
  std::vector<Port> ports_;
  std::string path_;
  std::unique_ptr<record::Recorder> recorder_;
  bool writes_itself_ = false;
};

}  // namespace takt::app
