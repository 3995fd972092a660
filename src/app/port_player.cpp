#include "app/port_player.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <set>
#include <utility>
#include <variant>

#include "record/cdr.hpp"
#include "takt/component/connection.hpp"
#include "takt/component/error.hpp"
#include "takt/shm/schema.hpp"

namespace takt::app {
namespace {

constexpr std::string_view ports_prefix = "/ports/";
constexpr std::size_t max_ports = 256;  ///< of a component: a file from outside could have any number

/// " motor.joint log.speed".
std::string text_of(const std::set<std::string>& topics) {
  std::string text;
  for (const std::string& topic : topics) {
    if (text.size() > 500) return text + " ...";
    text += " " + topic.substr(ports_prefix.size());
  }
  return text.empty() ? " none" : text;
}

}  // namespace

SetupResult<record::Reader> PortPlayer::reader() const {
  record::ReaderOptions options;
  if (compression_ != nullptr) options.compressions = {compression_};
  return record::Reader::open_rotated({path_}, options);
}

SetupResult<std::shared_ptr<PortPlayer>> PortPlayer::open(const std::string& name, const std::string& path,
                                                          record::Compression* compression) {
  const auto player = std::shared_ptr<PortPlayer>(new PortPlayer(name, path, compression));
  const std::string prefix = fmt::format("{}{}.", ports_prefix, name);
  auto reader = player->reader();
  if (!reader) return tl::unexpected<SetupError>(std::move(reader.error()));
  player->was_virtual_ = reader->metadata().epoch == Duration(0);
  std::set<std::string> topics;
  for (;;) {
    const auto found = reader->next();
    if (!found) return tl::unexpected<SetupError>(found.error());
    if (*found == nullptr) break;
    const auto* sample = std::get_if<record::SampleRecord>(*found);
    if (sample == nullptr || !sample->topic.starts_with(ports_prefix)) continue;
    if (topics.empty() || sample->time < player->first_) player->first_ = sample->time;
    if (!topics.emplace(sample->topic).second || !sample->topic.starts_with(prefix)) continue;
    if (auto added = player->add_port(*sample, prefix); !added)
      return tl::unexpected<SetupError>(std::move(added.error()));
  }
  if (!player->ports_.empty()) return player;
  return fail(component::Errc::no_such_port,
              fmt::format("{}: the recording has no port of \"{}\"; it has:{}", path, name, text_of(topics)));
}

SetupResult<void> PortPlayer::add_port(const record::SampleRecord& sample, std::string_view prefix) {
  const std::string name(sample.topic.substr(prefix.size()));
  if (ports_.size() == max_ports)
    return fail(component::Errc::no_such_port,
                fmt::format("{}: \"{}\" has more than {} ports", path_, this->name(), max_ports));
  if (!component::is_valid_name(name))
    return fail(component::Errc::no_such_port,
                fmt::format("{}: the name of a port of \"{}\" is no name", path_, this->name()));
  auto out = component::OpaqueOutPort::create(*this, name, sample.schema);
  if (!out)
    return fail(out.error().error, fmt::format("{}: {}: {}", path_, sample.topic, out.error().message));
  ports_.push_back(
      {std::string(sample.topic), record::MessageForm(sample.schema, sample.type), std::move(*out)});
  return {};
}

PortPlayer::Port* PortPlayer::find_port_of(std::string_view topic) noexcept {
  const auto found = std::ranges::find_if(ports_, [&](const Port& port) { return port.topic == topic; });
  return found == ports_.end() ? nullptr : &*found;
}

SetupResult<void> PortPlayer::begin(bool reads_itself) {
  auto opened = reader();
  if (!opened) return tl::unexpected<SetupError>(std::move(opened.error()));
  reader_.emplace(std::move(*opened));
  reads_itself_ = reads_itself;
  has_begun_ = true;
  fill();
  if (reads_itself) return {};
  thread_ = std::thread([this] {
    std::unique_lock lock(mutex_);
    while (!stop_) {
      lock.unlock();
      fill();
      lock.lock();
      wake_.wait_for(lock, std::chrono::milliseconds(10), [this] { return stop_; });
    }
  });
  return {};
}

std::string PortPlayer::finish() {
  {
    const std::scoped_lock lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
  if (!std::exchange(has_begun_, false)) return {};
  return fmt::format("played {} values of {}, {} cycles late{}", played_, path_, late_,
                     failure_.empty() ? "" : "; " + failure_);
}

void PortPlayer::fill() {
  while (!at_end_.load(std::memory_order_relaxed)) {  // relaxed: only this side writes it
    if (waiting_ != nullptr && !put_read_value()) return;
    const auto found = reader_->next();
    if (!found) failure_ = found.error().message;
    if (!found || *found == nullptr) {
      // release: a cycle that sees the end sees all values in the ring.
      at_end_.store(true, std::memory_order_release);
      return;
    }
    const auto* sample = std::get_if<record::SampleRecord>(*found);
    const Port* port = sample != nullptr ? find_port_of(sample->topic) : nullptr;
    if (port == nullptr) continue;
    value_.assign(port->form.size(), 0);
    record::CdrReader message(sample->message);
    if (!port->form.read(message, value_)) continue;
    waiting_ = port;
    waiting_stamp_ = sample->time;
  }
}

/// Returns false if the ring has no room.
bool PortPlayer::put_read_value() {
  const auto piece = ring_.producer().try_reserve(sizeof(Head) + value_.size());
  if (!piece) return false;
  const Head head{static_cast<std::uint64_t>(waiting_ - ports_.data()), waiting_stamp_};
  std::memcpy(piece->data(), &head, sizeof(head));
  std::memcpy(piece->data() + sizeof(head), value_.data(), value_.size());
  ring_.producer().commit(piece->size());
  waiting_ = nullptr;
  return true;
}

Status PortPlayer::on_execute(const component::CycleTime& cycle) noexcept {
  if (!ahead_)
    ahead_ = reads_itself_ && was_virtual_ ? Duration(0) : cycle.time - first_;
  else if (pauses_)
    *ahead_ += cycle.time - last_cycle_ - cycle.period;
  pauses_ = false;
  last_cycle_ = cycle.time;
  if (reads_itself_) fill();
  // acquire: pairs with fill().
  const bool at_end = at_end_.load(std::memory_order_acquire);
  for (std::uint32_t left = component::max_samples; left > 0; --left) {
    const auto piece = ring_.consumer().peek();
    if (!piece) {
      if (!at_end) ++late_;
      return {};
    }
    Head head;
    std::memcpy(&head, piece->data(), sizeof(head));
    const Time stamp = head.stamp + *ahead_;
    if (stamp > cycle.time) return {};
    static_cast<void>(ports_[head.port].out->write(piece->data() + sizeof(head), stamp));
    ring_.consumer().release();
    ++played_;
    if (reads_itself_) fill();
  }
  return {};
}

}  // namespace takt::app
