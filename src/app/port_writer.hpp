// Samples that people and programs beside the cycle write to in-ports of its components: takt ctl write.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "json/strict.hpp"
#include "takt/component/component.hpp"
#include "takt/component/connection.hpp"
#include "takt/component/opaque_port.hpp"
#include "takt/core/setup_error.hpp"

namespace takt::app {

/// Writes to in-ports. Each port gets a connection of its own with the first sample, which lasts as long as
/// this object, or as the port. Set-up thread; not real-time safe.
class PortWriter {
 public:
  PortWriter();
  ~PortWriter();
  PortWriter(const PortWriter&) = delete;
  PortWriter& operator=(const PortWriter&) = delete;

  /// Writes one sample to a port of this component, at the next boundary of its cycle, with that cycle's time
  /// as its stamp. `value`: an object with the fields of the port's schema; those without a value are 0.
  /// `where`: the pointer to it, for mistakes. Errors: component's bad_value, with the pointer or the port;
  /// those of component::connect() and of BoundaryCalls::run().
  [[nodiscard]] SetupResult<void> write(component::Component& reader, const std::string& port,
                                        const json::Value& value, const std::string& where);

 private:
  /// The other end of a connection.
  class Source;

  std::map<std::string, std::shared_ptr<Source>> sources_;  ///< by the port's full name
};

}  // namespace takt::app
