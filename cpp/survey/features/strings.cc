#include "survey/features/strings.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>

#include "base/utf8.h"

namespace recordsmith::survey {
namespace {

bool is_space(std::uint8_t byte) { return byte == ' ' || (byte >= '\t' && byte <= '\r'); }

// The white space of Unicode beyond ASCII, as it is written in UTF-8.
bool is_wide_space(const std::uint8_t* at, std::size_t size) {
  if (size >= 2 && at[0] == 0xc2) return at[1] == 0x85 || at[1] == 0xa0;
  if (size < 3) return false;
  if (at[0] == 0xe1) return at[1] == 0x9a && at[2] == 0x80;
  if (at[0] == 0xe3) return at[1] == 0x80 && at[2] == 0x80;
  if (at[0] != 0xe2) return false;
  if (at[1] == 0x80) return at[2] <= 0x8a || at[2] == 0xa8 || at[2] == 0xa9 || at[2] == 0xaf;
  return at[1] == 0x81 && at[2] == 0x9f;
}

bool begins_with_space(const std::uint8_t* data, std::size_t size) {
  return size > 0 && (is_space(data[0]) || is_wide_space(data, size));
}

bool ends_with_space(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return false;
  if (is_space(data[size - 1])) return true;
  if (size >= 2 && data[size - 2] == 0xc2) return is_wide_space(data + size - 2, 2);
  return size >= 3 && data[size - 3] >= 0xe0 && is_wide_space(data + size - 3, 3);
}

constexpr std::uint8_t kHigh = 1;
constexpr std::uint8_t kControl = 2;

constexpr std::array<std::uint8_t, 256> kClasses = [] {
  std::array<std::uint8_t, 256> classes{};
  for (std::size_t byte = 0; byte < 256; ++byte) {
    if (byte >= 0x80) classes[byte] = kHigh;
    if ((byte < 0x20 && (byte < '\t' || byte > '\r')) || byte == 0x7f) classes[byte] = kControl;
  }
  return classes;
}();

}  // namespace

TextFacts look_at_text(const std::uint8_t* data, std::size_t size) {
  TextFacts facts;
  // Most binary values are not UTF-8 within their first bytes; only what could be text is checked completely.
  constexpr std::size_t kGlance = 64;
  std::uint8_t classes = 0;
  for (std::size_t i = 0; i < std::min(size, kGlance); ++i) classes |= kClasses[data[i]];
  if ((classes & kHigh) != 0 && !is_utf8(data, size)) return facts;
  for (std::size_t i = kGlance; i < size; ++i) classes |= kClasses[data[i]];
  if ((classes & kHigh) != 0 && !is_utf8(data, size)) return facts;
  if ((classes & kControl) != 0) {
    facts.has_control = true;
    return facts;
  }
  facts.is_utf8 = true;
  facts.is_ascii = (classes & kHigh) == 0;
  facts.leading_space = begins_with_space(data, size);
  facts.trailing_space = ends_with_space(data, size);
  return facts;
}

void ImageTally::add(const std::optional<ImageHeader>& header, const ImageName& name, std::uint32_t file) {
  if (!header.has_value()) {
    no_header_.add(name.record);
    return;
  }
  ++images_;
  ++formats_[static_cast<std::size_t>(header->format)];
  ++channels_[header->channels];
  heights_.add(static_cast<std::uint64_t>(header->height));
  widths_.add(static_cast<std::uint64_t>(std::max<std::int64_t>(0, header->width)));
  const std::uint64_t place = mix64(name.record.offset + mix64(file)) + (std::uint64_t{name.step} << 32) + name.value;
  keep({mix64(place), name});
}

void ImageTally::keep(const Sampled& sampled) {
  if (sample_.size() == kSampled) {
    if (!(sampled < sample_.front())) return;
    std::pop_heap(sample_.begin(), sample_.end());
    sample_.pop_back();
  }
  sample_.push_back(sampled);
  std::push_heap(sample_.begin(), sample_.end());
}

void ImageTally::merge(const ImageTally& later) {
  images_ += later.images_;
  for (std::size_t i = 0; i < formats_.size(); ++i) formats_[i] += later.formats_[i];
  for (const auto& [channels, count] : later.channels_) channels_[channels] += count;
  heights_.merge(later.heights_);
  widths_.merge(later.widths_);
  no_header_.merge(later.no_header_);
  suffix_differs_ += later.suffix_differs_;
  suffix_places_.merge(later.suffix_places_);
  for (const Sampled& sampled : later.sample_) keep(sampled);
}

ImageSummary ImageTally::summary() const {
  ImageSummary summary;
  summary.images = images_;
  for (std::size_t i = 0; i < formats_.size(); ++i) {
    if (formats_[i] > 0) summary.formats[image_format_name(static_cast<ImageFormat>(i))] = formats_[i];
  }
  summary.channels = channels_;
  summary.heights = heights_;
  summary.widths = widths_;
  summary.no_header = no_header_;
  summary.suffix_differs = suffix_differs_;
  summary.suffix_places = suffix_places_;
  for (const Sampled& sampled : sample_) summary.sample.push_back(sampled.name);
  std::sort(summary.sample.begin(), summary.sample.end(), [](const ImageName& left, const ImageName& right) {
    return std::tie(left.record.source, left.record.number, left.step, left.value) <
           std::tie(right.record.source, right.record.number, right.step, right.value);
  });
  return summary;
}

std::optional<ImageFormat> StringTally::add(const std::uint8_t* data, std::size_t size, const ImageName& name,
                                            std::uint32_t file) {
  lengths_.add(size);
  empty_ += size == 0 ? 1 : 0;
  const std::optional<ImageHeader> header = read_image_header(data, size);
  images_.add(header, name, file);
  if (!header.has_value()) {
    const TextFacts text = look_at_text(data, size);
    ascii_ += text.is_ascii ? 1 : 0;
    utf8_ += text.is_utf8 ? 1 : 0;
    leading_space_ += text.leading_space ? 1 : 0;
    trailing_space_ += text.trailing_space ? 1 : 0;
    control_ += text.has_control ? 1 : 0;
  }
  const std::uint64_t key = XXH3_64bits(data, size);
  if (!values_.is_exact()) {
    values_.add_to_sketches(key);
  } else if (!values_.add_exactly(key)) {
    values_.start_sketches();
    values_.add_to_sketches(key);
  }
  if (size <= kLongestKept) keep_text(key, data, size);
  return header.has_value() ? std::optional(header->format) : std::nullopt;
}

void StringTally::keep_text(std::uint64_t key, const std::uint8_t* data, std::size_t size) {
  if (!values_.is_repeated(key)) return;
  const auto [position, is_new] = texts_.try_emplace(key);
  if (!is_new) return;
  position->second.assign(reinterpret_cast<const char*>(data), size);
  forget_rare_texts();
}

void StringTally::forget_rare_texts() {
  if (texts_.size() <= 2 * kMostExact) return;
  std::erase_if(texts_, [this](const auto& entry) { return !values_.is_repeated(entry.first); });
}

void StringTally::merge(const StringTally& later) {
  lengths_.merge(later.lengths_);
  empty_ += later.empty_;
  ascii_ += later.ascii_;
  utf8_ += later.utf8_;
  leading_space_ += later.leading_space_;
  trailing_space_ += later.trailing_space_;
  control_ += later.control_;
  if (later.values_.is_exact()) {
    for (const KeyCount& entry : later.values_.exact_entries()) {
      if (values_.is_exact() && values_.add_exactly(entry.key, entry.count)) continue;
      if (values_.is_exact()) values_.start_sketches();
      values_.add_to_sketches(entry.key, entry.count);
    }
  } else {
    if (values_.is_exact()) values_.start_sketches();
    values_.merge_sketches(later.values_);
  }
  for (const auto& [key, text] : later.texts_) texts_.try_emplace(key, text);
  forget_rare_texts();
  images_.merge(later.images_);
}

template <typename Archive>
void ImageTally::transfer(Archive& archive) {
  constexpr std::size_t kMostChannels = 1000;
  archive(images_, formats_, heights_, widths_, no_header_, suffix_differs_, suffix_places_);
  archive.map(channels_, kMostChannels);
  archive.list(sample_, kSampled);
  archive.require(std::is_heap(sample_.begin(), sample_.end()));
}

template <typename Archive>
void StringTally::transfer(Archive& archive) {
  archive(lengths_, empty_, ascii_, utf8_, leading_space_, trailing_space_, control_, values_, images_);
  archive.map(texts_, 2 * kMostExact);
}

template void StringTally::transfer(Packer& archive);
template void StringTally::transfer(Unpacker& archive);

StringSummary StringTally::summary() const {
  StringSummary summary;
  summary.count = lengths_.count;
  summary.lengths = lengths_;
  summary.empty = empty_;
  summary.ascii = ascii_;
  summary.utf8 = utf8_;
  summary.leading_space = leading_space_;
  summary.trailing_space = trailing_space_;
  summary.control = control_;
  summary.values = {values_.distinct(), values_.is_exact(), values_.distinct_error()};
  const auto list = [this](const std::vector<KeyCount>& entries, auto* listed) {
    for (const KeyCount& entry : entries) {
      const auto text = texts_.find(entry.key);
      if (text != texts_.end()) listed->emplace_back(text->second, entry.count);
    }
  };
  list(values_.frequent(), &summary.frequent);
  constexpr std::size_t kMostCategories = 1000;
  if (values_.is_exact() && texts_.size() <= kMostCategories) list(values_.frequent(kMostCategories), &summary.all);
  summary.images = images_.summary();
  return summary;
}

}  // namespace recordsmith::survey
