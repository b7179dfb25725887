// tf.train.Example and tf.train.SequenceExample, read at wire level with protobuf's meaning.
//
//   Example          { Features features = 1; }
//   SequenceExample  { Features context = 1; FeatureLists feature_lists = 2; }
//   Features         { map<string, Feature> feature = 1; }        an entry is { string key = 1; Feature value = 2; }
//   FeatureLists     { map<string, FeatureList> feature_list = 1; }
//   FeatureList      { repeated Feature feature = 1; }
//   Feature          { oneof { BytesList = 1; FloatList = 2; Int64List = 3; } }
//   *List            { repeated value = 1; }                      numbers packed or one by one, or mixed
//
// Protobuf's meaning, in the corners where hand-written readers go wrong: the last of two entries with one key wins;
// one message met twice is merged (lists of one kind are joined, another kind replaces); unknown fields are skipped,
// but a map entry that has one is dropped whole; a known field with another wire type counts as unknown; an entry
// without a key has the key "", one without a value an empty Feature; keys must be UTF-8.
//
// Parsed messages point into the payload: they contain no copies and must not outlive it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "examples/wire.h"

namespace recordsmith {

// The numbers are the fields of Feature's oneof.
enum class Kind : std::uint8_t { kNone = 0, kBytes = 1, kFloat = 2, kInt64 = 3 };

const char* kind_name(Kind kind);  // "bytes", "float", "int64", or "nothing"

struct Span {
  wire::Bytes begin;
  wire::Bytes end;

  std::size_t size() const { return static_cast<std::size_t>(end - begin); }
  std::string_view text() const { return {reinterpret_cast<const char*>(begin), size()}; }
};

// Calls field(tag, value) for each field of a message, with the value's bytes if it is delimited and none otherwise.
// False if the bytes do not parse, or as soon as `field` returns false.
template <typename Field>
bool walk_fields(Span message, Field field) {
  for (wire::Bytes at = message.begin; at < message.end;) {
    std::uint32_t tag = 0;
    at = wire::read_tag(at, message.end, &tag);
    if (at == nullptr) return false;
    Span value{at, at};
    if ((tag & 7) == wire::kDelimited) {
      std::size_t size = 0;
      at = wire::read_size(at, message.end, &size);
      if (at == nullptr) return false;
      value = {at, at + size};
      at += size;
    } else {
      at = wire::skip_value(at, message.end, tag, wire::kMaxDepth);
      if (at == nullptr) return false;
    }
    if (!field(tag, value)) return false;
  }
  return true;
}

// A Feature: its kind, and the bodies of its list messages (nearly always one).
class WireFeature {
 public:
  Kind kind() const { return kind_; }
  std::uint64_t count() const { return count_; }          // values in all bodies
  std::uint64_t byte_size() const { return byte_size_; }  // of all values of a bytes list together

  // Merges a serialized Feature into this one; `depth` is how many levels may be open inside. False if it is malformed.
  bool merge(Span body, int depth);

  void copy_floats(float* out) const;
  void copy_int64s(std::int64_t* out) const;
  template <typename Visit>
  void each_bytes(Visit visit) const;  // visit(const uint8_t* data, size_t size)

 private:
  bool add_list(Kind kind, Span body, int depth);

  Kind kind_ = Kind::kNone;
  std::uint64_t count_ = 0;
  std::uint64_t byte_size_ = 0;
  Span first_{};
  std::vector<Span> others_;
  bool has_first_ = false;
};

// Entries in the order of their first appearance, each key once.
template <typename Value>
class WireMap {
 public:
  struct Entry {
    std::string_view key;
    Value value;
  };

  const std::vector<Entry>& entries() const { return entries_; }
  const Value* find(std::string_view key) const;
  void insert(std::string_view key, Value value);  // replaces
  // Removes all entries, for the next record; the payload of this one must still exist. While the keys of the next are
  // those of this one, in the same order, none of them can be a repetition, and none is searched for.
  void restart();

 private:
  // Most records have a few features and are searched in order; many get an index, so that a hostile record cannot
  // make the search quadratic.
  static constexpr std::size_t kIndexedFrom = 24;
  std::vector<Entry> entries_;
  mutable std::unordered_map<std::string_view, std::size_t> positions_;  // of the first so many entries
  std::vector<std::string> usual_keys_;
  std::size_t as_usual_ = 0;  // how many of the first entries have them
};

using WireFeatures = WireMap<WireFeature>;
using WireFeatureLists = WireMap<std::vector<WireFeature>>;

// Each fails with kMalformed, saying which part does not parse, and the feature where it is known.
Status parse_example(const std::uint8_t* data, std::size_t size, WireFeatures* features);
Status parse_sequence_example(const std::uint8_t* data, std::size_t size, WireFeatures* context,
                              WireFeatureLists* lists);

// --- details of the templates above ---

template <typename Visit>
void visit_bytes_body(Span body, Visit visit) {
  for (wire::Bytes at = body.begin; at < body.end;) {
    std::uint32_t tag = 0;
    at = wire::read_tag(at, body.end, &tag);
    if (tag == wire::tag_of(1, wire::kDelimited)) {
      std::size_t size = 0;
      at = wire::read_size(at, body.end, &size);
      visit(at, size);
      at += size;
    } else {
      at = wire::skip_value(at, body.end, tag, wire::kMaxDepth);
    }
  }
}

template <typename Visit>
void WireFeature::each_bytes(Visit visit) const {
  if (has_first_) visit_bytes_body(first_, visit);
  for (const Span& body : others_) visit_bytes_body(body, visit);
}

template <typename Value>
const Value* WireMap<Value>::find(std::string_view key) const {
  if (entries_.size() >= kIndexedFrom) {
    for (std::size_t i = positions_.size(); i < entries_.size(); ++i) positions_.emplace(entries_[i].key, i);
    const auto position = positions_.find(key);
    return position == positions_.end() ? nullptr : &entries_[position->second].value;
  }
  for (const Entry& entry : entries_) {
    if (entry.key == key) return &entry.value;
  }
  return nullptr;
}

template <typename Value>
void WireMap<Value>::insert(std::string_view key, Value value) {
  if (as_usual_ == entries_.size() && as_usual_ < usual_keys_.size() && usual_keys_[as_usual_] == key) {
    ++as_usual_;
  } else if (const Value* existing = find(key)) {
    *const_cast<Value*>(existing) = std::move(value);
    return;
  }
  entries_.push_back({key, std::move(value)});
}

template <typename Value>
void WireMap<Value>::restart() {
  if (as_usual_ < entries_.size()) {
    usual_keys_.resize(as_usual_);
    for (std::size_t i = as_usual_; i < entries_.size(); ++i) usual_keys_.emplace_back(entries_[i].key);
  }
  entries_.clear();
  positions_.clear();
  as_usual_ = 0;
}

}  // namespace recordsmith
