// Fuzzes lines of a server with any bytes: a client rejects them, or parses them and can write the result
// again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "takt/motion/wire.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace takt::motion;
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): bytes as text
  const auto message = parse_server_message(std::string_view(reinterpret_cast<const char*>(data), size));
  if (message && !parse_server_message(to_line(*message))) std::abort();
  return 0;
}
