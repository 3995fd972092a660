#include "takt/platform/owner_slot.hpp"

#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <string_view>
#include <utility>

#include "platform/descriptor.hpp"
#include "platform/identity.hpp"
#include "platform/lock_file.hpp"
#include "platform/mapping.hpp"

namespace takt::platform {

namespace detail {

std::uint64_t random_number() noexcept {
  std::uint64_t number = 0;
  // getrandom() returns up to 256 bytes completely. After boot it waits until the system has enough entropy.
  while (::getrandom(&number, sizeof number, 0) < 0 && errno == EINTR) {
  }
  return number;
}

/// The 22nd word of /proc/self/stat. Counting starts after the program's name, which may contain any
/// character.
std::uint64_t start_time() noexcept {
  std::array<char, 1024> text{};
  const Descriptor file(::open("/proc/self/stat", O_RDONLY | O_CLOEXEC));
  const ssize_t length = ::read(file.get(), text.data(), text.size());
  if (length <= 0) return 0;
  std::string_view rest(text.data(), static_cast<std::size_t>(length));
  rest.remove_prefix(rest.rfind(')') + 1);
  for (int word = 2; word < 22 && !rest.empty(); ++word) {
    rest.remove_prefix(std::min(rest.find(' ', 1), rest.size()));
  }
  std::uint64_t time = 0;
  if (!rest.empty()) std::from_chars(rest.data() + 1, rest.data() + rest.size(), time);
  return time;
}

SlotOwner read_owner(const shm::OwnerSlotRecord& record) noexcept {
  // relaxed: for people and messages, which tolerate a record that mixes old and new data. No other data
  // depends on it.
  const auto both = [](const shm::OwnerSlotRecord::Word(&words)[2]) {
    return words[0].load(std::memory_order_relaxed) | std::uint64_t{words[1].load(std::memory_order_relaxed)}
                                                          << 32;
  };
  return {record.pid.load(std::memory_order_relaxed), both(record.start_time), both(record.epoch)};
}

void write_owner(shm::OwnerSlotRecord& record, const SlotOwner& owner) noexcept {
  // relaxed: as in read_owner().
  const auto put = [](shm::OwnerSlotRecord::Word(&words)[2], std::uint64_t value) {
    words[0].store(static_cast<std::uint32_t>(value), std::memory_order_relaxed);
    words[1].store(static_cast<std::uint32_t>(value >> 32), std::memory_order_relaxed);
  };
  put(record.start_time, owner.start_time);
  put(record.epoch, owner.epoch);
  record.pid.store(owner.pid, std::memory_order_relaxed);
}

std::uint32_t milliseconds(Time time) noexcept {
  return static_cast<std::uint32_t>(to_nanoseconds(time) / 1'000'000);
}

}  // namespace detail

OwnerSlot::OwnerSlot(std::shared_ptr<detail::Mapping> mapping, std::unique_ptr<detail::LockFile> lock,
                     const shm::Layout& layout, std::uint32_t number)
    : mapping_(std::move(mapping)),
      lock_(std::move(lock)),
      record_(&layout.owner_slot(number)),
      number_(number) {
  if (!lock_) return;
  const SlotOwner last = detail::read_owner(*record_);
  if (last.pid != 0) {
    predecessor_ = last;
    // relaxed: for people. Only the holder of the lock writes it, so no other write can race.
    record_->takeovers.store(record_->takeovers.load(std::memory_order_relaxed) + 1,
                             std::memory_order_relaxed);
  }
  owner_ = {static_cast<std::uint32_t>(::getpid()), detail::start_time(), detail::random_number()};
  record_->heartbeat.store(0, std::memory_order_relaxed);
  detail::write_owner(*record_, owner_);
}

OwnerSlot::OwnerSlot() noexcept = default;
OwnerSlot::OwnerSlot(OwnerSlot&& other) noexcept = default;

OwnerSlot& OwnerSlot::operator=(OwnerSlot&& other) noexcept {
  std::swap(mapping_, other.mapping_);
  std::swap(lock_, other.lock_);
  std::swap(record_, other.record_);
  std::swap(number_, other.number_);
  std::swap(owner_, other.owner_);
  std::swap(predecessor_, other.predecessor_);
  return *this;
}

OwnerSlot::~OwnerSlot() { give_back(); }

void OwnerSlot::give_back() noexcept {
  if (!is_taken()) return;
  // Clear the record first, while the lock keeps other writers away.
  detail::write_owner(*record_, {});
  lock_->give_back(detail::owner_slot_byte(number_));
  lock_.reset();
}

bool OwnerSlot::is_taken() const noexcept { return lock_ && lock_->is_open(); }

void OwnerSlot::beat(Time now) noexcept {
  if (!is_taken()) return;
  const std::uint32_t time = detail::milliseconds(now);
  // relaxed: a heartbeat; no other data depends on it. 0 would mean never.
  record_->heartbeat.store(time == 0 ? 1 : time, std::memory_order_relaxed);
}

}  // namespace takt::platform
