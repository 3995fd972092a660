// Components that misbehave, for the tests of `takt launch`.
#include <atomic>
#include <chrono>
#include <cmath>
#include <stdexcept>
#include <string>
#include <thread>

#include "takt/component/plugin.hpp"
#include "takt/component/port.hpp"

namespace {

using takt::Status;
using takt::component::Component;
using takt::component::ComponentMetadata;
using takt::component::CycleTime;

constexpr ComponentMetadata about_type(std::string_view type) {
  return {
      .type = type, .version = "1.0.0", .vendor = "takt", .category = "test", .description = "Misbehaves."};
}

/// Counts its cycles.
struct Counter final : Component {
  static constexpr ComponentMetadata about = about_type("Counter");
  explicit Counter(const char* name) : Component(about, name) {}
  Status on_execute(const CycleTime& cycle) noexcept override {
    out.write(++count_, cycle.time);
    return {};
  }
  takt::component::OutPort<std::int64_t> out{*this, "out"};

 private:
  std::int64_t count_ = 0;
};

/// Never returns from its cycle once it is told so.
struct Sleeper final : Component {
  static constexpr ComponentMetadata about = about_type("Sleeper");
  explicit Sleeper(const char* name) : Component(about, name) {}
  Status on_execute(const CycleTime&) noexcept override {
    while (*asleep) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return {};
  }
  takt::component::Parameter<bool> asleep{*this, "asleep", {.initial = false}};
};

/// Cannot be initialized.
struct Refuser final : Component {
  static constexpr ComponentMetadata about = about_type("Refuser");
  explicit Refuser(const char* name) : Component(about, name) {}
  takt::SetupResult<void> on_initialize() override { throw std::runtime_error("no such device"); }
};

/// Throws in its constructor.
struct Thrower final : Component {
  static constexpr ComponentMetadata about = about_type("Thrower");
  explicit Thrower(const char* name) : Component(about, name) { throw std::runtime_error("not today"); }
};

/// Fails in its cycle.
struct Failer final : Component {
  static constexpr ComponentMetadata about = about_type("Failer");
  explicit Failer(const char* name) : Component(about, name) {}
  Status on_execute(const CycleTime&) noexcept override {
    return takt::fail(takt::component::Errc::bad_value);
  }
};

}  // namespace

TAKT_PLUGIN(Counter, Sleeper, Refuser, Thrower, Failer)
