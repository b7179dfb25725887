#include "columns/feature_census.h"

#include <algorithm>
#include <atomic>

#include "base/thread_team.h"
#include "base/utf8.h"
#include "files/inflate_source.h"

namespace recordsmith {

FeatureFacts& CensusTaker::facts(std::string_view key, bool in_steps, std::size_t place) {
  std::vector<std::size_t>& usual = usual_[in_steps ? 1 : 0];
  if (place < usual.size() && census_.features[usual[place]].key == key) return census_.features[usual[place]];

  auto& positions = positions_[in_steps ? 1 : 0];
  const auto [known, is_new] = positions.try_emplace(std::string(key), census_.features.size());
  if (is_new) {
    FeatureFacts fresh;
    fresh.key = key;
    fresh.in_steps = in_steps;
    census_.features.push_back(std::move(fresh));
  }
  usual.resize(std::max(usual.size(), place + 1), known->second);
  usual[place] = known->second;
  return census_.features[known->second];
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

  Status status = parse_sequence_example(payload, size, &features_, &lists_);
  if (status.is_ok()) count_features();
  features_.restart();
  lists_.restart();
  return status;
}

void CensusTaker::count_features() {
  std::size_t place = 0;
  for (const auto& entry : features_.entries()) {
    FeatureFacts& of = facts(entry.key, false, place++);
    if (entry.value.kind() == Kind::kNone) continue;  // a Feature without a kind is an absent one
    ++of.records;
    count(entry.value, &of);
  }
  place = 0;
  for (const auto& entry : lists_.entries()) {
    FeatureFacts& of = facts(entry.key, true, place++);
    ++of.records;
    for (const WireFeature& step : entry.value) count(step, &of);
  }
}

void CensusTaker::add(const Census& later) {
  census_.records += later.records;
  census_.is_complete &= later.is_complete;
  for (std::size_t i = 0; i < kPayloadKinds; ++i) census_.payloads[i] += later.payloads[i];
  for (std::size_t i = 0; i < later.features.size(); ++i) {
    const FeatureFacts& from = later.features[i];
    FeatureFacts& to = facts(from.key, from.in_steps, i);
    to.records += from.records;
    for (std::size_t kind = 0; kind < to.kinds.size(); ++kind) to.kinds[kind] += from.kinds[kind];
    to.min_count = std::min(to.min_count, from.min_count);
    to.max_count = std::max(to.max_count, from.max_count);
    to.min_bytes = std::min(to.min_bytes, from.min_bytes);
    to.max_bytes = std::max(to.max_bytes, from.max_bytes);
    to.all_text &= from.all_text;
  }
}

namespace {

Status look_at(const InputFile& input, const CensusLimits& limits, CensusTaker* taker) {
  constexpr std::size_t kBlockBytes = std::size_t{256} << 10;
  std::shared_ptr<const File> file;
  Compression compression;
  RECORDSMITH_RETURN_IF_ERROR(open_input(input, &file, &compression));
  RecordCursor cursor(open_stream(file, compression), file->path());
  RecordBlock block;
  for (;;) {
    const std::uint64_t left = limits.records_per_file - std::min(limits.records_per_file, cursor.number());
    if (left == 0 || cursor.offset() >= limits.bytes_per_file) {
      // One more read shows whether this was the end.
      taker->census().is_complete &= cursor.next_block(1, 1, &block).is_ok() && block.empty();
      return Status::ok();
    }
    RECORDSMITH_RETURN_IF_ERROR(cursor.next_block(static_cast<std::size_t>(left), kBlockBytes, &block));
    if (block.empty()) return Status::ok();
    for (std::size_t i = 0; i < block.size(); ++i) {
      const RecordView record = block[i];
      if (limits.verify) RECORDSMITH_RETURN_IF_ERROR(check_payload(record, file->path()));
      RECORDSMITH_RETURN_IF_ERROR(
          taker->add(record.data, record.length).at(file->path(), record.offset, record.number));
    }
  }
}

}  // namespace

Status take_census(const std::vector<InputFile>& inputs, const CensusLimits& limits, Census* census) {
  struct OfFile {
    CensusTaker taker;
    Status failure;
  };
  CensusTaker whole;
  Status failure;
  // As many files at a time as there are threads, so that few of them are read in vain after a damaged one.
  const std::size_t at_once = std::max(1u, limits.threads);
  for (std::size_t first = 0; first < inputs.size() && failure.is_ok(); first += at_once) {
    std::vector<OfFile> files(std::min(at_once, inputs.size() - first));
    std::atomic<std::size_t> next{0};
    run_on_threads(files.size(), [&] {
      for (std::size_t i; (i = next.fetch_add(1)) < files.size();) {
        files[i].failure = look_at(inputs[first + i], limits, &files[i].taker);
      }
    });
    for (std::size_t i = 0; i < files.size() && failure.is_ok(); ++i) {
      whole.add(files[i].taker.census());
      failure = std::move(files[i].failure);
    }
  }
  *census = std::move(whole.census());
  if (failure.is_ok() || !limits.stop_at_damage || census->records == 0) return failure;
  census->is_complete = false;
  return Status::ok();
}

}  // namespace recordsmith
