#include "record/message_source.hpp"

#include <algorithm>
#include <utility>

#include "record/bag_reader.hpp"
#include "record/mcap_reader.hpp"

namespace takt::record {

SetupResult<const FileMessage*> MessageSource::next() {
  if (failure_) return tl::unexpected<SetupError>(*failure_);
  while (!at_end_) {
    auto found = in_chunk_ < chunk_.size() ? next_in_chunk() : next_record();
    if (!found) {
      failure_ = found.error();
      return tl::unexpected<SetupError>(std::move(found.error()));
    }
    if (*found == Found::message) return &message_;
    if (*found == Found::end) at_end_ = true;
  }
  return nullptr;
}

SetupResult<void> MessageSource::keep(std::size_t size) {
  kept_ += size;
  if (kept_ > max_file_record) return damage(Errc::record_too_long, "all definitions and metadata together");
  return {};
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
  if (!*whole || !begins_with(bag_magic)) return file.damage(0, Errc::not_a_recording, {});
  whole = file.read(bag_magic.size() - mcap_magic.size());
  if (!whole) return tl::unexpected<SetupError>(std::move(whole.error()));
  if (!*whole || as_text(file.piece()) != bag_magic.substr(mcap_magic.size()))
    return file.damage(0, Errc::not_a_recording, "a ROS bag of another version than 2.0");
  return std::make_unique<BagReader>(std::move(file));
}

}  // namespace takt::record
