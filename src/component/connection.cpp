#include "takt/component/connection.hpp"

#include <cstring>
#include <mutex>
#include <utility>

#include "component/link.hpp"

namespace takt::component {
namespace {

/// Heap memory with the alignment of a segment.
struct alignas(shm::interference_size) Block {
  std::byte bytes[shm::interference_size];
};

SampleMemory heap_memory(const shm::Declaration& declaration) {
  const std::uint64_t bytes = *shm::Layout::bytes({&declaration, 1});
  const auto blocks = static_cast<std::size_t>((bytes + sizeof(Block) - 1) / sizeof(Block));
  auto owner = std::shared_ptr<Block[]>(new Block[blocks]);
  const std::span<std::byte> memory(owner[0].bytes, blocks * sizeof(Block));
  return {*shm::Layout::write(memory, {&declaration, 1}, 1), std::string(declaration.name), std::move(owner)};
}

}  // namespace

namespace port_detail {

void ring(Wake& bell) noexcept { bell.ring(); }

void ReaderBell::ring() noexcept {
  if (const ExecutionContext* context = reader->context()) context->wake();
}

std::mutex& connections_lock() {
  static std::mutex lock;
  return lock;
}

}  // namespace port_detail

using port_detail::connections_lock;
using port_detail::Link;

// ---- ports ----

std::string_view to_string(Buffering buffering) noexcept {
  switch (buffering) {
    case Buffering::latest:
      return "latest";
    case Buffering::circular:
      return "circular";
    case Buffering::fifo:
      return "fifo";
  }
  return "unknown";
}

Port::Port(Component& component, std::string name, std::string_view schema, std::string_view sample_schema)
    : component_(&component), name_(std::move(name)), schema_(schema), sample_schema_(sample_schema) {
  component.ports_.push_back(this);
}

std::string Port::full_name() const { return component_->name() + "." + name_; }

void Port::cut_all() noexcept {
  const std::scoped_lock lock(connections_lock());
  while (!links_.empty()) {
    const std::shared_ptr<Link> link = links_.back();
    if (link->detach(default_patience)) continue;
    // The other end's context is stuck. Its memory must stay, so it is never freed.
    link->forget();
    link->itself = link;
  }
  std::erase(component_->ports_, this);
}

OutPortBase::OutPortBase(Component& component, std::string name, std::string_view schema,
                         std::string_view sample_schema, const shm::Declaration& newest)
    : Port(component, std::move(name), schema, sample_schema), newest_(heap_memory(newest)) {}

void OutPortBase::take_over(OutPortBase& old) noexcept {
  std::swap(newest_, old.newest_);
  // relaxed: only the thread that runs both components writes the counts.
  sequence_.store(old.written(), std::memory_order_relaxed);
  refused_.store(old.refused(), std::memory_order_relaxed);
  reopen();
  old.reopen();
}

void InPortBase::take_over(InPortBase& old) noexcept {
  const std::span<std::byte> sample = last_sample();
  std::memcpy(sample.data(), old.last_sample().data(), sample.size());
  has_value_ = old.has_value_;
  std::swap(tap_, old.tap_);
  // relaxed: as above.
  missed_.store(old.missed(), std::memory_order_relaxed);
  read_.store(old.samples_read(), std::memory_order_relaxed);
}

// ---- connections ----

namespace {

tl::unexpected<SetupError> refuse_types(const OutPortBase& from, const InPortBase& to) {
  return takt::fail(Errc::wrong_type, from.full_name() + " cannot feed " + to.full_name() + ": it has \"" +
                                          std::string(from.schema()) + "\", and the reader wants \"" +
                                          std::string(to.schema()) + "\"");
}

/// The buffering of an exchange that other processes use, too.
Buffering buffering_of(const SampleMemory& memory) noexcept {
  const auto kind = port_detail::kind_of(memory);
  if (kind && *kind == shm::Kind::broadcast_ring) return Buffering::circular;
  return kind && *kind == shm::Kind::ring ? Buffering::fifo : Buffering::latest;
}

tl::unexpected<SetupError> refuse_memory(const Port& port, const SampleMemory& memory, Error error) {
  std::string found = "no exchange of samples";
  if (const auto exchange = memory.layout.find(memory.exchange)) {
    std::array<char, shm::max_schema> text;
    const auto schema = memory.layout.schema(**exchange, text);
    found = "a " + std::string(shm::kind_name((*exchange)->kind)) + " of \"" +
            std::string(schema ? *schema : "?") + "\"";
  }
  return takt::fail(error == shm::Errc::read_only ? error : Error(Errc::wrong_type),
                    port.full_name() + " cannot use exchange \"" + memory.exchange + "\": there is " + found +
                        ", and the port needs samples \"" + std::string(port.sample_schema()) + "\"");
}

}  // namespace

Connection::Connection(std::shared_ptr<Link> link) noexcept : link_(std::move(link)) {}

Connection& Connection::operator=(Connection&& other) noexcept {
  Connection old(std::move(*this));
  link_ = std::move(other.link_);
  return *this;
}

// If a context is stuck, the ports keep the connection until they end.
Connection::~Connection() { static_cast<void>(cut()); }

Status Connection::cut(Duration patience) {
  if (!link_) return {};
  const std::scoped_lock lock(connections_lock());
  if (const Status status = link_->detach(patience); !status) return status;
  link_.reset();
  return {};
}

bool Connection::is_connected() const noexcept { return link_ && (link_->reads || link_->writes); }

SetupResult<Connection> connect(OutPortBase& from, InPortBase& to, const ConnectionOptions& options,
                                Duration patience) {
  if (from.schema() != to.schema()) return refuse_types(from, to);
  if (options.capacity < 1 || options.capacity > max_samples) {
    return takt::fail(Errc::bad_value, from.full_name() + " -> " + to.full_name() + ": a capacity of " +
                                           std::to_string(options.capacity) + " samples; allowed are 1 to " +
                                           std::to_string(max_samples));
  }
  auto link = std::make_shared<Link>();
  link->from = &from;
  link->to = &to;
  link->options = options;
  if (options.buffering == Buffering::latest) {
    link->memory = from.newest();
    if (options.wakes) link->sink = from.make_bell();
  } else {
    const shm::Declaration wanted = from.declare(options.buffering, options.capacity);
    link->memory = heap_memory(wanted);
    auto sink = from.make_sink(link->memory);
    if (!sink) return refuse_memory(from, link->memory, sink.error());
    link->sink = std::move(*sink);
  }
  auto source = to.make_source(link->memory);
  if (!source) return refuse_memory(to, link->memory, source.error());
  link->source = std::move(*source);
  link->source->order = options.order;
  if (options.wakes) {
    link->reader_bell.reader = &to.component();
    link->sink->bell = &link->reader_bell;
  }
  return Link::establish(link, patience);
}

SetupResult<Connection> connect(OutPortBase& from, SampleMemory to, std::shared_ptr<Wake> bell,
                                Duration patience) {
  auto link = std::make_shared<Link>();
  link->from = &from;
  link->is_shared = true;
  link->options.buffering = buffering_of(to);
  link->options.wakes = bell != nullptr;
  link->memory = std::move(to);
  auto sink = from.make_sink(link->memory);
  if (!sink) return refuse_memory(from, link->memory, sink.error());
  link->sink = std::move(*sink);
  link->bell = std::move(bell);
  link->sink->bell = link->bell.get();
  return Link::establish(link, patience);
}

SetupResult<Connection> connect(SampleMemory from, InPortBase& to, int order, Duration patience) {
  auto link = std::make_shared<Link>();
  link->to = &to;
  link->is_shared = true;
  link->options = {.buffering = buffering_of(from), .order = order};
  link->memory = std::move(from);
  auto source = to.make_source(link->memory);
  if (!source) return refuse_memory(to, link->memory, source.error());
  link->source = std::move(*source);
  link->source->order = order;
  return Link::establish(link, patience);
}

std::vector<ConnectionInfo> connections_of(const Port& port) {
  const std::scoped_lock lock(connections_lock());
  std::vector<ConnectionInfo> list;
  for (const auto& link : Link::links_of(port)) {
    list.push_back({link->from != nullptr ? link->from->full_name() : "",
                    link->to != nullptr ? link->to->full_name() : "",
                    link->is_shared ? link->memory.exchange : "", link->options});
  }
  return list;
}

}  // namespace takt::component
