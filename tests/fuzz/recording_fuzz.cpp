// Fuzzes recordings with any bytes: they are read to the end or to a named error, and every returned span is
// read. Damage is an error first, and passed over then.
#include <cstdint>
#include <cstdlib>
#include <span>

#include "takt/record/reader.hpp"
#ifdef TAKT_WITH_ZSTD
#include "takt/record/zstd.hpp"
#endif

using namespace takt::record;

namespace {

ReaderOptions with_compressions(bool pass_over_damage) {
  ReaderOptions options;
  options.pass_over_damage = pass_over_damage;
#ifdef TAKT_WITH_ZSTD
  static const auto zstd = make_zstd();
  options.compressions.push_back(zstd.get());
#endif
  return options;
}

void read_all(std::span<const std::uint8_t> bytes, bool pass_over_damage) {
  auto reader = Reader::from_bytes(bytes, with_compressions(pass_over_damage));
  if (!reader) return;
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
  if (reader->position() > bytes.size()) std::abort();
  for (const LostPart& part : reader->lost()) {
    if (part.size > bytes.size() && part.reason.error != Errc::record_too_long) std::abort();
  }
  volatile double keep = sum;
  static_cast<void>(keep);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  for (const bool pass_over_damage : {false, true}) read_all({data, size}, pass_over_damage);
  return 0;
}
