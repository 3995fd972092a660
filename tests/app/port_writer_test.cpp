// Samples that people write to in-ports: each type of number, arrays, and what is refused.
#include "app/port_writer.hpp"

#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "takt/component/error.hpp"
#include "takt/component/execution_context.hpp"
#include "takt/component/port.hpp"

using namespace takt;
using namespace takt::app;

namespace {

struct Place {
  double x = 0, y = 0;
  TAKT_FIELDS(Place, x, y)
};
struct Everything {
  std::uint64_t count = 0;
  std::int64_t change = 0;
  Place place{};
  std::array<float, 3> force{};
  std::uint16_t id = 0;
  std::int8_t step = 0;

  TAKT_FIELDS(Everything, count, change, place, force, id, step)
};

struct Reader final : component::Component {
  static constexpr component::ComponentMetadata about{
      .type = "Reader", .version = "1.0.0", .vendor = "test", .category = "test", .description = "Reads."};
  Reader() : Component(about, "reader") {}
  component::InPort<Everything> in{*this, "in"};
  component::OutPort<double> out{*this, "out"};
};

struct Rig {
  Rig() {
    REQUIRE(context.add(*reader).has_value());
    REQUIRE(context.activate(*reader).has_value());
  }
  std::string write(const char* value, const char* port = "in") {
    const auto written = writer.write(*reader, port, *json::parse(value), "/value");
    return written ? "" : written.error().message;
  }

  component::ExecutionContext context;
  std::unique_ptr<Reader> reader = std::make_unique<Reader>();
  PortWriter writer;
};

}  // namespace

TEST_CASE("a sample has the fields of its value, and 0 elsewhere") {
  Rig rig;
  rig.context.run_cycle(Time{} + std::chrono::seconds(7), std::chrono::milliseconds(1));
  CHECK(rig.write(R"({"count": 18446744073709551615, "change": -9223372036854775808, "place.y": -1.5e3,
                      "force": [1, -2.5], "id": 65535, "step": -128})") == "");
  REQUIRE(rig.reader->in.read() == shm::Freshness::new_data);
  const Everything& read = rig.reader->in.value();
  CHECK(read.count == std::numeric_limits<std::uint64_t>::max());
  CHECK(read.change == std::numeric_limits<std::int64_t>::min());
  CHECK(read.place.x == 0);
  CHECK(read.place.y == -1500);
  CHECK(read.force == std::array<float, 3>{1, -2.5F, 0});
  CHECK(read.id == 65535);
  CHECK(read.step == -128);
  CHECK(rig.reader->in.stamp() == Time{} + std::chrono::seconds(7));
  CHECK(rig.write("{}") == "");
  REQUIRE(rig.reader->in.read() == shm::Freshness::new_data);
  CHECK(rig.reader->in.value().count == 0);
}

TEST_CASE("a value that the port does not have is refused with its place, and the port reads nothing") {
  Rig rig;
  const std::string fields = "; the fields are: count u64, change i64, place.x f64";
  for (const auto& [given, mistake] :
       {std::pair{R"({"id": 65536})", "/value/id: 65536 is no u16"},
        {R"({"id": -1})", "/value/id: -1 is no u16"},
        {R"({"id": 1.5})", "/value/id: 1.5 is no u16"},
        {R"({"step": 128})", "/value/step: 128 is no i8"},
        {R"({"change": 9223372036854775808})", "/value/change: "},
        {R"({"place.x": "far"})", "/value/place.x: \"far\" is no f64"},
        {R"({"place.x": null})", "/value/place.x: "},
        {R"({"force": [1e39]})", "/value/force/0: 1e+39 is no f32"},
        {R"({"force": [1, 2, 3, 4]})", "/value/force: must be a list of at most 3"},
        {R"({"force": 1})", "/value/force: must be a list of at most 3"},
        {R"({"place": {"x": 1}})", "/value/place: "},
        {R"({"_": 1})", "/value/_: "},
        {R"([1])", "/value: "}}) {
    const char* const value = given;  // clang 14 captures no structured bindings
    CAPTURE(value);
    const std::string message = rig.write(value);
    CHECK(message.starts_with(mistake));
    CHECK(message.find(fields) != std::string::npos);
  }
  CHECK(rig.write("{}", "none") == "reader has no in-port \"none\"");
  CHECK(rig.write("{}", "out") == "reader has no in-port \"out\"");
  CHECK(rig.reader->in.read() == shm::Freshness::none);
}

TEST_CASE("a port that ends and comes back by the same name is connected again") {
  Rig rig;
  CHECK(rig.write(R"({"id": 1})") == "");
  REQUIRE(rig.context.deactivate(*rig.reader).has_value());
  REQUIRE(rig.context.remove(*rig.reader).has_value());
  rig.reader = std::make_unique<Reader>();
  CHECK(rig.write(R"({"id": 2})") == "reader participates in no context");
  REQUIRE(rig.context.add(*rig.reader).has_value());
  CHECK(rig.write(R"({"id": 3})") == "");
  REQUIRE(rig.reader->in.read() == shm::Freshness::new_data);
  CHECK(rig.reader->in.value().id == 3);
}
