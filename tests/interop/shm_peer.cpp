// A process with shared memory, for takt_shm_test.py. It makes a segment, writes to each of its exchanges,
// prints "ready" and stays until its input ends.
//
// Usage: shm_peer named NAME | shm_peer sealed SOCKET
#include <cstdio>
#include <string>

#include "support/reference.hpp"
#include "takt/platform/segment_server.hpp"
#include "takt/platform/steady_clock.hpp"

using namespace takt;
using namespace takt::platform;
using namespace takt::shm;

using takt::test::Reference;

namespace {

constexpr std::array wanted = {
    declare<SpscRing<Reference>>("references", 16),
    declare<SlotRing<std::uint64_t>>("requests", 8),
    declare<ByteRing>("text", 256),
    declare<LatestValue<Reference>>("goal"),
    declare<BroadcastValue<Reference>>("state"),
    declare<BroadcastRing<float>>("events", 8),
    declare<RawMemory>("own", 64),
};

int fail_with(const SetupError& error) {
  std::fprintf(stderr, "%s\n", error.message.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const bool named = argv[1] == std::string("named");
  auto segment = named ? Segment::open_or_create(argv[2], wanted) : Segment::create_sealed("peer", wanted);
  if (!segment) return fail_with(segment.error());
  SegmentServer server;
  if (!named) {
    if (const auto opened = server.open(argv[2], *segment); !opened) return fail_with(opened.error());
  }
  auto references = segment->producer<SpscRing<Reference>>("references");
  auto requests = segment->producer<SlotRing<std::uint64_t>>("requests");
  auto text = segment->producer<ByteRing>("text");
  auto goal = segment->producer<LatestValue<Reference>>("goal");
  auto state = segment->producer<BroadcastValue<Reference>>("state");
  auto events = segment->producer<BroadcastRing<float>>("events");
  if (!references || !requests || !text || !goal || !state || !events) return 1;
  references->owner_slot.beat(SteadyClock().now());
  const Reference reference{{0.25, -1}, 123456789012, 3};
  const std::array<std::byte, 4> record{};
  for (int i = 0; i < 5; ++i) (void)references->end.try_push(reference);
  for (std::uint64_t i = 0; i < 3; ++i) (void)requests->end.try_push(i);
  (void)text->end.try_write(record);
  goal->end.write({{1, 2}, -7, 1});
  for (int i = 0; i < 4; ++i) state->end->write(reference);
  for (int i = 0; i < 20; ++i) events->end.write(0.5f);
  std::puts("ready");
  std::fflush(stdout);
  while (std::getchar() != EOF) {
    (void)references->end.try_push(reference);
    events->end.write(0.5f);
  }
  return 0;
}
