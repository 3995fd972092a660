// Fuzzes URDF files with any bytes. The result is a description that the loader of robot files accepts, or a
// list of mistakes that is not empty.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "takt/drives/registry.hpp"
#include "takt/robot/urdf.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): bytes as text
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto imported = takt::robot::import_urdf(text, {.protocol = takt::drives::find("servo")});
  if (!imported) {
    if (imported.error().mistakes.empty()) std::abort();
    for (const auto& mistake : imported.error().mistakes) {
      if (to_string(mistake).empty()) std::abort();
    }
    return 0;
  }
  for (const auto& note : imported->notes) {
    if (to_string(note).empty()) std::abort();
  }
  if (!takt::drives::load_robot(to_json(imported->robot))) std::abort();
  return 0;
}
