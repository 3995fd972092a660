#include <zstd.h>

#include <cstddef>

#include "takt/record/zstd.hpp"

namespace takt::record {
namespace {

class Zstd final : public Compression {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "zstd"; }

  [[nodiscard]] bool compress(std::span<const std::uint8_t> bytes,
                              std::vector<std::uint8_t>& packed) override {
    constexpr int level = -3;  // twice as fast as 1, for a sixth more bytes
    packed.resize(ZSTD_compressBound(bytes.size()));
    const std::size_t size =
        ZSTD_compressCCtx(compressor_.get(), packed.data(), packed.size(), bytes.data(), bytes.size(), level);
    if (ZSTD_isError(size) != 0) return false;
    packed.resize(size);
    return true;
  }

  [[nodiscard]] bool decompress(std::span<const std::uint8_t> packed,
                                std::span<std::uint8_t> bytes) override {
    const std::size_t size =
        ZSTD_decompressDCtx(decompressor_.get(), bytes.data(), bytes.size(), packed.data(), packed.size());
    return ZSTD_isError(size) == 0 && size == bytes.size();
  }

 private:
  struct Free {
    void operator()(ZSTD_CCtx* context) const noexcept { ZSTD_freeCCtx(context); }
    void operator()(ZSTD_DCtx* context) const noexcept { ZSTD_freeDCtx(context); }
  };

  std::unique_ptr<ZSTD_CCtx, Free> compressor_{ZSTD_createCCtx()};
  std::unique_ptr<ZSTD_DCtx, Free> decompressor_{ZSTD_createDCtx()};
};

}  // namespace

std::unique_ptr<Compression> make_zstd() { return std::make_unique<Zstd>(); }

}  // namespace takt::record
