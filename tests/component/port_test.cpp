#include "takt/component/port.hpp"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "support/random.hpp"
#include "support/rt_guard.hpp"
#include "takt/component/connection.hpp"
#include "takt/component/context_thread.hpp"
#include "takt/component/drivers.hpp"
#include "takt/component/opaque_port.hpp"
#include "takt/platform/event_waiter.hpp"
#include "takt/platform/steady_clock.hpp"

using namespace takt;
using namespace takt::component;
using namespace std::chrono_literals;
using shm::Freshness;

namespace {

constexpr ComponentMetadata about{
    .type = "Test", .version = "1.0.0", .vendor = "takt", .category = "test", .description = "A test."};
constexpr Duration patience = 60s;

struct Pose {
  double x = 0, y = 0;
  std::uint32_t seen = 0;
  std::uint32_t spare = 0;
  TAKT_FIELDS(Pose, x, y, seen, spare)
};

struct Writer : Component {
  explicit Writer(std::string name = "writer") : Component(about, std::move(name)) {}
  OutPort<std::int64_t> out{*this, "out"};
};

struct Reader : Component {
  explicit Reader(std::string name = "reader") : Component(about, std::move(name)) {}
  InPort<std::int64_t> in{*this, "in"};
};

[[nodiscard]] Time at(int milliseconds) { return Time(std::chrono::milliseconds(milliseconds)); }

}  // namespace

TEST_CASE("an in-port distinguishes none, new and old samples, with stamp, sequence and age") {
  Writer writer;
  Reader reader;
  CHECK(reader.in.read() == Freshness::none);
  const auto connection = connect(writer.out, reader.in);
  REQUIRE(connection);
  CHECK(connection->is_connected());
  CHECK(reader.in.read() == Freshness::none);
  CHECK(writer.out.write(7, at(3)));
  CHECK(reader.in.read() == Freshness::new_data);
  CHECK(reader.in.value() == 7);
  CHECK(reader.in.sequence() == 1);
  CHECK(reader.in.stamp() == at(3));
  CHECK(reader.in.age(at(10)) == 7ms);
  CHECK(reader.in.read() == Freshness::old_data);
  CHECK(reader.in.value() == 7);
  // A stamp from another process may be anything.
  for (const Time stamp : {Time::min(), Time::max()}) {
    writer.out.write(8, stamp);
    CHECK(reader.in.read() == Freshness::new_data);
    for (const Time now : {Time::min(), at(0), Time::max()})
      CHECK((reader.in.age(now) > Duration(0)) == (now > stamp));
  }
}

TEST_CASE("a latest connection gives the newest sample and counts those that were missed") {
  Writer writer;
  Reader reader;
  writer.out.write(1, at(0));  // before the connection: still the newest value
  const auto connection = connect(writer.out, reader.in);
  REQUIRE(connection);
  CHECK(reader.in.read() == Freshness::new_data);
  CHECK(reader.in.value() == 1);
  for (int i = 2; i <= 5; ++i) writer.out.write(i, at(i));
  CHECK(reader.in.read() == Freshness::new_data);
  CHECK(reader.in.value() == 5);
  CHECK(reader.in.missed() == 3);
  CHECK(reader.in.samples_read() == 2);
  CHECK(writer.out.written() == 5);
}

TEST_CASE("a fifo gives each sample in order, refuses when it is full, and counts what was refused") {
  Writer writer;
  Reader reader;
  const auto connection = connect(writer.out, reader.in, {.buffering = Buffering::fifo, .capacity = 4});
  REQUIRE(connection);
  int taken = 0;
  for (int i = 1; i <= 6; ++i) taken += writer.out.write(i, at(i)) ? 1 : 0;
  CHECK(taken == 4);
  CHECK(writer.out.refused() == 2);
  for (int i = 1; i <= 4; ++i) {
    CHECK(reader.in.read() == Freshness::new_data);
    CHECK(reader.in.value() == i);
  }
  CHECK(reader.in.read() == Freshness::old_data);
  CHECK(reader.in.value() == 4);
  CHECK(writer.out.write(7, at(7)));
  CHECK(reader.in.read() == Freshness::new_data);
  CHECK(reader.in.missed() == 2);
}

TEST_CASE("a circular connection overwrites the oldest samples and counts them as missed") {
  Writer writer;
  Reader reader;
  const auto connection = connect(writer.out, reader.in, {.buffering = Buffering::circular, .capacity = 8});
  REQUIRE(connection);
  CHECK(writer.out.write(1, at(1)));
  CHECK(reader.in.read() == Freshness::new_data);
  for (int i = 2; i <= 100; ++i) CHECK(writer.out.write(i, at(i)));
  std::int64_t last = 1;
  std::uint64_t count = 1;
  while (reader.in.read() == Freshness::new_data) {
    CHECK(reader.in.value() > last);
    last = reader.in.value();
    ++count;
  }
  CHECK(last == 100);
  CHECK(count + reader.in.missed() == 100);
}

TEST_CASE("several sources feed one in-port in the order that the user gives") {
  Writer first("first"), second("second");
  Reader reader;
  const auto low = connect(first.out, reader.in, {.buffering = Buffering::fifo, .order = 2});
  const auto high = connect(second.out, reader.in, {.buffering = Buffering::fifo, .order = 1});
  REQUIRE((low && high));
  first.out.write(1, at(0));
  first.out.write(2, at(0));
  second.out.write(10, at(0));
  std::vector<std::int64_t> seen;
  while (reader.in.read() == Freshness::new_data) seen.push_back(reader.in.value());
  CHECK(seen == std::vector<std::int64_t>{10, 1, 2});
  CHECK(reader.in.missed() == 0);  // each source has its own numbers
  CHECK(connections_of(reader.in).size() == 2);
  CHECK(connections_of(first.out).front().to == "reader.in");
}

TEST_CASE("ports of different types do not connect, and both schemas are printed") {
  struct Other : Component {
    Other() : Component(about, "other") {}
    InPort<Pose> pose{*this, "pose"};
  } other;
  Writer writer;
  const auto refused = connect(writer.out, other.pose);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().error == Errc::wrong_type);
  CHECK(refused.error().message.find("\"value i64\"") != std::string::npos);
  CHECK(refused.error().message.find("\"x f64, y f64, seen u32, spare u32\"") != std::string::npos);
}

TEST_CASE("a port refuses more connections than it has room for, and keeps those it has") {
  Writer writer;
  Reader reader;
  std::vector<Connection> connections;
  for (std::size_t i = 0; i < max_connections; ++i) {
    auto one = connect(writer.out, reader.in, {.buffering = Buffering::fifo});
    REQUIRE(one);
    connections.push_back(std::move(*one));
  }
  const auto refused = connect(writer.out, reader.in, {.buffering = Buffering::fifo});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().error == Errc::too_many_connections);
  writer.out.write(3, at(0));
  std::size_t count = 0;
  while (reader.in.read() == Freshness::new_data) ++count;
  CHECK(count == max_connections);
  CHECK_FALSE(connect(writer.out, reader.in, {.buffering = Buffering::fifo, .capacity = 1u << 31}));
}

TEST_CASE("a cut connection, a port that ends and a reader that ends leave the others whole") {
  auto writer = std::make_unique<Writer>();
  Reader reader;
  auto extra = std::make_unique<Reader>("extra");
  auto connection = connect(writer->out, reader.in);
  auto to_extra = connect(writer->out, extra->in, {.buffering = Buffering::fifo});
  REQUIRE((connection && to_extra));
  extra.reset();  // the writer goes on
  CHECK_FALSE(to_extra->is_connected());
  CHECK(writer->out.write(5, at(0)));
  CHECK(reader.in.read() == Freshness::new_data);
  writer.reset();  // the reader keeps its last value
  CHECK(reader.in.read() == Freshness::old_data);
  CHECK(reader.in.value() == 5);
  CHECK(connections_of(reader.in).empty());
  CHECK(connection->cut());
}

TEST_CASE("two ports of one name are refused when the component is initialized") {
  struct Twins : Component {
    Twins() : Component(about, "twins") {}
    InPort<double> first{*this, "in"};
    InPort<double> second{*this, "in"};
  } twins;
  const auto refused = twins.initialize();
  REQUIRE_FALSE(refused);
  CHECK(refused.error().error == Errc::bad_name);
}

namespace {

struct Small {
  std::uint16_t number = 0;
  std::uint8_t flag = 0;
  TAKT_FIELDS(Small, number, flag)
};
struct Odd {
  std::array<std::uint8_t, 3> bytes{};
  TAKT_FIELDS(Odd, bytes)
};
struct Wide {
  Pose pose;
  std::array<float, 4> weights{};
  TAKT_FIELDS(Wide, pose, weights)
};

/// A typed port and one that knows its type at run time feed each other.
template <class T>
void check_opaque(const T& value) {
  // Padding may have any bytes.
  const auto is_same = [&](const void* other) {
    return std::is_same_v<T, Small> || std::memcmp(other, &value, sizeof(T)) == 0;
  };
  Writer owner;
  OutPort<T> out(owner, "typed_out");
  InPort<T> in(owner, "typed_in");
  auto opaque_out = OpaqueOutPort::create(owner, "opaque_out", shm::schema_text<T>());
  auto opaque_in = OpaqueInPort::create(owner, "opaque_in", shm::schema_text<T>());
  REQUIRE((opaque_out && opaque_in));
  CHECK((*opaque_out)->schema() == out.schema());
  CHECK((*opaque_out)->sample_schema() == out.sample_schema());
  REQUIRE((*opaque_out)->value_bytes() == sizeof(T));
  for (const Buffering buffering : {Buffering::latest, Buffering::circular, Buffering::fifo}) {
    const ConnectionOptions options{.buffering = buffering};
    const auto there = connect(out, **opaque_in, options);
    const auto back = connect(**opaque_out, in, options);
    REQUIRE((there && back));
    out.write(value, at(4));
    REQUIRE((*opaque_in)->read() == Freshness::new_data);
    CHECK((*opaque_in)->stamp() == at(4));
    CHECK(is_same((*opaque_in)->value()));
    (*opaque_out)->write((*opaque_in)->value(), at(5));
    REQUIRE(in.read() == Freshness::new_data);
    CHECK(is_same(&in.value()));
    CHECK(in.stamp() == at(5));
  }
}

}  // namespace

TEST_CASE("ports of types known at run time and at compile time connect by their schema") {
  check_opaque<double>(2.5);
  check_opaque<std::uint8_t>(7);
  check_opaque<std::array<std::int16_t, 5>>({1, 2, 3, 4, 5});
  check_opaque<Small>({});
  check_opaque<Odd>({{1, 2, 3}});
  check_opaque<Pose>({1, 2, 3, 4});
  check_opaque<Wide>({{1, 2, 3, 4}, {5, 6, 7, 8}});
  Writer owner;
  for (const char* wrong : {"", "x", "x f65", "x u8, y f64", "x f64, x f64"})
    CHECK_FALSE(OpaqueInPort::create(owner, "in", wrong));
}

TEST_CASE("reading and writing are real-time safe") {
  Writer writer;
  Reader reader;
  const auto latest = connect(writer.out, reader.in, {.wakes = true});
  const auto fifo = connect(writer.out, reader.in, {.buffering = Buffering::fifo});
  const auto circular = connect(writer.out, reader.in, {.buffering = Buffering::circular});
  REQUIRE((latest && fifo && circular));
  test::RtGuard guard;
  for (int i = 0; i < 1000; ++i) {
    writer.out.write(i, at(i));
    while (reader.in.read() == Freshness::new_data) {
    }
  }
  guard.disarm();
  CHECK(guard.report() == "");
}

namespace {

/// Writes its cycle number.
struct Source final : Component {
  Source() : Component(about, "source") {}
  Status on_execute(const CycleTime& cycle) noexcept override {
    out.write(static_cast<std::int64_t>(++count), cycle.time);
    return {};
  }
  OutPort<std::int64_t> out{*this, "out"};
  std::uint64_t count = 0;
};

/// Reads all that has come and checks that it rises.
struct Drain final : Component {
  Drain() : Component(about, "drain") {}
  Status on_execute(const CycleTime& /*cycle*/) noexcept override {
    while (in.read() == Freshness::new_data) {
      if (in.value() != static_cast<std::int64_t>(in.sequence())) wrong = true;
      ++count;
    }
    return {};
  }
  InPort<std::int64_t> in{*this, "in"};
  std::atomic<std::uint64_t> count{0};
  std::atomic<bool> wrong{false};
};

}  // namespace

TEST_CASE("connections are made and cut at random between two running threads, and no sample is damaged") {
  Source source;
  Drain drain;
  ExecutionContext fast({.name = "fast"}), slow({.name = "slow"});
  REQUIRE(fast.add(source));
  REQUIRE(slow.add(drain));
  REQUIRE(fast.activate(source));
  REQUIRE(slow.activate(drain));
  platform::SteadyClock clock;
  ContextThread one(fast, {}, [&] { return run_periodically(fast, clock, {.period = 50us}); });
  ContextThread two(slow, {}, [&] { return run_periodically(slow, clock, {.period = 200us}); });
  auto random = test::generator();
  std::vector<std::optional<Connection>> connections(5);
  // Both threads run, and the first connection carries samples, before the rest is changed.
  auto first = connect(source.out, drain.in, {}, patience);
  REQUIRE(first);
  while (drain.count == 0) std::this_thread::yield();
  connections[0].emplace(std::move(*first));
  for (int i = 0; i < 400; ++i) {
    auto& place = connections[static_cast<std::size_t>(test::uniform_int(random, 0, 4))];
    if (place) {
      CHECK(place->cut(patience));
      place.reset();
      continue;
    }
    ConnectionOptions options;
    options.buffering = static_cast<Buffering>(test::uniform_int(random, 0, 2));
    options.capacity = static_cast<std::uint32_t>(1 + test::uniform_int(random, 0, 63));
    options.wakes = test::uniform_int(random, 0, 1) == 0;
    auto made = connect(source.out, drain.in, options, patience);
    REQUIRE(made);
    place.emplace(std::move(*made));
  }
  for (auto& place : connections) {
    if (place) CHECK(place->cut(patience));
  }
  CHECK(one.stop());
  CHECK(two.stop());
  CHECK_FALSE(drain.wrong);
}

TEST_CASE("a write wakes the context of the reader, and a fifo loses nothing on the way") {
  Source source;
  Drain drain;
  ExecutionContext writing({.name = "writing"}), events({.name = "events"});
  REQUIRE(writing.add(source));
  REQUIRE(events.add(drain));
  REQUIRE(writing.activate(source));
  REQUIRE(events.activate(drain));
  const auto connection =
      connect(source.out, drain.in, {.buffering = Buffering::fifo, .capacity = 4096, .wakes = true});
  REQUIRE(connection);
  platform::SteadyClock clock;
  auto waiter = platform::EventWaiter::create();
  REQUIRE(waiter);
  TickCounter ticks;
  // Without the wake the reader would sleep for an hour.
  ContextThread reader(events, {}, [&] { return run_on_events(events, clock, *waiter, ticks, 1h); });
  VirtualTime time;
  REQUIRE(time.add(writing, 1ms));
  for (int i = 1; i <= 1000; ++i) {
    time.run_until(at(i));
    while (drain.count < static_cast<std::uint64_t>(i)) std::this_thread::yield();
  }
  CHECK(reader.stop());
  CHECK(drain.in.missed() == 0);
  CHECK_FALSE(drain.wrong);
}
