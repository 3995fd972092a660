// What takt shm inspect shows of a segment while the peer that made it lies.
#include "tools/shm_view.hpp"

#include <doctest/doctest.h>

#include <array>

#include "shm/forged.hpp"
#include "takt/platform/segment.hpp"
#include "takt/shm/opaque.hpp"

using namespace takt;
using platform::Segment;

TEST_CASE("a tool shows no value whose schema has become that of a larger one, and reads nothing beyond it") {
  using Value = shm::LatestValue<shm::Opaque>;
  const shm::Opaque element = shm::Opaque::of(test::forged::small).value();
  const std::array wanted = {shm::declare<Value>("value", element)};
  Segment segment = Segment::create_sealed("test-view", wanted).value();
  std::array<std::byte, 17> bytes{};
  segment.producer<Value>("value", element)->end.write(bytes.data());
  const Segment seen = Segment::attach(segment.descriptor()).value();
  const auto shown = [&] { return tools::segment_json(seen, Time{})["exchanges"][0]; };
  CHECK(shown()["schema"] == test::forged::small);
  CHECK(shown()["values"][0]["aaaaaa"].size() == 16);

  const shm::Exchange& exchange = segment.layout().exchanges()[0];
  test::forged::enlarge(const_cast<std::byte*>(segment.layout().memory_of(exchange).data()) -
                        exchange.offset);
  CHECK(shown()["schema"] == "");
  CHECK(shown()["values"].empty());
  CHECK(tools::segment_text(seen, Time{}).size() < 1000);
}

TEST_CASE("bytes are not decoded by a schema of another length") {
  const std::vector<std::byte> bytes(8);
  CHECK(tools::decode(shm::parse_schema("value u64").value(), bytes)["value"] == 0);
  CHECK(tools::decode(shm::parse_schema("value u64[2]").value(), bytes).is_null());
  CHECK(tools::decode(shm::parse_schema("value u32").value(), bytes).is_null());
}
