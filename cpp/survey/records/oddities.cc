#include "survey/records/oddities.h"

#include <algorithm>
#include <unordered_set>

#include "base/utf8.h"

namespace recordsmith::survey {
namespace {

using wire::Bytes;
using wire::kDelimited;
using wire::tag_of;

class Inspector {
 public:
  Inspector(Inspection* inspection, std::vector<FoundOddity>* oddities) : found_(inspection), oddities_(oddities) {}

  // False if the bytes do not parse at all.
  bool inspect(Span record) {
    return walk_fields(record, [this](std::uint32_t tag, Span map) {
      if (tag == tag_of(1, kDelimited)) return inspect_map(map, false);
      if (tag == tag_of(2, kDelimited)) return inspect_map(map, true);
      report(Oddity::kUnknownField, {}, "field " + std::to_string(tag >> 3) + " of the record");
      return true;
    });
  }

 private:
  static constexpr std::size_t kMostOddities = 64;

  void report(Oddity oddity, std::string_view feature, std::string detail) {
    if (oddities_->size() >= kMostOddities) return;
    const bool is_known = std::any_of(oddities_->begin(), oddities_->end(), [&](const FoundOddity& found) {
      return found.oddity == oddity && found.feature == feature;
    });
    if (!is_known) oddities_->push_back({oddity, std::string(feature), std::move(detail)});
  }

  bool inspect_map(Span map, bool in_steps) {
    found_->has_lists |= in_steps;
    return walk_fields(map, [&](std::uint32_t tag, Span entry) {
      if (tag != tag_of(1, kDelimited)) {
        report(Oddity::kUnknownField, {}, "field " + std::to_string(tag >> 3) + " beside the features");
        return true;
      }
      return inspect_entry(entry, in_steps);
    });
  }

  bool inspect_entry(Span entry, bool in_steps) {
    std::string_view key;
    std::vector<Span> values;
    std::uint32_t unknown = 0;
    int keys = 0;
    const bool parses = walk_fields(entry, [&](std::uint32_t tag, Span value) {
      if (tag == tag_of(1, kDelimited)) {
        key = value.text();
        ++keys;
      } else if (tag == tag_of(2, kDelimited)) {
        values.push_back(value);
      } else {
        unknown = tag >> 3;
      }
      return true;
    });
    if (!parses) return false;
    const auto* const name = reinterpret_cast<const std::uint8_t*>(key.data());
    if (!is_utf8(name, key.size())) {
      found_->has_broken_key = true;
      report(Oddity::kKeyNotUtf8, {}, quoted(key));
      key = {};
    } else if (!seen_[in_steps ? 1 : 0].insert(key).second) {
      report(Oddity::kDuplicateKey, key, "");
    }
    if (keys > 1) report(Oddity::kDuplicateKey, key, "two names in one entry");
    if (unknown != 0) report(Oddity::kUnknownField, key, "field " + std::to_string(unknown) + " of a map entry");
    found_->stored_bytes[in_steps ? 1 : 0][key] += entry.size() + 2;
    Lists lists;
    bool has_kind = false;
    for (const Span value : values) {
      const bool is_sound = in_steps ? inspect_steps(key, value, &has_kind) : inspect_feature(key, value, &lists);
      if (!is_sound) return false;
    }
    has_kind |= lists.kind != Kind::kNone;
    if (keys == 1 && !key.empty() && has_kind && is_readable_text(name, key.size())) ++found_->sound_entries;
    return true;
  }

  bool inspect_steps(std::string_view key, Span list, bool* has_kind) {
    return walk_fields(list, [&](std::uint32_t tag, Span step) {
      if (tag != tag_of(1, kDelimited)) {
        report(Oddity::kUnknownField, key, "field " + std::to_string(tag >> 3) + " of a feature list");
        return true;
      }
      Lists lists;
      const bool is_sound = inspect_feature(key, step, &lists);
      *has_kind |= lists.kind != Kind::kNone;
      return is_sound;
    });
  }

  struct Lists {
    Kind kind = Kind::kNone;  // of the last list
  };

  bool inspect_feature(std::string_view key, Span feature, Lists* lists) {
    return walk_fields(feature, [&](std::uint32_t tag, Span list) {
      const std::uint32_t field = tag >> 3;
      if ((tag & 7) != kDelimited || field < 1 || field > 3) {
        report(Oddity::kUnknownField, key, "field " + std::to_string(field) + " of a feature");
        return true;
      }
      const auto kind = static_cast<Kind>(field);
      if (lists->kind == kind) {
        report(Oddity::kValuesAfterList, key, std::string("two ") + kind_name(kind) + " lists");
      } else if (lists->kind != Kind::kNone) {
        report(Oddity::kMixedKinds, key, std::string(kind_name(lists->kind)) + " and " + kind_name(kind));
      }
      lists->kind = kind;
      return inspect_list(key, kind, list);
    });
  }

  bool inspect_list(std::string_view key, Kind kind, Span list) {
    std::uint64_t packed = 0;
    std::uint64_t single = 0;
    const bool parses = walk_fields(list, [&](std::uint32_t tag, Span) {
      if (tag == tag_of(1, kDelimited)) {
        ++packed;
      } else if ((kind == Kind::kFloat && tag == tag_of(1, wire::kFixed32)) ||
                 (kind == Kind::kInt64 && tag == tag_of(1, wire::kVarint))) {
        ++single;
      } else {
        report(Oddity::kUnknownField, key, "field " + std::to_string(tag >> 3) + " of a list");
      }
      return true;
    });
    if (!parses) return false;
    if (kind != Kind::kBytes && packed > 1) report(Oddity::kValuesAfterList, key, "several packed pieces");
    if (packed > 0 && single > 0) report(Oddity::kValuesAfterList, key, "packed and single values");
    return true;
  }

  static std::string quoted(std::string_view key) {
    constexpr std::size_t kShown = 40;
    constexpr char kDigits[] = "0123456789abcdef";
    std::string shown = "b'";
    for (const char letter : key.substr(0, kShown)) {
      const auto byte = static_cast<std::uint8_t>(letter);
      if (byte >= 0x20 && byte < 0x7f && byte != '\\' && byte != '\'') {
        shown += letter;
      } else {
        shown += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
      }
    }
    return shown + (key.size() > kShown ? "'..." : "'");
  }

  Inspection* found_;
  std::vector<FoundOddity>* oddities_;
  std::unordered_set<std::string_view> seen_[2];
};

}  // namespace

const char* oddity_name(Oddity oddity) {
  switch (oddity) {
    case Oddity::kNotAnExample:
      return "not-an-example";
    case Oddity::kDuplicateKey:
      return "duplicate-key";
    case Oddity::kMixedKinds:
      return "mixed-kinds";
    case Oddity::kValuesAfterList:
      return "values-after-list";
    case Oddity::kUnknownField:
      return "unknown-field";
    case Oddity::kKeyNotUtf8:
      break;
  }
  return "non-utf8-key";
}

Inspection inspect_record(Span record, std::vector<FoundOddity>* oddities) {
  Inspection inspection;
  inspection.parses = Inspector(&inspection, oddities).inspect(record);
  return inspection;
}

}  // namespace recordsmith::survey
