#include "takt/robot/fingerprint.hpp"

#include <bit>
#include <concepts>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "takt/core/fields.hpp"
#include "takt/core/hash.hpp"
#include "takt/robot/drive_protocol.hpp"

namespace takt::robot {
namespace {

/// Hashes a description field by field.
class DescriptionHash {
 public:
  void add(std::integral auto number) { hash_.number(number); }
  void add(double number) { add(std::bit_cast<std::uint64_t>(number)); }
  void add(Duration duration) { add(duration.count()); }
  template <class Enum>
  requires std::is_enum_v<Enum>
  void add(Enum value) { add(static_cast<int>(value)); }
  void add(std::string_view text) {
    add(text.size());
    hash_.text(text);
  }
  void add(const std::string& text) { add(std::string_view(text)); }
  void add(const DriveProtocol* protocol) { add(protocol != nullptr ? protocol->name() : ""); }
  void add(const DriveSettings& settings) {
    add(settings.list().size());
    for (const auto& [key, value] : settings.list()) {
      add(key);
      std::visit([this](const auto& setting) { add(setting); }, value);
    }
  }
  template <class T>
  void add(const std::vector<T>& list) {
    add(list.size());
    for (const T& entry : list) add(entry);
  }
  /// Where a bus is, and what is behind it, differ between two processes of one robot.
  void add(const PlantDescription&) {}
  /// Controllers and vehicles are the loop's alone: they change no plan.
  void add(const std::vector<ControllerDescription>&) {}
  void add(const std::vector<RobotVehicle>&) {}
  template <HasFields T>
  void add(const T& description) {
    for_each_field(description, [this](std::string_view name, const auto& field) {
      if (name != "interface" && name != "devices" && name != "recording" && name != "power")
        this->add(field);
    });
  }

  [[nodiscard]] std::uint64_t value() const { return hash_.value(); }

 private:
  Fnv1a hash_;
};

}  // namespace

std::uint64_t fingerprint(const RobotDescription& robot) {
  DescriptionHash hash;
  hash.add(robot);
  return hash.value();
}

}  // namespace takt::robot
