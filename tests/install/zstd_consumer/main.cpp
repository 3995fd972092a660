// Records a hundred cycles with zstd, and reads them back. Without zstd they cannot be read.
#include <chrono>
#include <cstdio>

#include "takt/record/reader.hpp"
#include "takt/record/recorder.hpp"
#include "takt/record/zstd.hpp"

int main() {
  using namespace takt::record;
  const auto zstd = make_zstd();
  Metadata metadata;
  metadata.period = std::chrono::milliseconds(1);
  metadata.joints = {"elbow"};
  RecorderOptions options;
  options.compression = zstd.get();
  const auto recorder = Recorder::create("consumer.mcap", metadata, options);
  if (!recorder) return 1;
  for (int i = 1; i <= 100; ++i) {
    Cycle cycle;
    cycle.time = takt::Time(std::chrono::milliseconds(i));
    (*recorder)->loop().cycle(cycle, [&](std::size_t) { return JointSample{.command = 0.1 * i}; });
  }
  if (!(*recorder)->finish()) return 2;

  auto reader = Reader::open("consumer.mcap", {.compressions = {zstd.get()}});
  int cycles = 0;
  if (!reader) return 3;
  for (auto next = reader->next(); next && *next != nullptr; next = reader->next()) ++cycles;
  std::printf("%d cycles\n", cycles);
  if (cycles != 100) return 4;
  auto without = Reader::open("consumer.mcap");
  return without && !without->next() ? 0 : 5;
}
