#include "survey/merging.h"

#include <algorithm>
#include <array>
#include <atomic>

#include "base/thread_team.h"
#include "survey/sketches/sketch_randomness.h"

namespace recordsmith::survey {
namespace {

void add_facts(FileSummary&& part, FileSummary* facts) {
  facts->records += part.records;
  facts->payload_bytes += part.payload_bytes;
  facts->sizes.merge(part.sizes);
  for (std::size_t i = 0; i < facts->payloads.size(); ++i) facts->payloads[i] += part.payloads[i];
  for (DamageSummary& damage : part.damages) {
    if (facts->damages.size() < kMostDamages) facts->damages.push_back(std::move(damage));
  }
  facts->damage_count += part.damage_count;
  facts->is_complete &= part.is_complete;
}

}  // namespace

SurveyMerging::SurveyMerging(const std::vector<SurveyFile>& files, const Expected& expected,
                             const SurveyOptions& options, const Progress& progress)
    : files_(files),
      store_(std::max<std::size_t>(1, options.digests_in_memory / 2), options.temporary_folder),
      unlabelled_(std::max<std::size_t>(1, options.digests_in_memory / 2), options.temporary_folder),
      states_(files.size()) {
  shared_.expected = &expected;
  shared_.options = options;
  shared_.options.unit_bytes = std::max<std::uint64_t>(1, options.unit_bytes);
  shared_.progress = &progress;
  shared_.digests = &store_;
  shared_.unlabelled = &unlabelled_;
  std::uint32_t splits = 1;
  for (const SurveyFile& file : files) splits = std::max(splits, file.split + 1);
  for (std::uint32_t i = 0; i < splits; ++i) sets_.emplace_back(&expected);
}

Status SurveyMerging::plan() {
  for (std::size_t i = 0; i < files_.size(); ++i) {
    FileState& state = states_[i];
    std::shared_ptr<const File> file;
    state.failure = open_input(files_[i].input, &file, &state.compression);
    if (state.failure.is_ok() && file->is_seekable()) state.failure = file->size(&state.size);
    state.facts.compression = state.compression;
    if (!state.failure.is_ok() && state.failure.failure().code == Code::kForeign) {
      return std::move(state.failure);  // not a fault of the data: the network failed
    }
    if (!state.failure.is_ok()) continue;
    Unit unit;
    unit.file = static_cast<std::uint32_t>(i);
    unit.input = {files_[i].input.path, state.compression, std::nullopt};
    if (file->is_seekable()) unit.input.known = KnownFile{file->identity()};
    const bool is_cut =
        state.compression == Compression::kNone && file->is_seekable() && shared_.options.records_per_file == kUnknown;
    const std::uint64_t count = is_cut ? std::max<std::uint64_t>(1, state.size / shared_.options.unit_bytes) : 1;
    for (std::uint64_t part = 0; part < count; ++part) {
      unit.number = static_cast<std::uint32_t>(units_.size());
      unit.is_first = part == 0;
      unit.nominal_begin = state.size / count * part;
      unit.limit = part + 1 < count ? state.size / count * (part + 1) : kUnknown;
      units_.push_back(unit);
    }
  }
  begins_.resize(units_.size());
  return Status::ok();
}

void SurveyMerging::look_at(std::size_t index, std::optional<std::uint64_t> begin, Reporter* reporter,
                            UnitResult* result) {
  const Unit& unit = units_[index];
  survey_unit(&shared_, reporter, unit, begin, result);
  const FileState& state = states_[unit.file];
  if (state.compression != Compression::kNone) shared_.bytes_done += state.size;
}

Status SurveyMerging::merge(std::size_t index, std::unique_ptr<UnitResult> result, Reporter* reporter) {
  const Unit& unit = units_[index];
  FileState& state = states_[unit.file];
  begins_[index] = {unit.file, state.numbered};
  if (!unit.is_first && state.next_offset >= unit.limit) return Status::ok();  // no record begins in it
  const bool is_at_end = !unit.is_first && state.next_offset >= state.size;
  if (result->begin != state.next_offset) {
    if (is_at_end) return Status::ok();
    result = std::make_unique<UnitResult>(shared_.expected);
    look_at(index, state.next_offset, reporter, result.get());
  }
  if (!result->failure.is_ok()) return std::move(result->failure);
  seed_sketches(~std::uint64_t{index});
  state.next_offset = result->end;
  state.numbered += result->numbered;
  add_facts(std::move(result->facts), &state.facts);
  sets_[files_[unit.file].split].merge(std::move(result->features));
  const std::lock_guard lock(shared_.storing);
  RECORDSMITH_RETURN_IF_ERROR(store_.add(result->digests));
  return unlabelled_.add(result->unlabelled);
}

Status SurveyMerging::sum_up(Summary* summary) {
  for (FileState& state : states_) {
    if (!state.failure.is_ok()) {
      state.facts.damage_count = 1;
      state.facts.damages.push_back({std::move(state.failure.failure()), {kNoUnit, 0, 0}, kUnknown});
    }
    summary->files.push_back(std::move(state.facts));
  }
  std::vector<std::uint32_t> split_of_unit;
  for (const Unit& unit : units_) split_of_unit.push_back(files_[unit.file].split);
  const auto splits = static_cast<std::uint32_t>(sets_.size());
  summary->splits.resize(splits);
  std::array<Status, 2> found;
  std::atomic<std::size_t> next{0};
  run_on_threads(std::min<std::size_t>(shared_.options.threads, found.size() + splits), [&] {
    for (std::size_t task = next++; task < found.size() + splits; task = next++) {
      if (task == 0) {
        found[0] = store_.find_duplicates(split_of_unit, splits, &summary->duplicates);
      } else if (task == 1) {
        found[1] = unlabelled_.find_contradictions(split_of_unit, splits, &summary->contradictions);
      } else {
        summary->splits[task - found.size()] = sets_[task - found.size()].summary();
      }
    }
  });
  for (Status& status : found) RECORDSMITH_RETURN_IF_ERROR(std::move(status));
  if (splits == 1) {
    summary->total = summary->splits[0];
    for (FeatureSummary& feature : summary->total.features) feature.label.reset();
  } else {
    seed_sketches(0);
    FeatureSet total(shared_.expected);
    for (FeatureSet& set : sets_) total.merge(std::move(set), false);
    summary->total = total.summary();
  }
  name_by_file(begins_, summary);
  return Status::ok();
}

}  // namespace recordsmith::survey
