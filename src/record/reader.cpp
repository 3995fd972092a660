#include "takt/record/reader.hpp"

#include <fmt/format.h>

#include <charconv>
#include <functional>
#include <memory>
#include <utility>

#include "record/foreign_messages.hpp"
#include "record/message_source.hpp"
#include "record/own_messages.hpp"
#include "record/recording_messages.hpp"
#include "takt/record/byte_source.hpp"

namespace takt::record {
namespace {

/// Opens the same bytes anew.
using OpenMessages = std::function<SetupResult<std::unique_ptr<MessageSource>>()>;

std::optional<std::uint64_t> number_in(const std::map<std::string, std::string>& entries, const char* name) {
  const auto found = entries.find(name);
  std::uint64_t number = 0;
  if (found == entries.end()) return std::nullopt;
  const char* end = found->second.data() + found->second.size();
  const auto [stop, error] = std::from_chars(found->second.data(), end, number);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return number;
}

}  // namespace

/// A file that is read as records.
class Reader::Messages {
 public:
  static SetupResult<Reader> create(const OpenMessages& open, const ReaderOptions& options);

  SetupResult<const Record*> next() {
    if (failure_) return tl::unexpected<SetupError>(*failure_);
    while (true) {
      auto message = is_first_taken_ ? source_->next() : SetupResult<const FileMessage*>(first_);
      is_first_taken_ = true;
      if (message && *message == nullptr) return nullptr;
      auto record = message ? take(**message) : tl::unexpected<SetupError>(std::move(message.error()));
      if (!record) failure_ = record.error();
      if (!record || *record != nullptr) return record;
    }
  }

  Metadata metadata;
  std::unique_ptr<MessageSource> source_;
  const FileMessage* first_ = nullptr;  ///< which was read to find the metadata
  bool is_first_taken_ = true;
  std::string topic_;
  std::optional<OwnMessages> own_;
  std::optional<ForeignMessages> foreign_;
  std::optional<SetupError> failure_;

  explicit Messages(std::unique_ptr<MessageSource> source) : source_(std::move(source)) {}

 private:
  SetupResult<const Record*> take(const FileMessage& message) {
    return own_ ? own_->take(*source_, message) : foreign_->take(*source_, message);
  }
  SetupResult<bool> begin_own();
  SetupResult<void> begin_foreign(const OpenMessages& open, const ReaderOptions& options);
};

SetupResult<Reader> Reader::Messages::create(const OpenMessages& open, const ReaderOptions& options) {
  auto source = open();
  if (!source) return tl::unexpected<SetupError>(std::move(source.error()));
  auto messages = std::make_unique<Messages>(std::move(*source));
  const auto is_own = messages->begin_own();
  if (!is_own) return tl::unexpected<SetupError>(is_own.error());
  if (!*is_own) {
    if (auto begun = messages->begin_foreign(open, options); !begun)
      return tl::unexpected<SetupError>(std::move(begun.error()));
  }
  return Reader(std::move(messages));
}

/// Reads up to the first message, before which takt writes its metadata. Returns false if there is none.
SetupResult<bool> Reader::Messages::begin_own() {
  const auto first = source_->next();
  const auto found = source_->metadata().find(recording_metadata);
  if (found == source_->metadata().end()) {
    if (!first) return tl::unexpected<SetupError>(first.error());
    return false;
  }
  const auto text = found->second.find("recording");
  auto parsed = parse_metadata(text == found->second.end() ? "" : text->second);
  if (!parsed) return source_->damage(static_cast<Errc>(parsed.error().error.code), parsed.error().message);
  metadata = std::move(*parsed);
  if (const auto entry = found->second.find("description"); entry != found->second.end())
    metadata.description = entry->second;
  if (const auto entry = found->second.find("devices"); entry != found->second.end())
    metadata.devices = entry->second;
  own_.emplace(metadata);
  first_ = first ? *first : nullptr;
  is_first_taken_ = !first || first_ == nullptr;
  return true;
}

SetupResult<void> Reader::Messages::begin_foreign(const OpenMessages& open, const ReaderOptions& options) {
  auto whole = open();
  ForeignOutline outline(options.topic);
  while (whole) {
    const auto message = (*whole)->next();
    if (!message) return tl::unexpected<SetupError>(message.error());
    if (*message == nullptr) break;
    outline.take(**whole, **message);
  }
  if (!whole) return tl::unexpected<SetupError>(std::move(whole.error()));
  auto again = open();
  if (!again) return tl::unexpected<SetupError>(std::move(again.error()));
  auto found = outline.metadata(**whole);
  if (!found) return tl::unexpected<SetupError>(std::move(found.error()));
  metadata = std::move(*found);
  topic_ = outline.topic();
  source_ = std::move(*again);
  is_first_taken_ = true;
  foreign_.emplace(metadata, topic_);
  return {};
}

Reader::Reader(std::unique_ptr<Messages> messages) noexcept : messages_(std::move(messages)) {}
Reader::~Reader() = default;
Reader::Reader(Reader&&) noexcept = default;
Reader& Reader::operator=(Reader&&) noexcept = default;

SetupResult<Reader> Reader::open(const std::string& path, const ReaderOptions& options) {
  return Messages::create(
      [&]() -> SetupResult<std::unique_ptr<MessageSource>> {
        auto bytes = open_file(path);
        if (!bytes) return tl::unexpected<SetupError>(std::move(bytes.error()));
        return open_messages(std::move(*bytes), path + ": ", options.compressions);
      },
      options);
}

SetupResult<Reader> Reader::from_bytes(std::span<const std::uint8_t> bytes, const ReaderOptions& options) {
  return Messages::create([&] { return open_messages(read_memory(bytes), "", options.compressions); },
                          options);
}

const Metadata& Reader::metadata() const noexcept { return messages_->metadata; }
bool Reader::is_own() const noexcept { return messages_->own_.has_value(); }
SetupResult<const Record*> Reader::next() { return messages_->next(); }
bool Reader::truncated() const noexcept { return messages_->source_->truncated(); }
std::uint64_t Reader::position() const noexcept { return messages_->source_->position(); }
std::uint64_t Reader::left_out() const noexcept {
  return messages_->foreign_ ? messages_->foreign_->left_out() : 0;
}

std::optional<EndTotals> Reader::totals() const {
  const auto& metadata = messages_->source_->metadata();
  const auto found = metadata.find(totals_metadata);
  if (found == metadata.end()) return std::nullopt;
  const auto records = number_in(found->second, "records");
  const auto dropped = number_in(found->second, "dropped");
  if (!records || !dropped) return std::nullopt;
  return EndTotals{*records, *dropped};
}

}  // namespace takt::record
