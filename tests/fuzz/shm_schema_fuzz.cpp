// Fuzzes schemas with any text: it is rejected, or its fields follow each other, each at its natural
// alignment.
#include "takt/shm/schema.hpp"

#include <cstdlib>

using namespace takt::shm;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto fields = parse_schema(text);
  if (!fields) return 0;
  std::uint32_t end = 0;
  for (const Field& field : fields->all()) {
    if (field.offset != end || field.offset % bytes_of(field.type) != 0 || field.count == 0) std::abort();
    if (field.name.data() < text.data() || field.name.data() + field.name.size() > text.data() + size)
      std::abort();
    end += bytes_of(field.type) * field.count;
  }
  if (end != fields->bytes || end > max_element) std::abort();
  return 0;
}
