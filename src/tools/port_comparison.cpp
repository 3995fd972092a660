#include "tools/port_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>
#include <variant>

#include "record/cdr.hpp"
#include "record/message_form.hpp"
#include "takt/record/reader.hpp"
#include "takt/shm/schema.hpp"
#include "tools/open_recording.hpp"
#include "tools/shm_view.hpp"

namespace takt::tools {
namespace {

constexpr std::string_view prefix = "/ports/";

/// The names of a recording's ports, and the time of its first value.
struct Outline {
  std::set<std::string> names;
  std::optional<Time> first;
};

/// The next value of a port; null at the end.
SetupResult<const record::SampleRecord*> next_value(record::Reader& reader, std::string_view topic) {
  for (;;) {
    const auto found = reader.next();
    if (!found) return tl::unexpected<SetupError>(found.error());
    if (*found == nullptr) return nullptr;
    const auto* sample = std::get_if<record::SampleRecord>(*found);
    if (sample == nullptr || !sample->topic.starts_with(prefix)) continue;
    if (topic.empty() || sample->topic == topic) return sample;
  }
}

SetupResult<Outline> outline_of(const std::string& path) {
  auto reader = open_recording(path);
  if (!reader) return tl::unexpected<SetupError>(std::move(reader.error()));
  Outline outline;
  for (;;) {
    const auto sample = next_value(*reader, {});
    if (!sample) return tl::unexpected<SetupError>(sample.error());
    if (*sample == nullptr) return outline;
    outline.names.emplace((*sample)->topic.substr(prefix.size()));
    outline.first = std::min((*sample)->time, outline.first.value_or(Time::max()));
  }
}

/// The value of a message, with the names of its fields; null if the message is too short.
nlohmann::ordered_json value_of(const record::SampleRecord& sample, const shm::Fields& fields) {
  const record::MessageForm form(sample.schema, sample.type);
  std::vector<std::uint8_t> bytes(form.size());
  record::CdrReader reader(sample.message);
  if (!form.read(reader, bytes)) return nullptr;
  const auto* first = reinterpret_cast<const std::byte*>(bytes.data());
  return decode(fields, std::vector<std::byte>(first, first + bytes.size()));
}

/// "position is 0.5, the other has 0.4" of the first field that differs.
std::string difference_of(const record::SampleRecord& here, const record::SampleRecord& there) {
  if (here.schema != there.schema)
    return fmt::format("the type is \"{}\", the other has \"{}\"", here.schema, there.schema);
  const auto fields = shm::parse_schema(here.schema);
  if (!fields) return "the values differ";
  const auto mine = value_of(here, *fields), other = value_of(there, *fields);
  for (const shm::Field& field : fields->all()) {
    const std::string name(field.name);
    if (!mine.contains(name) || !other.contains(name) || mine[name].dump() == other[name].dump()) continue;
    return fmt::format("{} is {}, the other has {}", name, mine[name].dump(), other[name].dump());
  }
  return "the values differ";  // as the bits of a zero may
}

SetupResult<ComparedPort> compare_port(const std::string& name, const std::string& path, Time first,
                                       const std::string& other) {
  auto mine = open_recording(path);
  if (!mine) return tl::unexpected<SetupError>(std::move(mine.error()));
  auto theirs = open_recording(other);
  if (!theirs) return tl::unexpected<SetupError>(std::move(theirs.error()));
  ComparedPort port{name};
  for (;; ++port.equal) {
    const std::string topic = std::string(prefix) + name;
    const auto here = next_value(*mine, topic);
    if (!here) return tl::unexpected<SetupError>(here.error());
    const auto there = next_value(*theirs, topic);
    if (!there) return tl::unexpected<SetupError>(there.error());
    if (*here == nullptr && *there == nullptr) return port;
    if (*here == nullptr || *there == nullptr) {
      port.difference = *here == nullptr ? "the other has more" : "the other has no more";
      return port;
    }
    if (std::ranges::equal((*here)->message, (*there)->message) && (*here)->schema == (*there)->schema)
      continue;
    port.difference =
        fmt::format("at {:.6f} s: {}", to_seconds((*here)->time - first), difference_of(**here, **there));
    return port;
  }
}

}  // namespace

SetupResult<std::vector<ComparedPort>> compare_ports(const std::string& path, const std::string& other) {
  const auto here = outline_of(path);
  if (!here) return tl::unexpected<SetupError>(here.error());
  const auto there = outline_of(other);
  if (!there) return tl::unexpected<SetupError>(there.error());
  std::vector<ComparedPort> ports;
  for (const std::string& name : here->names) {
    if (!there->names.contains(name)) continue;
    auto port = compare_port(name, path, *here->first, other);
    if (!port) return tl::unexpected<SetupError>(std::move(port.error()));
    ports.push_back(std::move(*port));
  }
  return ports;
}

}  // namespace takt::tools
