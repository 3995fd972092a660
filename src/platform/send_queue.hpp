// The frames that wait for one client. A slow client loses its oldest samples.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <utility>

namespace takt::platform {

/// Frames in the order in which they are sent.
class SendQueue {
 public:
  SendQueue(std::size_t max_samples, std::size_t max_bytes)
      : max_samples_(max_samples), max_bytes_(max_bytes) {}

  /// Appends a frame; drops the oldest samples to make room. Returns false without effect if all others leave
  /// no room.
  [[nodiscard]] bool push(std::string bytes, bool is_sample) {
    if (is_sample && samples_ == max_samples_) static_cast<void>(drop_sample());
    while (bytes_ + bytes.size() > max_bytes_) {
      if (!drop_sample()) return false;
    }
    bytes_ += bytes.size();
    samples_ += is_sample ? 1U : 0U;
    frames_.push_back({std::move(bytes), is_sample});
    return true;
  }
  /// The bytes to send next; empty: none. They are the rest of one frame.
  [[nodiscard]] std::string_view front() const {
    return frames_.empty() ? std::string_view() : std::string_view(frames_.front().bytes).substr(sent_);
  }
  /// The first `count` bytes of front() are sent.
  void sent(std::size_t count) {
    sent_ += count;
    if (sent_ < frames_.front().bytes.size()) return;
    remove(frames_.begin());
    sent_ = 0;
  }
  /// Samples that were dropped so far.
  [[nodiscard]] std::size_t dropped() const noexcept { return dropped_; }

 private:
  struct Frame {
    std::string bytes;
    bool is_sample = false;
  };

  void remove(const std::deque<Frame>::iterator& frame) {
    bytes_ -= frame->bytes.size();
    samples_ -= frame->is_sample ? 1U : 0U;
    frames_.erase(frame);
  }
  /// Drops the oldest sample, but never a frame that is sent in part.
  bool drop_sample() {
    for (auto frame = frames_.begin() + (sent_ > 0 ? 1 : 0); frame < frames_.end(); ++frame) {
      if (!frame->is_sample) continue;
      remove(frame);
      ++dropped_;
      return true;
    }
    return false;
  }

  std::size_t max_samples_;
  std::size_t max_bytes_;
  std::deque<Frame> frames_;
  std::size_t sent_ = 0;  ///< bytes of the first frame
  std::size_t bytes_ = 0;
  std::size_t samples_ = 0;
  std::size_t dropped_ = 0;
};

}  // namespace takt::platform
