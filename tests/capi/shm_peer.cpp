// The C++ side of shm_test.py, in a process of its own. It shares one exchange of each kind for each
// direction and prints "ready". For each line of its input it returns all elements that came, and prints
// their number.
//
//     capi_shm_peer serve SOCKET | capi_shm_peer receive SOCKET
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "takt/platform/segment_server.hpp"

using namespace takt;
using namespace takt::platform;
using namespace takt::shm;

namespace {

struct Pose {
  double position[6];
  std::int64_t stamp;
  std::uint8_t mode;

  TAKT_FIELDS(Pose, position, stamp, mode)
};

}  // namespace

namespace {

constexpr std::array wanted = {
    declare<SpscRing<Pose>>("ring_in", 8),        declare<SpscRing<Pose>>("ring_out", 8),
    declare<LatestValue<Pose>>("latest_in"),      declare<LatestValue<Pose>>("latest_out"),
    declare<BroadcastValue<Pose>>("value_in"),    declare<BroadcastValue<Pose>>("value_out"),
    declare<BroadcastRing<Pose>>("stream_in", 8), declare<BroadcastRing<Pose>>("stream_out", 8),
};

int fail_with(const SetupError& error) {
  std::fprintf(stderr, "%s\n", error.message.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const bool serves = argv[1] == std::string_view("serve");
  auto segment =
      serves ? Segment::create_sealed("peer", wanted) : receive_segment(argv[2], std::chrono::seconds(30));
  if (!segment) return fail_with(segment.error());
  SegmentServer server;
  if (serves) {
    if (const auto opened = server.open(argv[2], *segment); !opened) return fail_with(opened.error());
  }
  auto ring_in = segment->consumer<SpscRing<Pose>>("ring_in");
  auto ring_out = segment->producer<SpscRing<Pose>>("ring_out");
  auto latest_in = segment->consumer<LatestValue<Pose>>("latest_in");
  auto latest_out = segment->producer<LatestValue<Pose>>("latest_out");
  auto value_in = segment->consumer<BroadcastValue<Pose>>("value_in");
  auto value_out = segment->producer<BroadcastValue<Pose>>("value_out");
  auto stream_in = segment->consumer<BroadcastRing<Pose>>("stream_in");
  auto stream_out = segment->producer<BroadcastRing<Pose>>("stream_out");
  if (!ring_in || !ring_out || !latest_in || !latest_out || !value_in || !value_out || !stream_in ||
      !stream_out) {
    return 1;
  }
  std::puts("ready");
  std::fflush(stdout);
  for (int c = std::getchar(); c != EOF; c = std::getchar()) {
    if (c != '\n') continue;
    int given_back = 0;
    Pose pose{};
    while (ring_in->end.try_pop(pose) && ring_out->end.try_push(pose)) ++given_back;
    if (latest_in->end.read(pose) == Freshness::new_data) latest_out->end.write(pose), ++given_back;
    if (value_in->end.read(pose) == Freshness::new_data) value_out->end->write(pose), ++given_back;
    for (; stream_in->end.try_read(pose); ++given_back) stream_out->end.write(pose);
    std::printf("%d\n", given_back);
    std::fflush(stdout);
  }
  return 0;
}
