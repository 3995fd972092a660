// Fuzzes a recording's list of further devices and in-ports with any bytes. They give a named error, or a
// list that is written and read again unchanged. A manager takes or refuses the devices.
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
  const std::string_view json(reinterpret_cast<const char*>(data), size);
  const auto devices = parse_devices(json);
  const auto ports = parse_ports(json);
  if (!devices || !ports) {
    if ((devices ? ports.error() : devices.error()).message.empty()) std::abort();
    return 0;
  }
  const std::string text = to_json(*devices, *ports);
  const auto again = parse_devices(text);
  const auto ports_again = parse_ports(text);
  if (!again || !ports_again || to_json(*again, *ports_again) != text) std::abort();

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
