// Fuzzes recordings with any bytes: they are read to the end or to a named error, and every returned span is
// read.
#include <cstdint>
#include <cstdlib>

#include "takt/record/reader.hpp"
#ifdef TAKT_WITH_ZSTD
#include "takt/record/zstd.hpp"
#endif

using namespace takt::record;

namespace {

ReaderOptions with_compressions() {
  ReaderOptions options;
#ifdef TAKT_WITH_ZSTD
  static const auto zstd = make_zstd();
  options.compressions.push_back(zstd.get());
#endif
  return options;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto reader = Reader::from_bytes({data, size}, with_compressions());
  if (!reader) return 0;
  double sum = 0;
  while (true) {
    const auto record = reader->next();
    if (!record || *record == nullptr) break;
    if (!reader->is_own() && !std::holds_alternative<CycleRecord>(**record)) std::abort();
    if (const auto* cycle = std::get_if<CycleRecord>(*record)) {
      if (cycle->joints.size() != reader->metadata().joints.size()) std::abort();
      for (const JointSample& joint : cycle->joints) sum += joint.command;
    } else if (const auto* bus = std::get_if<BusRecord>(*record)) {
      for (const BusSample& sample : bus->buses) sum += sample.load;
    } else if (const auto* mark = std::get_if<MarkRecord>(*record)) {
      for (const char c : mark->text) sum += c;
    } else if (const auto* sample = std::get_if<SampleRecord>(*record)) {
      for (const std::uint8_t byte : sample->message) sum += byte;
    }
  }
  if (reader->position() > size) std::abort();
  volatile double keep = sum;
  static_cast<void>(keep);
  return 0;
}
