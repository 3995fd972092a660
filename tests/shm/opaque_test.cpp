// Elements known only by their schema. One side uses the type and the other the schema, in turn. Each reads
// what the other writes.
#include "takt/shm/opaque.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "support/rt_guard.hpp"
#include "takt/shm/layout.hpp"
#include "wide.hpp"

using namespace takt;
using namespace takt::shm;

namespace {

struct Pose {
  double position[6];
  std::int64_t stamp;
  std::uint8_t mode;
  std::uint8_t unused[7];  // padding, so that poses can be compared as bytes

  TAKT_FIELDS(Pose, position, stamp, mode)
};
struct alignas(64) Aligned {
  std::uint32_t words[32];

  TAKT_FIELDS(Aligned, words)
};

}  // namespace

namespace {

template <std::size_t bytes>
using Bytes = std::array<std::uint8_t, bytes>;

template <class T>
T element_of(std::uint32_t seed) {
  T value{};
  std::array<std::uint8_t, sizeof(T)> bytes;
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(seed * 31 + i);
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}
template <class T>
bool is_element(const T& value, std::uint32_t seed) {
  const T expected = element_of<T>(seed);
  return std::memcmp(&value, &expected, sizeof value) == 0;
}
template <class T>
std::byte* bytes_at(T* value) {
  return reinterpret_cast<std::byte*>(value);
}
template <class T>
const std::byte* bytes_at(const T* value) {
  return reinterpret_cast<const std::byte*>(value);
}

template <class T>
Opaque opaque() {
  return Opaque::of(schema_text<T>()).value();
}

/// The four exchanges of T, in a layout written by one side.
template <class T>
struct Exchanges {
  explicit Exchanges(std::span<const Declaration> wanted)
      : lines(new (std::align_val_t{interference_size}) std::byte[Layout::bytes(wanted).value()]),
        layout(Layout::write({lines.get(), Layout::bytes(wanted).value()}, wanted, 1).value()) {}

  static std::array<Declaration, 4> typed() {
    return {declare<SpscRing<T>>("ring", 8), declare<LatestValue<T>>("latest"),
            declare<BroadcastValue<T>>("broadcast"), declare<BroadcastRing<T>>("stream", 8)};
  }
  static std::array<Declaration, 4> opaque(std::uint32_t ring = 8) {
    const Opaque element = ::opaque<T>();
    return {declare<SpscRing<Opaque>>("ring", element, ring), declare<LatestValue<Opaque>>("latest", element),
            declare<BroadcastValue<Opaque>>("broadcast", element),
            declare<BroadcastRing<Opaque>>("stream", element, 8)};
  }

  struct Free {
    void operator()(std::byte* memory) const {
      ::operator delete[](memory, std::align_val_t{interference_size});
    }
  };
  std::unique_ptr<std::byte, Free> lines;
  Layout layout;
};

template <class T>
void check_ring(const Layout& layout) {
  auto to = layout.producer<SpscRing<T>>("ring").value();
  auto from = layout.consumer<SpscRing<Opaque>>("ring", opaque<T>()).value();
  T got{};
  for (std::uint32_t i = 0; i < 40; ++i) {
    CHECK_FALSE(from.try_pop(bytes_at(&got)));
    REQUIRE(to.try_push(element_of<T>(i)));
    REQUIRE(from.try_pop(bytes_at(&got)));
    CHECK(is_element(got, i));
  }
  std::array<T, 9> many{};
  for (std::uint32_t i = 0; i < many.size(); ++i) many[i] = element_of<T>(i);
  CHECK(to.push(many) == 8);
  std::array<T, 9> all{};
  CHECK(from.pop(bytes_at(all.data()), 5) == 5);
  CHECK(to.push(std::span(many).last(1)) == 1);
  CHECK(from.pop(bytes_at(all.data()) + 5 * sizeof(T), 4) == 4);
  CHECK(std::memcmp(all.data(), many.data(), sizeof all) == 0);
}
template <class T>
void check_ring_back(const Layout& layout) {
  auto to = layout.producer<SpscRing<Opaque>>("ring", opaque<T>()).value();
  auto from = layout.consumer<SpscRing<T>>("ring").value();
  std::array<T, 9> many{};
  for (std::uint32_t i = 0; i < many.size(); ++i) many[i] = element_of<T>(i);
  std::array<T, 9> all{};
  for (int round = 0; round < 5; ++round) {
    CHECK(to.push(bytes_at(many.data()), 5) == 5);
    CHECK(to.push(bytes_at(many.data()) + 5 * sizeof(T), 4) == 3);
    CHECK_FALSE(to.try_push(bytes_at(many.data())));
    CHECK(from.pop(std::span(all).first(8)) == 8);
    CHECK(to.try_push(bytes_at(&many[8])));
    CHECK(from.try_pop(all[8]));
    CHECK(std::memcmp(all.data(), many.data(), sizeof all) == 0);
  }
}

template <class T>
void check_latest(const Layout& layout) {
  auto to = layout.producer<LatestValue<T>>("latest").value();
  auto from = layout.consumer<LatestValue<Opaque>>("latest", opaque<T>()).value();
  T got = element_of<T>(99);
  CHECK(from.read(bytes_at(&got)) == Freshness::none);
  CHECK(is_element(got, 99));
  for (std::uint32_t i = 0; i < 10; ++i) {
    to.write(element_of<T>(i));
    if (i % 3 == 2) continue;
    CHECK(from.read(bytes_at(&got)) == Freshness::new_data);
    CHECK(is_element(got, i));
    CHECK(from.read(bytes_at(&got)) == Freshness::old_data);
    CHECK(is_element(got, i));
  }
}
template <class T>
void check_latest_back(const Layout& layout) {
  auto to = layout.producer<LatestValue<Opaque>>("latest", opaque<T>()).value();
  auto from = layout.consumer<LatestValue<T>>("latest").value();
  T got{};
  for (std::uint32_t i = 0; i < 10; ++i) {
    const T value = element_of<T>(i);
    to.write(bytes_at(&value));
    if (i % 3 == 2) continue;
    CHECK(from.read(got) == Freshness::new_data);
    CHECK(is_element(got, i));
  }
}

template <class T>
void check_broadcast(const Layout& layout) {
  BroadcastValue<T>& to = *layout.producer<BroadcastValue<T>>("broadcast").value();
  auto from = layout.consumer<BroadcastValue<Opaque>>("broadcast", opaque<T>()).value();
  auto other = layout.consumer<BroadcastValue<Opaque>>("broadcast", opaque<T>()).value();
  T got = element_of<T>(99);
  CHECK(from.read(bytes_at(&got)) == Freshness::none);
  CHECK(is_element(got, 99));
  for (std::uint32_t i = 0; i < 10; ++i) {
    to.write(element_of<T>(i));
    CHECK(from.read(bytes_at(&got)) == Freshness::new_data);
    CHECK(is_element(got, i));
    CHECK(from.read(bytes_at(&got)) == Freshness::old_data);
  }
  CHECK(other.read(bytes_at(&got)) == Freshness::new_data);
  CHECK(is_element(got, 9));
}
template <class T>
void check_broadcast_back(const Layout& layout) {
  auto to = layout.producer<BroadcastValue<Opaque>>("broadcast", opaque<T>()).value();
  auto from = layout.consumer<BroadcastValue<T>>("broadcast").value();
  T got{};
  for (std::uint32_t i = 0; i < 10; ++i) {
    const T value = element_of<T>(i);
    to.write(bytes_at(&value));
    CHECK(from.read(got) == Freshness::new_data);
    CHECK(is_element(got, i));
  }
}

template <class T>
void check_stream(const Layout& layout) {
  auto to = layout.producer<BroadcastRing<T>>("stream").value();
  auto from = layout.consumer<BroadcastRing<Opaque>>("stream", opaque<T>()).value();
  T got = element_of<T>(99);
  CHECK_FALSE(from.try_read(bytes_at(&got)));
  CHECK(is_element(got, 99));
  for (std::uint32_t i = 0; i < 5; ++i) to.write(element_of<T>(i));
  for (std::uint32_t i = 0; i < 5; ++i) {
    REQUIRE(from.try_read(bytes_at(&got)));
    CHECK(is_element(got, i));
  }
  CHECK(from.missed() == 0);
  for (std::uint32_t i = 0; i < 25; ++i) to.write(element_of<T>(i));
  REQUIRE(from.try_read(bytes_at(&got)));
  CHECK(is_element(got, 19));  // two of the eight slots are left to the writer
  CHECK(from.missed() == 19);
}
template <class T>
void check_stream_back(const Layout& layout) {
  auto to = layout.producer<BroadcastRing<Opaque>>("stream", opaque<T>()).value();
  auto from = layout.consumer<BroadcastRing<T>>("stream").value();
  T got{};
  while (from.try_read(got)) {
  }
  for (std::uint32_t i = 0; i < 30; ++i) {
    const T value = element_of<T>(i);
    to.write(bytes_at(&value));
    REQUIRE(from.try_read(got));
    CHECK(is_element(got, i));
  }
}

}  // namespace

TEST_CASE_TEMPLATE("an end with a type and an end with a schema exchange values in both directions", T,
                   Bytes<1>, Bytes<7>, Bytes<8>, Bytes<9>, Bytes<56>, Bytes<57>, Bytes<64>, Bytes<65>,
                   Bytes<200>, float, std::uint16_t, Pose, Aligned) {
  // An exchange takes the same bytes with a type and with a schema.
  const auto typed = Exchanges<T>::typed();
  const auto opaque_too = Exchanges<T>::opaque();
  for (std::size_t i = 0; i < typed.size(); ++i) {
    CHECK(typed[i].kind == opaque_too[i].kind);
    CHECK(typed[i].extent == opaque_too[i].extent);
    CHECK(typed[i].element_bytes == opaque_too[i].element_bytes);
    if (alignof(T) <= 8) CHECK(typed[i].element_alignment == opaque_too[i].element_alignment);
    if (alignof(T) <= 8) CHECK(typed[i].bytes == opaque_too[i].bytes);
  }
  std::vector<std::array<Declaration, 4>> sides{typed};
  if (alignof(T) <= 8) sides.push_back(opaque_too);
  for (const auto& wanted : sides) {
    const Exchanges<T> exchanges(wanted);
    check_ring<T>(exchanges.layout);
    check_ring_back<T>(exchanges.layout);
    check_latest<T>(exchanges.layout);
    check_latest_back<T>(exchanges.layout);
    check_broadcast<T>(exchanges.layout);
    check_broadcast_back<T>(exchanges.layout);
    check_stream<T>(exchanges.layout);
    check_stream_back<T>(exchanges.layout);
  }
}

TEST_CASE("a type that is aligned to more than its fields cannot be declared by its schema") {
  const Exchanges<Aligned> exchanges(Exchanges<Aligned>::opaque());
  CHECK(exchanges.layout.producer<LatestValue<Aligned>>("latest").error() == Errc::wrong_schema);
  CHECK(exchanges.layout.producer<LatestValue<Opaque>>("latest", opaque<Aligned>()));
}

TEST_CASE("elements of another schema or kind are refused, and writing where memory may only be read") {
  const Exchanges<Pose> exchanges(Exchanges<Pose>::typed());
  const Layout& layout = exchanges.layout;
  const Opaque other = Opaque::of("position f64[6], stamp i64, mode i8, _ u8[7]").value();
  const Opaque pose = opaque<Pose>();
  CHECK(layout.producer<SpscRing<Opaque>>("ring", other).error() == Errc::wrong_schema);
  CHECK(layout.consumer<BroadcastValue<Opaque>>("broadcast", other).error() == Errc::wrong_schema);
  CHECK(layout.consumer<LatestValue<Opaque>>("broadcast", pose).error() == Errc::wrong_kind);
  CHECK(layout.producer<BroadcastRing<Opaque>>("nothing", pose).error() == Errc::no_such_exchange);
  const Layout watched =
      Layout::read_only({exchanges.lines.get(), static_cast<std::size_t>(layout.size())}).value();
  CHECK(watched.producer<BroadcastValue<Opaque>>("broadcast", pose).error() == Errc::read_only);
  CHECK(watched.consumer<LatestValue<Opaque>>("latest", pose).error() == Errc::read_only);
  CHECK(watched.consumer<BroadcastValue<Opaque>>("broadcast", pose));
  CHECK(watched.consumer<BroadcastRing<Opaque>>("stream", pose));
  for (const char* text : {"", "x", "x f64,", "a u8, b f64", "a u8[0]", "a u8[1048577]", "a u8, a u8"})
    CHECK(Opaque::of(text).error() == Errc::bad_schema);
}

TEST_CASE("no element known by its schema is ever torn between threads") {
  constexpr std::uint64_t count = 10000;
  // The ring has room for all messages. On a busy machine each wait for the other thread takes a time slice.
  const Exchanges<test::Wide> exchanges(Exchanges<test::Wide>::opaque(count));
  const Layout& layout = exchanges.layout;
  const Opaque wide = opaque<test::Wide>();
  auto ring_out = layout.consumer<SpscRing<Opaque>>("ring", wide).value();
  auto latest_out = layout.consumer<LatestValue<Opaque>>("latest", wide).value();
  auto broadcast_out = layout.consumer<BroadcastValue<Opaque>>("broadcast", wide).value();
  auto stream_out =
      layout.consumer<BroadcastRing<Opaque>>("stream", wide).value();  // from the first message on
  std::thread writer([&] {
    auto ring = layout.producer<SpscRing<Opaque>>("ring", wide).value();
    auto latest = layout.producer<LatestValue<Opaque>>("latest", wide).value();
    auto broadcast = layout.producer<BroadcastValue<Opaque>>("broadcast", wide).value();
    auto stream = layout.producer<BroadcastRing<Opaque>>("stream", wide).value();
    for (std::uint64_t i = 1; i <= count; ++i) {
      const test::Wide value = test::Wide::of(i);
      latest.write(bytes_at(&value));
      broadcast.write(bytes_at(&value));
      stream.write(bytes_at(&value));
      if (!ring.try_push(bytes_at(&value))) return;
    }
  });
  bool whole = true;
  bool in_order = true;
  std::array<test::Wide, 4> got{};
  std::uint64_t streamed = 0;
  for (std::uint64_t popped = 0; popped < count;) {
    if (ring_out.try_pop(bytes_at(&got[0]))) {
      ++popped;
      in_order = in_order && got[0].words[0] == popped;
    } else {
      std::this_thread::yield();
    }
    (void)latest_out.read(bytes_at(&got[1]));
    (void)broadcast_out.read(bytes_at(&got[2]));
    if (stream_out.try_read(bytes_at(&got[3]))) {
      ++streamed;
      in_order = in_order && got[3].words[0] == streamed + stream_out.missed();
    }
    for (const test::Wide& one : got) whole = whole && one.whole();
  }
  writer.join();
  CHECK(whole);
  CHECK(in_order);
  CHECK(latest_out.read(bytes_at(&got[1])) != Freshness::none);
  CHECK(got[1].words[0] == count);
  CHECK(broadcast_out.read(bytes_at(&got[2])) != Freshness::none);
  CHECK(got[2].words[0] == count);
}

TEST_CASE("ends of elements known by their schema are real-time safe") {
  const Exchanges<Pose> exchanges(Exchanges<Pose>::opaque());
  const Layout& layout = exchanges.layout;
  const Opaque pose = opaque<Pose>();
  auto push = layout.producer<SpscRing<Opaque>>("ring", pose).value();
  auto pop = layout.consumer<SpscRing<Opaque>>("ring", pose).value();
  auto write = layout.producer<LatestValue<Opaque>>("latest", pose).value();
  auto read = layout.consumer<LatestValue<Opaque>>("latest", pose).value();
  auto tell = layout.producer<BroadcastValue<Opaque>>("broadcast", pose).value();
  auto hear = layout.consumer<BroadcastValue<Opaque>>("broadcast", pose).value();
  auto send = layout.producer<BroadcastRing<Opaque>>("stream", pose).value();
  auto receive = layout.consumer<BroadcastRing<Opaque>>("stream", pose).value();
  Pose value{};
  bool good = true;
  test::RtGuard guard;
  for (int i = 0; i < 100; ++i) {
    good = push.try_push(bytes_at(&value)) && pop.try_pop(bytes_at(&value)) && good;
    write.write(bytes_at(&value));
    good = read.read(bytes_at(&value)) == Freshness::new_data && good;
    tell.write(bytes_at(&value));
    good = hear.read(bytes_at(&value)) == Freshness::new_data && good;
    send.write(bytes_at(&value));
    good = receive.try_read(bytes_at(&value)) && good;
  }
  CHECK(guard.report() == "");
  CHECK(good);
}
