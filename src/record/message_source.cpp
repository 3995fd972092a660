#include "record/message_source.hpp"

#include <algorithm>
#include <utility>

#include "record/bag_reader.hpp"
#include "record/mcap_reader.hpp"

namespace takt::record {

SetupResult<const FileMessage*> MessageSource::next() {
  if (failure_) return tl::unexpected<SetupError>(*failure_);
  while (!at_end_) {
    const bool is_in_chunk = in_chunk_ < chunk_.size();
    auto found = is_in_chunk ? next_in_chunk() : next_record();
    if (!found) {
      if (!is_loss(found.error().error)) return fail_with(std::move(found.error()));
      is_in_chunk ? lose_chunk(std::move(found.error())) : lose_rest(std::move(found.error()));
    } else if (*found == Found::message) {
      has_messages_ = true;
      ++messages_in_chunk_;
      return &message_;
    } else if (*found == Found::end) {
      at_end_ = true;
    }
  }
  if (!has_messages_ && !lost_.empty()) return fail_with(lost_.front().reason);
  return nullptr;
}

/// Whether the other parts of the file can be read in spite of this error.
bool MessageSource::is_loss(const Error& error) noexcept {
  return error != Error(Errc::read_failed) && error != Error(Errc::data_after_end);
}

tl::unexpected<SetupError> MessageSource::fail_with(SetupError reason) {
  failure_ = std::move(reason);
  return tl::unexpected<SetupError>(*failure_);
}

void MessageSource::begin_chunk() noexcept {
  ++chunks_;
  messages_in_chunk_ = 0;
  chunk_times_.reset();
}

void MessageSource::lose_chunk(SetupError reason) {
  chunk_.clear();
  in_chunk_ = 0;
  if (lost_.size() == max_lost) return;
  LostPart& part = lost_.emplace_back(LostPart{std::move(reason), record_size_, chunks_});
  if (!chunk_times_) return;
  part.from = chunk_times_->first;
  part.until = chunk_times_->second;
}

void MessageSource::lose(SetupError reason) {
  if (lost_.size() < max_lost) lost_.push_back({std::move(reason), record_size_});
}

/// Without the size of a record, nobody knows where the next one begins.
void MessageSource::lose_rest(SetupError reason) {
  lose(std::move(reason));
  at_end_ = true;
}

void MessageSource::count_lost(std::uint64_t messages) {
  if (!is_chunk_lost()) return;
  const std::uint64_t given = std::min(messages, messages_in_chunk_);
  messages_in_chunk_ -= given;
  lost_.back().messages = lost_.back().messages.value_or(0) + messages - given;
}

SetupResult<void> MessageSource::keep(std::size_t size) {
  kept_ += size;
  if (kept_ > max_file_record) return damage(Errc::record_too_long, "all definitions and metadata together");
  return {};
}

namespace {
constexpr std::string_view from_database = "it is a database; ros2 bag convert makes an MCAP file of it";
}

SetupResult<std::unique_ptr<MessageSource>> open_messages(std::unique_ptr<ByteSource> bytes, std::string name,
                                                          const std::vector<Compression*>& compressions) {
  FilePieces file(std::move(bytes), std::move(name));
  const auto begins_with = [&file](std::string_view text) {
    return as_text(file.piece()) == text.substr(0, file.piece().size());
  };
  auto whole = file.read(mcap_magic.size());
  if (!whole) return tl::unexpected<SetupError>(std::move(whole.error()));
  if (*whole && begins_with(as_text(mcap_magic)))
    return std::make_unique<McapReader>(std::move(file), compressions);
  if (!*whole || !begins_with(bag_magic))
    return file.damage(0, Errc::not_a_recording,
                       *whole && begins_with("SQLite format 3") ? from_database : "");
  whole = file.read(bag_magic.size() - mcap_magic.size());
  if (!whole) return tl::unexpected<SetupError>(std::move(whole.error()));
  if (!*whole || as_text(file.piece()) != bag_magic.substr(mcap_magic.size()))
    return file.damage(0, Errc::not_a_recording, "a ROS bag of another version than 2.0");
  return std::make_unique<BagReader>(std::move(file));
}

}  // namespace takt::record
