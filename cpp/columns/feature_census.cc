#include "columns/feature_census.h"

#include <algorithm>

#include "base/utf8.h"
#include "files/inflate_source.h"

namespace recordsmith {

FeatureFacts& CensusTaker::facts(std::string_view key, bool in_steps) {
  auto& positions = positions_[in_steps ? 1 : 0];
  const auto known = positions.find(key);
  if (known != positions.end()) return census_.features[known->second];
  positions.emplace(std::string(key), census_.features.size());
  FeatureFacts fresh;
  fresh.key = key;
  fresh.in_steps = in_steps;
  census_.features.push_back(std::move(fresh));
  return census_.features.back();
}

void CensusTaker::count(const WireFeature& feature, FeatureFacts* facts) {
  ++facts->kinds[static_cast<std::size_t>(feature.kind())];
  facts->min_count = std::min(facts->min_count, feature.count());
  facts->max_count = std::max(facts->max_count, feature.count());
  if (feature.kind() != Kind::kBytes) return;
  feature.each_bytes([&](const std::uint8_t* data, std::size_t size) {
    facts->min_bytes = std::min<std::uint64_t>(facts->min_bytes, size);
    facts->max_bytes = std::max<std::uint64_t>(facts->max_bytes, size);
    facts->all_text = facts->all_text && is_readable_text(data, size);
  });
}

Status CensusTaker::add(const std::uint8_t* payload, std::size_t size) {
  const PayloadKind kind = payload_kind(payload, size);
  ++census_.records;
  ++census_.payloads[static_cast<std::size_t>(kind)];
  if (kind != PayloadKind::kExample && kind != PayloadKind::kSequenceExample) return Status::ok();

  WireFeatures features;
  WireFeatureLists lists;
  RECORDSMITH_RETURN_IF_ERROR(parse_sequence_example(payload, size, &features, &lists));
  for (const auto& entry : features.entries()) {
    FeatureFacts& of = facts(entry.key, false);
    if (entry.value.kind() == Kind::kNone) continue;  // a Feature without a kind is an absent one
    ++of.records;
    count(entry.value, &of);
  }
  for (const auto& entry : lists.entries()) {
    FeatureFacts& of = facts(entry.key, true);
    ++of.records;
    for (const WireFeature& step : entry.value) count(step, &of);
  }
  return Status::ok();
}

Status take_census(const std::vector<InputFile>& inputs, const CensusLimits& limits, Census* census) {
  constexpr std::size_t kBlockBytes = std::size_t{256} << 10;
  CensusTaker taker;
  Status failure;
  for (const InputFile& input : inputs) {
    std::shared_ptr<const File> file;
    Compression compression;
    failure = open_input(input, &file, &compression);
    if (!failure.is_ok()) break;
    RecordCursor cursor(open_stream(file, compression), file->path());
    RecordBlock block;
    while (failure.is_ok()) {
      const std::uint64_t left = limits.records_per_file - std::min(limits.records_per_file, cursor.number());
      if (left == 0 || cursor.offset() >= limits.bytes_per_file) {
        // One more read shows whether this was the end.
        taker.census().is_complete &= cursor.next_block(1, 1, &block).is_ok() && block.empty();
        break;
      }
      failure = cursor.next_block(static_cast<std::size_t>(left), kBlockBytes, &block);
      if (!failure.is_ok() || block.empty()) break;
      for (std::size_t i = 0; i < block.size() && failure.is_ok(); ++i) {
        const RecordView record = block[i];
        if (limits.verify) failure = check_payload(record, file->path());
        if (failure.is_ok()) {
          failure = taker.add(record.data, record.length).at(file->path(), record.offset, record.number);
        }
      }
    }
    if (!failure.is_ok()) break;
  }
  *census = std::move(taker.census());
  if (failure.is_ok() || !limits.stop_at_damage || census->records == 0) return failure;
  census->is_complete = false;
  return Status::ok();
}

}  // namespace recordsmith
