#include "takt/shm/layout.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "shm/forged.hpp"
#include "support/random.hpp"
#include "support/reference.hpp"
#include "takt/shm/opaque.hpp"

using namespace takt;
using namespace takt::shm;
using takt::test::Reference;

namespace {

constexpr std::array wanted = {
    declare<SpscRing<Reference>>("references", 200),
    declare<SlotRing<Reference>>("requests", 16),
    declare<ByteRing>("text", 4096),
    declare<LatestValue<Reference>>("goal"),
    declare<BroadcastValue<Reference>>("state"),
    declare<RawMemory>("own", 100, 3, 2),
    declare<BroadcastRing<Reference>>("events", 8),
};

/// Memory aligned as in a segment, with exactly `bytes` bytes, so a sanitizer detects accesses beyond.
class Memory {
 public:
  explicit Memory(std::size_t bytes)
      : lines_(static_cast<std::byte*>(::operator new (bytes, std::align_val_t{interference_size}))),
        bytes_(bytes) {
    std::memset(lines_.get(), 0, bytes);
  }
  [[nodiscard]] std::span<std::byte> all() const { return {lines_.get(), bytes_}; }
  /// A field of the header or of a record.
  template <class T>
  void set(std::size_t at, T value) {
    std::memcpy(lines_.get() + at, &value, sizeof value);
  }

 private:
  struct Free {
    void operator()(std::byte* memory) const {
      ::operator delete (memory, std::align_val_t{interference_size});
    }
  };
  std::unique_ptr<std::byte, Free> lines_;
  std::size_t bytes_;
};

Memory written() {
  Memory memory(Layout::bytes(wanted).value());
  REQUIRE(Layout::write(memory.all(), wanted, 42));
  return memory;
}

Error read_error(const Memory& memory) {
  const auto layout = Layout::read(memory.all());
  return layout ? Error{} : layout.error();
}

constexpr std::size_t record(std::size_t index) {
  return sizeof(detail::LayoutHeader) + index * sizeof(detail::LayoutRecord);
}

}  // namespace

TEST_CASE("each kind of exchange is found by its name and carries values from end to end") {
  const Memory memory = written();
  const auto writer = Layout::read(memory.all()).value();
  const auto reader = Layout::read(memory.all()).value();
  CHECK(writer.epoch() == 42);
  CHECK(writer.exchanges().size() == wanted.size());
  const Reference sent{{1, 2}, 3};
  Reference got{};

  CHECK(writer.producer<SpscRing<Reference>>("references")->try_push(sent));
  CHECK(reader.consumer<SpscRing<Reference>>("references")->try_pop(got));
  CHECK(std::exchange(got, {}).stamp == 3);
  CHECK(writer.find("references").value()->extent == Extent{256, 1, 1});

  CHECK(writer.producer<SlotRing<Reference>>("requests")->try_push(sent));
  CHECK(reader.consumer<SlotRing<Reference>>("requests")->try_pop(got));
  CHECK(std::exchange(got, {}).stamp == 3);

  const std::array text = {std::byte{'h'}, std::byte{'i'}};
  CHECK(writer.producer<ByteRing>("text")->try_write(text));
  CHECK(reader.consumer<ByteRing>("text")->peek()->size() == 2);

  auto goal = reader.consumer<LatestValue<Reference>>("goal");
  CHECK(goal->read(got) == Freshness::none);
  writer.producer<LatestValue<Reference>>("goal")->write(sent);
  CHECK(goal->read(got) == Freshness::new_data);
  CHECK(std::exchange(got, {}).stamp == 3);

  (*writer.producer<BroadcastValue<Reference>>("state"))->write(sent);
  for (int i = 0; i < 3; ++i) {
    CHECK(reader.consumer<BroadcastValue<Reference>>("state")->read(got) == Freshness::new_data);
    CHECK(std::exchange(got, {}).stamp == 3);
  }

  writer.producer<BroadcastRing<Reference>>("events")->write(sent);
  for (int i = 0; i < 3; ++i) {
    CHECK(reader.consumer<BroadcastRing<Reference>>("events")->try_read(got));
    CHECK(std::exchange(got, {}).stamp == 3);
  }

  const auto own = writer.producer<RawMemory>("own", 2).value();
  CHECK(own.size() == 100);
  own[99] = std::byte{7};
  CHECK(reader.consumer<RawMemory>("own", 1).value()[99] == std::byte{7});
}

TEST_CASE("exchanges lie interference_size, within the memory") {
  const Memory memory = written();
  const auto layout = Layout::read(memory.all()).value();
  std::uint64_t end = 0;
  for (const Exchange& exchange : layout.exchanges()) {
    CHECK(exchange.offset % interference_size == 0);
    CHECK(exchange.offset >= end);
    end = exchange.offset + exchange.bytes;
  }
  CHECK(end <= memory.all().size());
  CHECK(layout.size() == memory.all().size());
  CHECK(sizeof(Layout) <= 4096);  // the "some KiB" of its comment
}

TEST_CASE("every place at an exchange has an owner slot of its own, and the segment has one") {
  const auto memory = written();
  const auto layout = Layout::read(memory.all()).value();
  std::vector<std::uint32_t> numbers = {0};
  for (const Exchange& exchange : layout.exchanges()) {
    for (std::uint32_t i = 0; i < exchange.extent.producers; ++i) {
      numbers.push_back(Layout::owner_slot_number(exchange, Role::producer, i).value());
    }
    for (std::uint32_t i = 0; i < exchange.extent.consumers; ++i) {
      numbers.push_back(Layout::owner_slot_number(exchange, Role::consumer, i).value());
    }
    CHECK(Layout::owner_slot_number(exchange, Role::producer, exchange.extent.producers).error() ==
          Errc::no_such_slot);
    CHECK(Layout::owner_slot_number(exchange, Role::consumer, exchange.extent.consumers).error() ==
          Errc::no_such_slot);
  }
  REQUIRE(numbers.size() == layout.owner_slots());
  for (std::uint32_t i = 0; i < layout.owner_slots(); ++i) CHECK(numbers[i] == i);
  layout.owner_slot(layout.owner_slots() - 1).pid = 5;
  CHECK(std::all_of(layout.exchanges().begin(), layout.exchanges().end(), [&](const Exchange& exchange) {
    const auto bytes = layout.memory_of(exchange);
    const auto* owner_slot = reinterpret_cast<const std::byte*>(&layout.owner_slot(layout.owner_slots() - 1));
    return owner_slot + sizeof(OwnerSlotRecord) <= bytes.data();
  }));
}

TEST_CASE("an end of another kind, type or name is refused") {
  const Memory memory = written();
  const auto layout = Layout::read(memory.all()).value();
  CHECK(layout.producer<SpscRing<Reference>>("reference").error() == Errc::no_such_exchange);
  CHECK(layout.producer<SlotRing<Reference>>("references").error() == Errc::wrong_kind);
  CHECK(layout.producer<SpscRing<std::array<double, 3>>>("references").error() == Errc::wrong_schema);
  CHECK(layout.producer<SpscRing<Reference>>("references", 1).error() == Errc::no_such_slot);
  CHECK(layout.consumer<SpscRing<Reference>>("references", 1).error() == Errc::no_such_slot);
  CHECK(layout.producer<RawMemory>("own", 3).error() == Errc::no_such_slot);
  CHECK(layout.consumer<RawMemory>("own", 2).error() == Errc::no_such_slot);
}

TEST_CASE("memory that may only be read gives the ends that only read") {
  const Memory memory = written();
  const auto layout = Layout::read_only(memory.all()).value();
  CHECK(layout.consumer<BroadcastValue<Reference>>("state"));
  CHECK(layout.consumer<RawMemory>("own"));
  CHECK(layout.producer<BroadcastValue<Reference>>("state").error() == Errc::read_only);
  CHECK(layout.consumer<SpscRing<Reference>>("references").error() == Errc::read_only);
  CHECK(layout.consumer<LatestValue<Reference>>("goal").error() == Errc::read_only);
}

TEST_CASE("the schema is kept with the exchange, and a changed one is noticed") {
  Memory memory = written();
  const auto layout = Layout::read(memory.all()).value();
  std::array<char, max_schema> text{};
  CHECK(layout.schema(layout.exchanges()[0], text).value() == schema_text<Reference>());
  CHECK(layout.schema(layout.exchanges()[2], text).value() == "value u8");
  for (Exchange copy : layout.exchanges()) {
    CHECK(layout.schema(copy, text));
    copy.index = static_cast<std::uint32_t>(wanted.size());
    CHECK(layout.schema(copy, text).error() == Errc::bad_directory);
    copy.index = 0;
    copy.schema_length = max_schema + 1;
    CHECK(layout.schema(copy, text).error() == Errc::bad_directory);
  }
  memory.set(record(0) + offsetof(detail::LayoutRecord, schema), 'q');
  CHECK(layout.schema(layout.exchanges()[0], text).error() == Errc::bad_directory);
}

TEST_CASE("a schema that was changed for one of the same hash, but of larger elements, is refused") {
  const std::array one = {declare<LatestValue<Opaque>>("value", Opaque::of(test::forged::small).value())};
  const Memory memory(Layout::bytes(one).value());
  const auto layout = Layout::write(memory.all(), one, 42).value();
  std::array<char, max_schema> text{};
  CHECK(layout.schema(layout.exchanges()[0], text).value() == test::forged::small);
  test::forged::enlarge(memory.all().data());
  CHECK(layout.schema(layout.exchanges()[0], text).error() == Errc::bad_directory);
}

TEST_CASE("a layout that cannot be is refused before anything is written") {
  const auto error_of = [](std::vector<Declaration> some) { return Layout::bytes(some).error(); };
  const Declaration good = declare<BroadcastValue<double>>("good");
  CHECK(error_of({}) == Errc::too_many_exchanges);
  CHECK(error_of({good, good}) == Errc::bad_name);
  for (const char* name : {"", "a b", "a/b", "ümlaut", "longer_than_31_characters_which_is"}) {
    CHECK(error_of({declare<BroadcastValue<double>>(name)}) == Errc::bad_name);
  }
  CHECK(error_of({declare<RawMemory>("none", 0)}) == Errc::bad_extent);
  CHECK(error_of({declare<RawMemory>("owner_slots", 1, 65)}) == Errc::bad_extent);
  std::vector<Declaration> many;
  const std::vector<std::string> names = [] {
    std::vector<std::string> made;
    for (int i = 0; i < 33; ++i) made.push_back("n" + std::to_string(i));
    return made;
  }();
  for (const std::string& name : names) many.push_back(declare<BroadcastValue<double>>(name));
  CHECK(error_of(many) == Errc::too_many_exchanges);
  many.pop_back();
  CHECK(Layout::bytes(many));
  CHECK(error_of({declare<RawMemory>("a", 1, 64, 64), declare<RawMemory>("b", 1, 64, 64), good}) ==
        Errc::too_many_exchanges);
  Declaration other = good;
  other.schema = "value f32";
  CHECK(error_of({other}) == Errc::bad_schema);

  const Memory memory(Layout::bytes(wanted).value());
  CHECK(Layout::write(memory.all().first(memory.all().size() - 1), wanted, 1).error() == Errc::does_not_fit);
  CHECK(Layout::write(memory.all().subspan(8), wanted, 1).error() == Errc::misaligned);
  CHECK(read_error(memory) == Errc::not_ready);
}

TEST_CASE("memory with another layout is refused by its name") {
  const auto with = [](std::size_t at, auto value) {
    Memory memory = written();
    memory.set(at, value);
    return read_error(memory);
  };
  CHECK(with(0, std::uint32_t{0}) == Errc::not_ready);
  CHECK(with(0, std::uint32_t{0x31424154}) == Errc::not_a_segment);
  CHECK(with(0, detail::other_magic) == Errc::wrong_byte_order);
  CHECK(with(4, layout_version + 1) == Errc::wrong_version);
  CHECK(with(8, std::uint32_t{2}) == Errc::wrong_word_size);
  CHECK(with(offsetof(detail::LayoutHeader, bytes), ~std::uint64_t{0}) == Errc::wrong_size);
  const Memory memory = written();
  CHECK(Layout::read(memory.all().first(memory.all().size() - 1)).error() == Errc::wrong_size);
  CHECK(Layout::read(memory.all().first(63)).error() == Errc::wrong_size);
  CHECK(Layout::read(memory.all().first(0)).error() == Errc::wrong_size);
}

TEST_CASE("the magic number shows the byte order") {
  // The other byte order reads the magic number backwards.
  auto bytes = std::bit_cast<std::array<char, 4>>(detail::magic);
  std::reverse(bytes.begin(), bytes.end());
  CHECK(std::bit_cast<std::uint32_t>(bytes) == detail::other_magic);
}

TEST_CASE("every lie in the directory is found") {
  using Record = detail::LayoutRecord;
  struct Lie {
    std::size_t at;
    std::uint64_t value;
    std::size_t bytes;
  };
  const std::uint64_t offset = Layout::read(written().all()).value().exchanges()[1].offset;
  for (const Lie& lie : std::vector<Lie>{
           {offsetof(detail::LayoutHeader, exchanges), 0, 4},
           {offsetof(detail::LayoutHeader, exchanges), 33, 4},
           {offsetof(detail::LayoutHeader, exchanges), 5, 4},
           {offsetof(detail::LayoutHeader, exchanges), 0xffffffff, 4},
           {offsetof(detail::LayoutHeader, owner_slots), 0, 4},
           {offsetof(detail::LayoutHeader, owner_slots), 0xffffffff, 4},
           {offsetof(detail::LayoutHeader, bytes), 0, 8},
           {offsetof(detail::LayoutHeader, bytes), 1000, 8},
           {record(1) + offsetof(Record, name), '/', 1},
           {record(1) + offsetof(Record, name) + 31, 'x', 1},
           {record(1) + offsetof(Record, kind), 0, 4},
           {record(1) + offsetof(Record, kind), last_kind + 1, 4},
           {record(1) + offsetof(Record, element_bytes), 0, 4},
           {record(1) + offsetof(Record, element_bytes), 0xffffffff, 4},
           {record(1) + offsetof(Record, element_alignment), 0, 4},
           {record(1) + offsetof(Record, element_alignment), 3, 4},
           {record(1) + offsetof(Record, element_alignment), 256, 4},
           {record(1) + offsetof(Record, capacity), 0, 4},
           {record(1) + offsetof(Record, capacity), 15, 4},
           {record(1) + offsetof(Record, capacity), 0xffffffff, 4},
           {record(1) + offsetof(Record, producers), 65, 4},
           {record(1) + offsetof(Record, producers), 2, 4},
           {record(1) + offsetof(Record, consumers), 0xffffffff, 4},
           {record(1) + offsetof(Record, first_owner_slot), 0, 4},
           {record(1) + offsetof(Record, schema_length), 1000, 4},
           {record(1) + offsetof(Record, schema_length), 7, 4},
           {record(1) + offsetof(Record, schema_hash), 0, 8},
           {record(1) + offsetof(Record, schema), 'q', 1},
           {record(1) + offsetof(Record, offset), 0, 8},
           {record(1) + offsetof(Record, offset), offset + 1, 8},
           {record(1) + offsetof(Record, offset), offset - interference_size, 8},
           {record(1) + offsetof(Record, offset), ~std::uint64_t{127}, 8},
           {record(1) + offsetof(Record, bytes), 0, 8},
           {record(1) + offsetof(Record, bytes), ~std::uint64_t{0}, 8},
           {record(1) + offsetof(Record, bytes), std::uint64_t{1} << 57, 8},
       }) {
    Memory memory = written();
    std::memcpy(memory.all().data() + lie.at, &lie.value, lie.bytes);
    CAPTURE(lie.at);
    CAPTURE(lie.value);
    CHECK(read_error(memory) == Errc::bad_directory);
  }
}

TEST_CASE("a capacity that fits the directory but not the exchange is found when its end is made") {
  Memory memory = written();
  memory.set(record(0) + offsetof(detail::LayoutRecord, capacity), std::uint32_t{1} << 31);
  const auto layout = Layout::read(memory.all());
  REQUIRE(layout);
  CHECK(layout->producer<SpscRing<Reference>>("references").error() == Errc::bad_directory);
}

TEST_CASE("no bytes in the directory make the reader go astray") {
  auto random = test::generator(72);
  const Memory good = written();
  const std::size_t directory = record(wanted.size());
  for (std::size_t i = 0; i < test::count(20000); ++i) {
    Memory memory(good.all().size());
    std::memcpy(memory.all().data(), good.all().data(), good.all().size());
    const bool all = i % 2 == 0;
    for (auto changes = all ? directory - 4 : 1 + i % 3; changes > 0; --changes) {
      const auto at =
          static_cast<std::size_t>(test::uniform_int(random, 4, static_cast<std::int64_t>(directory) - 1));
      memory.set(all ? 3 + changes : at, static_cast<std::uint8_t>(random()));
    }
    const auto layout = Layout::read(memory.all());
    if (!layout) continue;
    for (const Exchange& exchange : layout->exchanges()) {
      CHECK(exchange.offset + exchange.bytes <= memory.all().size());
    }
    const auto producer = layout->producer<SpscRing<Reference>>("references");
    if (producer) CHECK(producer->capacity() == 256);
  }
}

TEST_CASE("memory can be laid out again") {
  const Memory memory = written();
  const auto old = Layout::read(memory.all()).value();
  CHECK(old.producer<SpscRing<Reference>>("references")->try_push({}));
  const std::array other = {declare<SpscRing<Reference>>("references", 200)};
  const auto layout = Layout::write(memory.all(), other, 43).value();
  CHECK(layout.epoch() == 43);
  Reference got{};
  CHECK_FALSE(layout.consumer<SpscRing<Reference>>("references")->try_pop(got));
}
