#include "takt/controllers/filter_chain.hpp"

#include <charconv>
#include <cmath>
#include <numbers>
#include <span>
#include <system_error>

#include "takt/controllers/error.hpp"

namespace takt::controllers {
namespace {

/// The text before the first separator; `rest` loses both.
[[nodiscard]] std::string_view take_until(char separator, std::string_view& rest) noexcept {
  const std::size_t at = rest.find(separator);
  std::string_view word = rest.substr(0, at);
  rest.remove_prefix(at == std::string_view::npos ? rest.size() : at + 1);
  while (word.starts_with(' ')) word.remove_prefix(1);
  while (word.ends_with(' ')) word.remove_suffix(1);
  return word;
}

/// Reads one to two numbers with colons between them. The second one stays if there is none. Returns false
/// for another text.
[[nodiscard]] bool read_two(std::string_view text, double& first, double& second) noexcept {
  std::size_t count = 0;
  for (double* number : {&first, &second}) {
    if (text.empty()) break;
    const std::string_view word = take_until(':', text);
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), *number);
    if (error != std::errc() || end != word.data() + word.size()) return false;
    ++count;
  }
  return count > 0 && text.empty();
}

}  // namespace

Result<TextFilters::Filter> TextFilters::read_one(std::string_view text, double period) noexcept {
  const auto as_filter = [](const auto& made) noexcept -> Result<Filter> {
    if (!made) return takt::fail(made.error());
    return Filter(*made);
  };
  const std::string_view kind = take_until(':', text);
  double number = 0;
  double quality = std::numbers::sqrt2 / 2;
  const bool has_quality = text.find(':') != std::string_view::npos;
  if (!read_two(text, number, quality)) return takt::fail(Errc::bad_filters);
  const control::Biquad::Design design{number, quality, period};
  if (kind == "low_pass2") return as_filter(control::Biquad::low_pass(design));
  if (kind == "high_pass") return as_filter(control::Biquad::high_pass(design));
  if (kind == "band_pass") return as_filter(control::Biquad::band_pass(design));
  if (kind == "notch") return as_filter(control::Biquad::notch(design));
  if (has_quality) return takt::fail(Errc::bad_filters);
  if (kind == "low_pass") return as_filter(control::LowPass::from_cutoff(number, period));
  if (kind == "rate") {
    return as_filter(control::RateLimiter::make({.forward_acceleration = number,
                                                 .forward_braking = number,
                                                 .reverse_acceleration = number,
                                                 .reverse_braking = number}));
  }
  return takt::fail(Errc::bad_filters);
}

Result<TextFilters> TextFilters::read(std::string_view text, double period) noexcept {
  TextFilters chain;
  chain.period_ = period;
  while (!text.empty()) {
    const auto filter = read_one(take_until(',', text), period);
    if (!filter) return takt::fail(filter.error());
    if (chain.count_ == most) return takt::fail(Errc::bad_filters);
    chain.filters_[chain.count_++] = *filter;
  }
  return chain;
}

control::Step TextFilters::step(double sample) noexcept {
  if (!std::isfinite(sample)) return {value_, control::Errc::not_finite};
  for (Filter& filter : std::span(filters_).first(count_)) {
    control::Step step;
    if (auto* limiter = std::get_if<control::RateLimiter>(&filter)) {
      if (!started_) limiter->reset(sample);
      step = limiter->step(sample, period_);
    } else if (auto* low_pass = std::get_if<control::LowPass>(&filter)) {
      if (!started_) low_pass->reset();
      step = low_pass->step(sample);
    } else if (auto* biquad = std::get_if<control::Biquad>(&filter)) {
      if (!started_) biquad->reset();
      step = biquad->step(sample);
    }
    if (!step.ok()) return {value_, step.error};
    sample = step.value;
  }
  started_ = true;
  value_ = sample;
  return {value_, {}};
}

}  // namespace takt::controllers
