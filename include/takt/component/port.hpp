// Ports: how components exchange values without knowing each other. A component declares its ports as
// members:
//
//     struct Plant final : takt::component::Component {
//       ...
//       takt::component::InPort<double> torque{*this, "torque"};        // N m
//       takt::component::OutPort<State> state{*this, "state"};
//
//       takt::Status on_execute(const takt::component::CycleTime& cycle) noexcept override {
//         if (torque.read() == takt::shm::Freshness::none) return {};  // nobody has written yet
//         state.write(step(torque.value()), cycle.time);
//         return {};
//       }
//     };
//
// connection.hpp connects them, also while they run. Each sample carries a stamp and a sequence number, so
// the reader knows how old a value is, and how many it has missed. An out-port feeds any number of readers.
// An in-port reads several sources in an order that the user gives.
//
// A value is a number, an array of numbers, or a type with TAKT_FIELDS (core/fields.hpp). Ports connect if
// the schemas of their types are equal (shm/schema.hpp), also between processes and plug-ins.
//
// read() and write() are real-time safe. Only the thread that runs the component calls them.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "takt/component/error.hpp"
#include "takt/core/error.hpp"
#include "takt/core/fields.hpp"
#include "takt/core/finite_math.hpp"
#include "takt/core/setup_error.hpp"
#include "takt/core/time.hpp"
#include "takt/shm/exchange.hpp"
#include "takt/shm/layout.hpp"

namespace takt::component {

class Component;
class Wake;

/// A value on its way through a connection.
template <class T>
struct Sample {
  Time stamp{};                ///< of the value, as the writer says
  std::uint64_t sequence = 0;  ///< the writer's samples are numbered from 1
  T value{};

  TAKT_FIELDS(Sample, stamp, sequence, value)
};

/// What lies between the writer and a reader.
enum class Buffering : std::uint8_t {
  latest,    ///< the newest sample; the reader pulls it from the writer's memory
  circular,  ///< the last samples; the writer overwrites the oldest
  fifo,      ///< all samples; the writer refuses one if the reader is too slow
};

/// The name of a buffering: "latest", "circular", "fifo".
[[nodiscard]] std::string_view to_string(Buffering buffering) noexcept;

/// The most connections of one port.
inline constexpr std::size_t max_connections = 16;

/// The memory of a connection: one exchange in a layout, on the heap or in a shared segment.
struct SampleMemory {
  shm::Layout layout;
  std::string exchange;         ///< its name in the layout
  std::shared_ptr<void> owner;  ///< keeps the memory
};

namespace port_detail {

struct Link;

/// The writing end of a connection. The connection owns it; a port only points to it.
struct SinkBase {
  virtual ~SinkBase() = default;
  /// Opens the end again where another end of this memory has stopped. Real-time safe.
  virtual void resume(const SampleMemory& memory) noexcept = 0;
  Wake* bell = nullptr;  ///< rung after each write; null: none
};

/// The reading end of a connection.
struct SourceBase {
  virtual ~SourceBase() = default;
  /// The number of the sample that is read next; 0 for the newest one.
  [[nodiscard]] virtual std::uint32_t position() const noexcept = 0;
  /// Goes on where another end of this memory has stopped, at its position(). Real-time safe.
  virtual void resume(std::uint32_t position) noexcept = 0;
  int order = 0;
  std::uint64_t last_sequence = 0;  ///< of the sample that was read last; 0: none
};

/// The beginning of a Sample.
struct SampleHead {
  Time stamp{};
  std::uint64_t sequence = 0;
};

/// Pointers to the ends of a port's connections. Fixed memory, so that a boundary changes it without the
/// heap.
template <class End>
class EndList {
 public:
  [[nodiscard]] bool insert(End* end) noexcept {
    if (count_ == ends_.size()) return false;
    ends_[count_++] = end;
    return true;
  }
  void erase(const End* end) noexcept {
    count_ =
        static_cast<std::size_t>(std::remove(ends_.begin(), ends_.begin() + count_, end) - ends_.begin());
  }
  /// Puts them into their order. Equal ones keep theirs.
  void sort() noexcept {
    for (std::size_t i = 1; i < count_; ++i) {
      for (std::size_t k = i; k > 0 && ends_[k]->order < ends_[k - 1]->order; --k)
        std::swap(ends_[k], ends_[k - 1]);
    }
  }
  [[nodiscard]] std::span<End* const> all() const noexcept { return {ends_.data(), count_}; }

 private:
  std::array<End*, max_connections> ends_{};
  std::size_t count_ = 0;
};

/// Wakes the reader.
void ring(Wake& bell) noexcept;

}  // namespace port_detail

/// What all ports have in common. The component must outlive its ports, as it does with members.
class Port {
 public:
  Port(const Port&) = delete;
  Port& operator=(const Port&) = delete;
  virtual ~Port() = default;

  /// The name, unique among the ports of the component.
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// The component that has the port.
  [[nodiscard]] Component& component() const noexcept { return *component_; }
  /// The schema of the value: "position f64[6], mode u8, _ u8[7]".
  [[nodiscard]] std::string_view schema() const noexcept { return schema_; }
  /// The schema of Sample<T>, by which two ends compare their memory.
  [[nodiscard]] std::string_view sample_schema() const noexcept { return sample_schema_; }
  /// "component.port".
  [[nodiscard]] std::string full_name() const;

 protected:
  /// The schemas must outlive the port. Not real-time safe.
  Port(Component& component, std::string name, std::string_view schema, std::string_view sample_schema);
  /// Cuts all connections. The destructor of each port type calls it first. Not real-time safe.
  void cut_all() noexcept;

 private:
  friend struct port_detail::Link;

  Component* component_;
  std::string name_;
  std::string_view schema_;
  std::string_view sample_schema_;
  std::vector<std::shared_ptr<port_detail::Link>> links_;  ///< under the lock of connections
};

/// An out-port of any type.
class OutPortBase : public Port {
 public:
  /// The number of samples written. Any thread; real-time safe.
  [[nodiscard]] std::uint64_t written() const noexcept { return sequence_.load(std::memory_order_relaxed); }
  /// The number of samples that a fifo refused. Any thread; real-time safe.
  [[nodiscard]] std::uint64_t refused() const noexcept { return refused_.load(std::memory_order_relaxed); }

  /// The exchange that a connection with this buffering needs.
  [[nodiscard]] virtual shm::Declaration declare(Buffering buffering, std::uint32_t capacity) const = 0;
  /// A writing end in this memory. Errors: those of shm::Layout::producer().
  [[nodiscard]] virtual Result<std::unique_ptr<port_detail::SinkBase>> make_sink(
      const SampleMemory& memory) const = 0;
  /// An end that writes nothing, and only wakes the reader.
  [[nodiscard]] virtual std::unique_ptr<port_detail::SinkBase> make_bell() const = 0;
  /// The memory of the newest sample, which the port owns together with its readers.
  [[nodiscard]] const SampleMemory& newest() const noexcept { return newest_; }

 protected:
  /// Lets the port write into newest(), which has changed. Real-time safe.
  virtual void reopen() noexcept = 0;
  /// Allocates the memory of the newest sample. Throws std::bad_alloc.
  OutPortBase(Component& component, std::string name, std::string_view schema, std::string_view sample_schema,
              const shm::Declaration& newest);

  [[nodiscard]] std::uint64_t next_sequence() noexcept {
    // relaxed: only this thread writes the number.
    const std::uint64_t next = sequence_.load(std::memory_order_relaxed) + 1;
    sequence_.store(next, std::memory_order_relaxed);
    return next;
  }
  void count_refusal() noexcept {
    refused_.store(refused_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

  port_detail::EndList<port_detail::SinkBase> sinks_;

 private:
  friend struct port_detail::Link;

  /// Exchanges memory, count and ends of all connections with the old port, at a boundary of both.
  void take_over(OutPortBase& old) noexcept;

  SampleMemory newest_;
  std::atomic<std::uint64_t> sequence_{0};
  std::atomic<std::uint64_t> refused_{0};
};

class InPortBase;

/// What stands between an in-port and its sources: a recording of what the component reads, or its replay.
class PortTap {
 public:
  virtual ~PortTap() = default;
  PortTap(const PortTap&) = delete;
  PortTap& operator=(const PortTap&) = delete;

  /// In place of InPortBase::read_sources(). Returns whether the port has a new sample. On the thread that
  /// runs the component; real-time safe.
  [[nodiscard]] virtual bool read(InPortBase& port) noexcept = 0;

 protected:
  PortTap() = default;
  /// Reads by the tap behind this one, or from the sources.
  [[nodiscard]] bool read_behind(InPortBase& port) noexcept;

 private:
  friend class InPortBase;
  PortTap* behind_ = nullptr;
};

/// An in-port of any type.
class InPortBase : public Port {
 public:
  /// The number of samples that were lost between two samples of the same source. Any thread; real-time safe.
  [[nodiscard]] std::uint64_t missed() const noexcept { return missed_.load(std::memory_order_relaxed); }
  /// The number of samples read. Any thread; real-time safe.
  [[nodiscard]] std::uint64_t samples_read() const noexcept { return read_.load(std::memory_order_relaxed); }

  /// A reading end in this memory. Errors: those of shm::Layout::consumer().
  [[nodiscard]] virtual Result<std::unique_ptr<port_detail::SourceBase>> make_source(
      const SampleMemory& memory) const = 0;

  /// Lets a tap answer the reads. A second one stands behind the first, which sees what it answers. They must
  /// outlive the reads. Set-up only: no thread may read meanwhile.
  void add_tap(PortTap& tap) noexcept { (tap_ == nullptr ? tap_ : tap_->behind_) = &tap; }
  /// Takes all taps away. No thread may read meanwhile.
  void remove_taps() noexcept { tap_ = nullptr; }
  /// For the tap: takes the next sample of the first source that has one. Returns false if none has.
  [[nodiscard]] virtual bool read_sources() noexcept = 0;
  /// For the tap: the bytes of the sample that was read last, a Sample of the port's type.
  [[nodiscard]] virtual std::span<std::byte> last_sample() noexcept = 0;
  /// For the tap: counts a sample that it has put into last_sample(), and `missed` ones before it.
  void count_given(std::uint64_t missed) noexcept {
    missed_.store(this->missed() + missed, std::memory_order_relaxed);
    count_read();
  }

 protected:
  using Port::Port;

  void count(port_detail::SourceBase& source, std::uint64_t sequence) noexcept {
    // A writer that has started again begins at 1. Then nothing is known about what was missed.
    if (source.last_sequence != 0 && sequence > source.last_sequence + 1) {
      missed_.store(missed() + (sequence - source.last_sequence - 1), std::memory_order_relaxed);
    }
    source.last_sequence = sequence;
    count_read();
  }
  [[nodiscard]] shm::Freshness freshness(bool is_new) const noexcept {
    if (is_new) return shm::Freshness::new_data;
    return has_value_ ? shm::Freshness::old_data : shm::Freshness::none;
  }

  /// The first tap; null: none.
  [[nodiscard]] PortTap* tap() const noexcept { return tap_; }

  port_detail::EndList<port_detail::SourceBase> sources_;

 private:
  friend struct port_detail::Link;

  /// Takes the last sample and the counts of the old port, at a boundary of both. The types are equal.
  void take_over(InPortBase& old) noexcept;
  void count_read() noexcept {
    read_.store(samples_read() + 1, std::memory_order_relaxed);
    has_value_ = true;
  }

  PortTap* tap_ = nullptr;
  bool has_value_ = false;
  std::atomic<std::uint64_t> missed_{0};
  std::atomic<std::uint64_t> read_{0};
};

inline bool PortTap::read_behind(InPortBase& port) noexcept {
  return behind_ != nullptr ? behind_->read(port) : port.read_sources();
}

namespace port_detail {

/// The kind of the exchange that holds the samples.
[[nodiscard]] inline Result<shm::Kind> kind_of(const SampleMemory& memory) noexcept {
  const auto found = memory.layout.find(memory.exchange);
  if (!found) return takt::fail(found.error());
  return (*found)->kind;
}

template <class T>
struct SinkOf final : SinkBase {
  using Newest = typename shm::BroadcastValue<Sample<T>>::Writer;
  using Circular = shm::BroadcastWriter<Sample<T>>;
  using Fifo = shm::RingProducer<Sample<T>>;

  /// Returns false if a fifo is full. The parts of a sample are not joined in a copy before. The processor
  /// would wait for it, because it reads the copy in larger pieces than were stored.
  [[nodiscard]] bool write(const SampleHead& head, const T& value) noexcept {
    if (auto* fifo = std::get_if<Fifo>(&end)) return fifo->try_push_joined(head, value);
    if (auto* circular = std::get_if<Circular>(&end)) circular->write_joined(head, value);
    if (auto* newest = std::get_if<Newest>(&end)) newest->write_joined(head, value);
    return true;
  }

  /// Opens the end that fits the memory. Errors: those of shm::Layout::producer().
  [[nodiscard]] Status open(const SampleMemory& memory) noexcept {
    const auto kind = kind_of(memory);
    if (!kind) return takt::fail(kind.error());
    const auto take = [this](auto opened) noexcept -> Status {
      if (!opened) return takt::fail(opened.error());
      if constexpr (std::is_pointer_v<std::remove_reference_t<decltype(*opened)>>) {
        end.template emplace<Newest>(**opened);
      } else {
        end = std::move(*opened);
      }
      return {};
    };
    const auto& [layout, exchange, owner] = memory;
    if (*kind == shm::Kind::broadcast)
      return take(layout.template producer<shm::BroadcastValue<Sample<T>>>(exchange));
    if (*kind == shm::Kind::broadcast_ring)
      return take(layout.template producer<shm::BroadcastRing<Sample<T>>>(exchange));
    return take(layout.template producer<shm::SpscRing<Sample<T>>>(exchange));
  }
  void resume(const SampleMemory& memory) noexcept override {
    if (end.index() != 0) static_cast<void>(open(memory));
  }

  std::variant<std::monostate, Newest, Circular, Fifo> end;  ///< monostate: only wakes
};

template <class T>
struct SourceOf final : SourceBase {
  using Newest = typename shm::BroadcastValue<Sample<T>>::Reader;
  using Circular = shm::BroadcastReader<Sample<T>>;
  using Fifo = shm::RingConsumer<Sample<T>>;

  explicit SourceOf(std::variant<Newest, Circular, Fifo> reading_end) : end(std::move(reading_end)) {}

  /// Copies the next sample, if there is one that was not read.
  [[nodiscard]] bool read(Sample<T>& sample) noexcept {
    if (auto* newest = std::get_if<Newest>(&end)) return newest->read_new(sample) == shm::Freshness::new_data;
    if (auto* circular = std::get_if<Circular>(&end)) return circular->try_read(sample);
    SampleHead head;
    if (!std::get_if<Fifo>(&end)->try_pop_joined(head, sample.value)) return false;
    sample.stamp = head.stamp;
    sample.sequence = head.sequence;
    return true;
  }
  [[nodiscard]] std::uint32_t position() const noexcept override {
    if (const auto* circular = std::get_if<Circular>(&end)) return circular->position();
    const auto* fifo = std::get_if<Fifo>(&end);
    return fifo != nullptr ? fifo->position() : 0;
  }
  void resume(std::uint32_t position) noexcept override {
    if (auto* circular = std::get_if<Circular>(&end)) circular->set_position(position);
    if (auto* fifo = std::get_if<Fifo>(&end)) fifo->set_position(position);
  }

  std::variant<Newest, Circular, Fifo> end;
};

}  // namespace port_detail

/// A component's output. The component writes; connections decide who reads.
template <shm::Described T>
class OutPort final : public OutPortBase {
  using Newest = shm::BroadcastValue<Sample<T>>;

 public:
  /// Adds the port to the component. Not real-time safe.
  OutPort(Component& component, std::string name)
      : OutPortBase(component, std::move(name), shm::schema_text<T>(), shm::schema_text<Sample<T>>(),
                    shm::declare<Newest>("newest")),
        writer_(**newest().layout.template producer<Newest>("newest")) {}
  ~OutPort() override { cut_all(); }

  /// Gives a copy of `value` to all readers. Returns false if a fifo was full; the sample is lost there.
  bool write(const T& value, Time stamp) noexcept {
    static_assert(offsetof(Sample<T>, value) == sizeof(port_detail::SampleHead));
    const port_detail::SampleHead head{stamp, next_sequence()};
    writer_.write_joined(head, value);
    const auto sinks = sinks_.all();
    return sinks.empty() || write_to(sinks, head, value);
  }

  [[nodiscard]] shm::Declaration declare(Buffering buffering, std::uint32_t capacity) const override {
    switch (buffering) {
      case Buffering::circular:
        return shm::declare<shm::BroadcastRing<Sample<T>>>("samples", capacity);
      case Buffering::fifo:
        return shm::declare<shm::SpscRing<Sample<T>>>("samples", capacity);
      case Buffering::latest:
        break;
    }
    return shm::declare<Newest>("samples");
  }
  [[nodiscard]] Result<std::unique_ptr<port_detail::SinkBase>> make_sink(
      const SampleMemory& memory) const override {
    auto sink = std::make_unique<port_detail::SinkOf<T>>();
    if (const Status opened = sink->open(memory); !opened) return takt::fail(opened.error());
    return Result<std::unique_ptr<port_detail::SinkBase>>(std::move(sink));
  }
  [[nodiscard]] std::unique_ptr<port_detail::SinkBase> make_bell() const override {
    return std::make_unique<port_detail::SinkOf<T>>();
  }

 private:
  [[nodiscard]] bool write_to(std::span<port_detail::SinkBase* const> sinks,
                              const port_detail::SampleHead& head, const T& value) noexcept {
    bool taken = true;
    for (port_detail::SinkBase* sink : sinks) {
      if (!static_cast<port_detail::SinkOf<T>*>(sink)->write(head, value)) {
        taken = false;
        count_refusal();
      }
      if (sink->bell != nullptr) port_detail::ring(*sink->bell);
    }
    return taken;
  }

  void reopen() noexcept override {
    writer_ = typename Newest::Writer(**newest().layout.template producer<Newest>("newest"));
  }

  typename Newest::Writer writer_;
};

/// A component's input.
template <shm::Described T>
class InPort final : public InPortBase {
 public:
  /// Adds the port to the component. Not real-time safe.
  InPort(Component& component, std::string name)
      : InPortBase(component, std::move(name), shm::schema_text<T>(), shm::schema_text<Sample<T>>()) {}
  ~InPort() override { cut_all(); }

  /// Takes the next sample of the first source that has one. A latest connection always has its newest one;
  /// circular and fifo connections give one after the other. Without a new sample the last one stays.
  [[nodiscard]] shm::Freshness read() noexcept {
    return freshness(tap() == nullptr ? read_sources() : tap()->read(*this));
  }

  /// The value that was read last; T{} before the first.
  [[nodiscard]] const T& value() const noexcept { return sample_.value; }
  /// Its stamp, limited to the reach of Time: another process may have written it.
  [[nodiscard]] Time stamp() const noexcept { return within_reach(sample_.stamp); }
  /// Its sequence number; 0 before the first.
  [[nodiscard]] std::uint64_t sequence() const noexcept { return sample_.sequence; }
  /// How old it is.
  [[nodiscard]] Duration age(Time now) const noexcept { return within_reach(now) - stamp(); }

  [[nodiscard]] bool read_sources() noexcept override {
    for (port_detail::SourceBase* source : sources_.all()) {
      if (!static_cast<port_detail::SourceOf<T>*>(source)->read(sample_)) continue;
      count(*source, sample_.sequence);
      return true;
    }
    return false;
  }
  [[nodiscard]] std::span<std::byte> last_sample() noexcept override {
    return std::as_writable_bytes(std::span(&sample_, 1));
  }
  [[nodiscard]] Result<std::unique_ptr<port_detail::SourceBase>> make_source(
      const SampleMemory& memory) const override {
    const auto kind = port_detail::kind_of(memory);
    if (!kind) return takt::fail(kind.error());
    if (*kind == shm::Kind::broadcast) return source_of<shm::BroadcastValue<Sample<T>>>(memory);
    if (*kind == shm::Kind::broadcast_ring) return source_of<shm::BroadcastRing<Sample<T>>>(memory);
    return source_of<shm::SpscRing<Sample<T>>>(memory);
  }

 private:
  template <class X>
  [[nodiscard]] static Result<std::unique_ptr<port_detail::SourceBase>> source_of(
      const SampleMemory& memory) {
    auto end = memory.layout.template consumer<X>(memory.exchange);
    if (!end) return takt::fail(end.error());
    return Result<std::unique_ptr<port_detail::SourceBase>>(
        std::make_unique<port_detail::SourceOf<T>>(std::move(*end)));
  }

  Sample<T> sample_;
};

}  // namespace takt::component
