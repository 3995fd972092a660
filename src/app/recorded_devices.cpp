#include "app/recorded_devices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "takt/app/error.hpp"
#include "takt/robot/error.hpp"
#include "takt/shm/schema.hpp"

namespace takt::app {
namespace {

using Json = nlohmann::ordered_json;

/// Bounds the memory for a damaged recording, together with the size of a schema's value.
constexpr std::size_t most_bytes = std::size_t{1} << 20;

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(); }
double number(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : 0;
}
std::string text(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// The objects of a list; empty if there is none.
std::vector<Json> objects(const Json& root, const char* key) {
  const auto found = root.find(key);
  std::vector<Json> list;
  if (found == root.end() || !found->is_array()) return list;
  std::ranges::copy_if(*found, std::back_inserter(list), [](const Json& each) { return each.is_object(); });
  return list;
}

RecordedDevice parse_device(const Json& json) {
  RecordedDevice device{text(json, "name"), {}, {}};
  for (const Json& row : objects(json, "readings"))
    device.readings.push_back({text(row, "name"), text(row, "unit"), text(row, "schema")});
  for (const Json& row : objects(json, "outputs")) {
    const double safe = std::clamp(number(row, "safe"), 0.0, 2.0);
    device.outputs.push_back({text(row, "name"), text(row, "unit"),
                              static_cast<robot::SafeValue>(static_cast<std::uint8_t>(safe)),
                              number(row, "rate"), number(row, "initial")});
  }
  return device;
}

tl::unexpected<SetupError> refuse(const std::string& why) {
  return fail(Errc::not_replayable, "the recording's list of devices is damaged: " + why);
}

/// An empty text is an empty object.
SetupResult<Json> parse_root(std::string_view json) {
  if (json.empty()) return Json::object();
  Json root = Json::parse(json, nullptr, false);
  if (root.is_discarded() || !root.is_object()) return refuse("it is not a JSON object");
  return root;
}

std::size_t size_of(std::string_view layout) {
  return shm::parse_schema(layout).value_or(shm::Fields{}).bytes;
}

}  // namespace

std::string message_type(std::string_view name) {
  std::string type = "takt/msg/";
  bool is_first = true;
  for (const char c : name) {
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (is_letter) type += is_first && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    is_first = !is_letter;
  }
  return type;
}

std::string to_json(std::span<const RecordedDevice> devices, std::span<const RecordedPort> ports) {
  if (devices.empty() && ports.empty()) return {};
  Json list = Json::array();
  for (const RecordedDevice& device : devices) {
    Json readings = Json::array();
    for (const RecordedDevice::Reading& each : device.readings)
      readings.push_back({{"name", each.name}, {"unit", each.unit}, {"schema", each.schema}});
    Json outputs = Json::array();
    for (const RecordedDevice::Output& each : device.outputs) {
      outputs.push_back({{"name", each.name},
                         {"unit", each.unit},
                         {"safe", static_cast<int>(each.safe)},
                         {"rate", number(each.rate)},
                         {"initial", number(each.initial)}});
    }
    list.push_back(
        {{"name", device.name}, {"readings", std::move(readings)}, {"outputs", std::move(outputs)}});
  }
  Json root{{"devices", std::move(list)}};
  for (const RecordedPort& port : ports)
    root["ports"].push_back({{"name", port.name}, {"schema", port.sample_schema}});
  return root.dump(-1, ' ', false, Json::error_handler_t::replace);
}

SetupResult<std::vector<RecordedDevice>> parse_devices(std::string_view json) {
  std::vector<RecordedDevice> devices;
  const auto root = parse_root(json);
  if (!root) return tl::unexpected<SetupError>(root.error());
  std::size_t bytes = 0;
  for (const Json& each : objects(*root, "devices")) {
    const RecordedDevice& device = devices.emplace_back(parse_device(each));
    for (const RecordedDevice::Reading& reading : device.readings) {
      const std::size_t size = size_of(reading.layout());
      if (size == 0) return refuse("the schema of " + reading.name + " is invalid");
      bytes += size;
    }
  }
  if (devices.size() > max_recorded_devices)
    return refuse(fmt::format("{} devices, at most {} are possible", devices.size(), max_recorded_devices));
  if (bytes > most_bytes) return refuse(fmt::format("readings of {} bytes, at most {}", bytes, most_bytes));
  return devices;
}

SetupResult<std::vector<RecordedPort>> parse_ports(std::string_view json) {
  std::vector<RecordedPort> ports;
  const auto root = parse_root(json);
  if (!root) return tl::unexpected<SetupError>(root.error());
  for (const Json& each : objects(*root, "ports")) {
    RecordedPort port{text(each, "name"), text(each, "schema")};
    if (size_of(port.sample_schema) == 0) return refuse("the schema of port " + port.name + " is invalid");
    if (std::ranges::find(ports, port.name, &RecordedPort::name) != ports.end())
      return refuse("port " + port.name + " is there twice");
    if (ports.size() == record::max_topics)
      return refuse(fmt::format("more than {} ports", record::max_topics));
    ports.push_back(std::move(port));
  }
  return ports;
}

// ---- recording ----

DeviceTap::DeviceTap(robot::Manager& manager, std::span<robot::Device* const> devices)
    : devices_(devices.begin(), devices.end()) {
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const robot::DeviceMemory memory = manager.memory_of(*devices[i]);
    RecordedDevice& recorded = recorded_.emplace_back();
    recorded.name = devices[i]->name();
    for (const auto& each : memory.readings) {
      recorded.readings.push_back({each.name, each.unit, std::string(each.schema)});
      layouts_.push_back(each.schema.empty() ? shm::schema_text<double>() : each.schema);
      readings_.push_back({static_cast<const std::uint8_t*>(each.value), size_of(layouts_.back()), i});
    }
    for (const auto& each : memory.outputs) {
      recorded.outputs.push_back({each.name, each.unit, each.safe, each.rate, *each.value});
      outputs_.push_back({reinterpret_cast<const std::uint8_t*>(each.value), sizeof(double), i});
    }
  }
}

std::vector<record::Topic> DeviceTap::topics() const {
  std::vector<record::Topic> topics;
  for (const RecordedDevice& device : recorded_) {
    for (const RecordedDevice::Reading& each : device.readings)
      topics.push_back({.topic = std::string(sensor_topics) + each.name,
                        .type = each.schema.empty() ? "takt/msg/Number" : message_type(each.name),
                        .schema = layouts_[topics.size()],
                        .unit = each.unit});
  }
  for (const RecordedDevice& device : recorded_) {
    for (const RecordedDevice::Output& each : device.outputs)
      topics.push_back({.topic = std::string(output_topics) + each.name,
                        .type = "takt/msg/Number",
                        .schema = shm::schema_text<double>(),
                        .unit = each.unit});
  }
  return topics;
}

std::uint64_t DeviceTap::record_readings(record::Lane& lane, std::size_t first, Time now) const noexcept {
  std::uint64_t active = 0;
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    if (devices_[i]->state() == component::ComponentState::active) active |= std::uint64_t{1} << i;
  }
  for (std::size_t i = 0; i < readings_.size(); ++i) {
    const Value& value = readings_[i];
    if ((active >> value.device & 1) != 0) lane.sample(first + i, now, {value.bytes, value.size});
  }
  return active;
}

void DeviceTap::record_outputs(record::Lane& lane, std::size_t first, Time now) const noexcept {
  for (std::size_t i = 0; i < outputs_.size(); ++i)
    lane.sample(first + readings_.size() + i, now, {outputs_[i].bytes, outputs_[i].size});
}

// ---- replay ----

ReplayedDevice::ReplayedDevice(RecordedDevice recorded)
    : Device(about, recorded.name), recorded_(std::move(recorded)) {
  for (const RecordedDevice::Reading& each : recorded_.readings)
    readings_.emplace_back((size_of(each.layout()) + sizeof(double) - 1) / sizeof(double));
  for (const RecordedDevice::Output& each : recorded_.outputs) outputs_.push_back({each.initial, false});
}

SetupResult<void> ReplayedDevice::on_declare(robot::Declarations& declarations) {
  for (std::size_t i = 0; i < readings_.size(); ++i) {
    const RecordedDevice::Reading& each = recorded_.readings[i];
    auto added = each.name == name() + std::string(robot::moving_state)
                     ? declarations.moving(readings_[i].front())
                 : each.schema.empty() ? declarations.state(each.name, each.unit, readings_[i].front())
                                       : declarations.sensor(each.name, each.schema, readings_[i].data());
    if (!added) return added;
  }
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const RecordedDevice::Output& each = recorded_.outputs[i];
    auto added = declarations.command(each.name, each.unit, outputs_[i].value, outputs_[i].driven, each.safe,
                                      each.rate);
    if (!added) return added;
  }
  return {};
}

void ReplayedDevice::give(bool is_active, std::span<const std::vector<std::uint8_t>> readings) noexcept {
  is_active_ = is_active;
  for (std::size_t i = 0; is_active && i < readings_.size(); ++i)
    std::memcpy(readings_[i].data(), readings[i].data(), readings[i].size());
}

Status ReplayedDevice::on_execute(const component::CycleTime&) noexcept {
  if (!is_active_) return takt::fail(robot::Errc::device_lost);
  return {};
}

}  // namespace takt::app
