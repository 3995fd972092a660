// Fuzzes recordings with any bytes: they are read to the end or to a named error, and every returned span is
// read.
#include <cstdint>
#include <cstdlib>

#include "takt/record/reader.hpp"

using namespace takt::record;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto reader = Reader::from_bytes({data, size});
  if (!reader) return 0;
  double sum = 0;
  while (true) {
    const auto record = reader->next();
    if (!record || *record == nullptr) break;
    if (const auto* cycle = std::get_if<CycleRecord>(*record)) {
      if (cycle->joints.size() != reader->metadata().joints.size()) std::abort();
      for (const JointSample& joint : cycle->joints) sum += joint.command;
    } else if (const auto* bus = std::get_if<BusRecord>(*record)) {
      for (const BusSample& sample : bus->buses) sum += sample.load;
    } else if (const auto* mark = std::get_if<MarkRecord>(*record)) {
      for (const char c : mark->text) sum += c;
    }
  }
  if (reader->position() > size) std::abort();
  volatile double keep = sum;
  static_cast<void>(keep);
  return 0;
}
