// The byte strings of one feature: lengths, whether they are text, which occur how often, and whether they are images.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "images/image_header.h"
#include "survey/facts/places.h"
#include "survey/facts/summary.h"
#include "survey/sketches/values.h"

namespace recordsmith::survey {

struct TextFacts {
  bool is_ascii = false;        // readable text in ASCII
  bool is_utf8 = false;         // readable text in UTF-8, ASCII included
  bool has_control = false;     // UTF-8 with control characters other than white space, which is not readable
  bool leading_space = false;   // of readable text
  bool trailing_space = false;  // the same
};

TextFacts look_at_text(const std::uint8_t* data, std::size_t size);

// Images among the values, and a sample of them that is the same whatever units the file was cut into.
class ImageTally {
 public:
  // How many images are worth decoding to know how the rest is.
  static constexpr std::size_t kSampled = 200;

  void add(const std::optional<ImageHeader>& header, const ImageName& name, std::uint32_t file);
  void add_wrong_suffix(const RecordName& record, std::string detail) {
    ++suffix_differs_;
    suffix_places_.add(record, std::move(detail));
  }
  void merge(const ImageTally& later);
  ImageSummary summary() const;
  template <typename Archive>
  void transfer(Archive& archive);

 private:
  struct Sampled {
    std::uint64_t priority;  // random, by the image's place; those with the smallest are kept
    ImageName name;
    bool operator<(const Sampled& other) const { return priority < other.priority; }
    template <typename Archive>
    void transfer(Archive& archive) {
      archive(priority, name.record, name.step, name.value);
    }
  };
  void keep(const Sampled& sampled);

  std::uint64_t images_ = 0;
  std::array<std::uint64_t, kImageFormats> formats_{};
  std::map<int, std::uint64_t> channels_;
  SizeTally heights_;
  SizeTally widths_;
  Places no_header_;
  std::uint64_t suffix_differs_ = 0;
  Places suffix_places_;
  std::vector<Sampled> sample_;  // a heap, the largest priority first
};

class StringTally {
 public:
  explicit StringTally(MemoryBudget budget) : values_(budget) {}

  // Returns the format if it is an image.
  std::optional<ImageFormat> add(const std::uint8_t* data, std::size_t size, const ImageName& name, std::uint32_t file);
  // A value that holds numbers (raw_numbers.h): only its size is of interest here.
  void add_numbers(std::size_t size) {
    lengths_.add(size);
    empty_ += size == 0 ? 1 : 0;
  }
  ImageTally& images() { return images_; }
  void finish() { values_.finish(); }
  void merge(const StringTally& later);
  StringSummary summary() const;
  // Only after finish().
  template <typename Archive>
  void transfer(Archive& archive);

 private:
  static constexpr std::size_t kLongestKept = 128;  // longer values are counted, but not listed

  void keep_text(std::uint64_t key, const std::uint8_t* data, std::size_t size);
  void forget_rare_texts();

  SizeTally lengths_;
  std::uint64_t empty_ = 0;
  std::uint64_t ascii_ = 0;
  std::uint64_t utf8_ = 0;
  std::uint64_t leading_space_ = 0;
  std::uint64_t trailing_space_ = 0;
  std::uint64_t control_ = 0;
  ValueTally values_;
  std::unordered_map<std::uint64_t, std::string> texts_;  // of the keys that may be frequent
  ImageTally images_;
};

}  // namespace recordsmith::survey
