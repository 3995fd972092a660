// The recorder: what a cycle costs the loop, and how fast its records reach a file. `floor` copies the same
// numbers into a ring; `write` is a bare write(2) of the file's bytes.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "takt/record/recorder.hpp"
#include "takt/shm/byte_ring.hpp"

namespace {

using namespace takt;
using namespace takt::record;

constexpr std::size_t joints = 17;
constexpr std::size_t batch = 256;  ///< cycles, which the ring has room for

record::Metadata metadata() {
  record::Metadata made;
  made.robot = "humanoid";
  made.period = std::chrono::milliseconds(1);
  for (std::size_t i = 0; i < joints; ++i) made.joints.push_back("joint_" + std::to_string(i));
  return made;
}

std::string scratch(const char* name) {
  return (std::filesystem::temp_directory_path() / (std::string("takt_bench_") + name)).string();
}

JointSample sample_of(std::size_t joint, double time) {
  const double position = time + static_cast<double>(joint);
  return {position, position, 1, position, 1, 7, 2};
}

/// One cycle of 17 joints, by the loop's thread. What another thread does is not measured.
void lane(benchmark::State& state) {
  const std::string path = scratch("lane.mcap");
  const auto recorder = *Recorder::create(path, metadata());
  Cycle cycle;
  while (state.KeepRunningBatch(batch)) {
    for (std::size_t i = 0; i < batch; ++i) {
      cycle.time += std::chrono::milliseconds(1);
      const double time = to_seconds(cycle.time - Time{});
      recorder->loop().cycle(cycle, [time](std::size_t joint) noexcept { return sample_of(joint, time); });
    }
    state.PauseTiming();
    static_cast<void>(recorder->drain());
    state.ResumeTiming();
  }
  std::filesystem::remove(path);
}
BENCHMARK(lane)->Name("record/cycle_17_joints/takt");

void copied(benchmark::State& state) {
  shm::ByteRing ring(std::size_t{4} << 20);
  Cycle cycle;
  while (state.KeepRunningBatch(batch)) {
    for (std::size_t i = 0; i < batch; ++i) {
      cycle.time += std::chrono::milliseconds(1);
      const double time = to_seconds(cycle.time - Time{});
      const auto piece = ring.producer().try_reserve(sizeof(Cycle) + joints * sizeof(JointSample));
      std::byte* at = piece->data();
      std::memcpy(at, &cycle, sizeof(cycle));
      at += sizeof(cycle);
      for (std::size_t joint = 0; joint < joints; ++joint, at += sizeof(JointSample)) {
        const JointSample one = sample_of(joint, time);
        std::memcpy(at, &one, sizeof(one));
      }
      ring.producer().commit(piece->size());
    }
    state.PauseTiming();
    while (ring.consumer().peek()) ring.consumer().release();
    state.ResumeTiming();
  }
}
BENCHMARK(copied)->Name("record/cycle_17_joints/floor");

/// A cycle's way from the ring into the file, without compression: messages, checksums, chunks, index.
void drained(benchmark::State& state) {
  const std::string path = scratch("drained.mcap");
  const auto recorder = *Recorder::create(path, metadata());
  Cycle cycle;
  while (state.KeepRunningBatch(batch)) {
    state.PauseTiming();
    for (std::size_t i = 0; i < batch; ++i) {
      cycle.time += std::chrono::milliseconds(1);
      const double time = to_seconds(cycle.time - Time{});
      recorder->loop().cycle(cycle, [time](std::size_t joint) noexcept { return sample_of(joint, time); });
    }
    state.ResumeTiming();
    static_cast<void>(recorder->drain());
  }
  static_cast<void>(recorder->finish());
  state.counters["bytes"] =
      static_cast<double>(std::filesystem::file_size(path)) / static_cast<double>(state.iterations());
  std::filesystem::remove(path);
}
BENCHMARK(drained)->Name("record/file_17_joints/takt");

/// As many bytes as such a cycle takes in the file, a mebibyte a call.
void written(benchmark::State& state) {
  constexpr std::size_t of_a_cycle = 2200;
  const std::string path = scratch("written");
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  const std::vector<char> bytes(batch * of_a_cycle, 'x');
  while (state.KeepRunningBatch(batch)) {
    if (write(file, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()))
      state.SkipWithError("full");
  }
  close(file);
  std::filesystem::remove(path);
}
BENCHMARK(written)->Name("record/file_17_joints/write");

}  // namespace
