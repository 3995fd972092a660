// Fuzzes a recording's list of further devices with any bytes. They give a named error, or devices that are
// written and read again unchanged. A manager takes or refuses them.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <string_view>
#include <vector>

#include "app/recorded_devices.hpp"
#include "takt/robot/description.hpp"
#include "takt/robot/manager.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace takt::app;
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): bytes as text
  const auto devices = parse_devices({reinterpret_cast<const char*>(data), size});
  if (!devices) {
    if (devices.error().message.empty()) std::abort();
    return 0;
  }
  const std::string text = to_json(*devices);
  const auto again = parse_devices(text);
  if (!again || to_json(*again) != text) std::abort();

  takt::robot::RobotDescription robot;
  robot.name = "fuzz";
  std::deque<ReplayedDevice> added;
  takt::robot::Manager manager(robot);
  for (const RecordedDevice& recorded : *devices) {
    ReplayedDevice& device = added.emplace_back(recorded);
    if (!manager.add(device)) return 0;
    std::vector<std::vector<std::uint8_t>> readings;
    for (const RecordedDevice::Reading& each : recorded.readings)
      readings.emplace_back(takt::shm::parse_schema(each.layout())->bytes);
    device.give(true, readings);
    const auto memory = manager.memory_of(device);
    if (memory.readings.size() != recorded.readings.size() ||
        memory.outputs.size() != recorded.outputs.size())
      std::abort();
  }
  return 0;
}
