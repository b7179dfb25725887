#include "survey/divided_survey.h"

#include <algorithm>
#include <exception>

#include "base/thread_team.h"
#include "survey/facts/packing.h"
#include "survey/merging.h"

namespace recordsmith::survey {
namespace {

constexpr std::uint32_t kFormat = 0x31535552;  // "RUS1"; another number for another layout

Status not_understood(const char* what) {
  return Status::of(Code::kInvalidArgument, std::string("the ") + what + " of a survey cannot be read");
}

// Records cannot have more bytes than that. A byte of a compressed file becomes at most 1,032; some may be appended to
// a file while it is surveyed.
std::uint64_t most_payload(const Unit& unit, std::uint64_t file_size) {
  constexpr std::uint64_t kLargestRatio = 1032;
  constexpr std::uint64_t kAppended = std::uint64_t{1} << 30;
  if (!unit.input.known.has_value()) return kUnknown;  // a pipe
  return (file_size + kAppended) * (unit.input.compression == Compression::kNone ? 1 : kLargestRatio);
}

}  // namespace

struct DividedSurvey::State {
  State(const std::vector<SurveyFile>& files, Expected given, const SurveyOptions& options)
      : expected(std::move(given)), merging(files, expected, options, progress) {}

  const Expected expected;
  const Progress progress;  // none
  SurveyMerging merging;
  std::size_t merged = 0;
  bool is_over = false;
};

DividedSurvey::DividedSurvey(const std::vector<SurveyFile>& files, Expected expected, const SurveyOptions& options)
    : state_(std::make_unique<State>(files, std::move(expected), options)) {}

DividedSurvey::~DividedSurvey() = default;

Status DividedSurvey::plan(std::vector<PlannedUnit>* units) {
  try {
    RECORDSMITH_RETURN_IF_ERROR(state_->merging.plan());
    for (Unit unit : state_->merging.units()) {
      std::uint32_t format = kFormat;
      Packer packer(unit.number);
      packer(format, unit);
      const std::uint64_t size = state_->merging.file_size(unit);
      units->push_back({std::min(unit.limit, size) - unit.nominal_begin, packer.take()});
    }
    return Status::ok();
  } catch (const std::exception&) {
    return out_of_memory("plan a survey");
  }
}

Status DividedSurvey::add(std::string_view tallies) {
  SurveyMerging& merging = state_->merging;
  if (state_->is_over || state_->merged >= merging.units().size()) {
    return Status::of(Code::kInvalidArgument, "a survey has no more units");
  }
  try {
    const Unit& unit = merging.units()[state_->merged];
    auto result = std::make_unique<UnitResult>(&state_->expected);
    Unpacker unpacker(unit.number, tallies);
    std::uint32_t format = 0;
    std::uint32_t number = 0;
    unpacker(format, number);
    if (unpacker.require(format == kFormat && number == unit.number)) {
      result->transfer(unpacker, most_payload(unit, merging.file_size(unit)));
    }
    if (unpacker.has_failed() || !unpacker.is_at_end()) return not_understood("tallies");
    Reporter reporter(merging.shared(), false);
    Status status = merging.merge(state_->merged++, std::move(result), &reporter);
    state_->is_over |= !status.is_ok();
    return status;
  } catch (const std::exception&) {
    state_->is_over = true;
    return out_of_memory("merge what was found in the records");
  }
}

Status DividedSurvey::finish(Summary* summary) {
  if (state_->is_over || state_->merged < state_->merging.units().size()) {
    return Status::of(Code::kInvalidArgument, "not all units of a survey were added");
  }
  state_->is_over = true;
  try {
    return state_->merging.sum_up(summary);
  } catch (const std::exception&) {
    return out_of_memory("sum up what was found in the records");
  }
}

Status survey_packed_unit(std::string_view packed, const Expected& expected, const SurveyOptions& options,
                          std::string* tallies) {
  try {
    Unit unit;
    Unpacker unpacker(0, packed);
    std::uint32_t format = 0;
    unpacker(format);
    if (unpacker.require(format == kFormat)) unpacker(unit);
    if (unpacker.has_failed() || !unpacker.is_at_end()) return not_understood("unit");
    const Progress none;
    Shared shared;
    shared.expected = &expected;
    shared.options = options;
    shared.options.unit_bytes = std::max<std::uint64_t>(1, options.unit_bytes);
    shared.progress = &none;
    Reporter reporter(&shared, false);
    UnitResult result(&expected);
    survey_unit(&shared, &reporter, unit, std::nullopt, &result);
    if (!result.failure.is_ok()) return std::move(result.failure);
    Packer packer(unit.number);
    packer(format, unit.number);
    result.transfer(packer);
    *tallies = packer.take();
    return Status::ok();
  } catch (const std::exception&) {
    return out_of_memory("look at the records");
  }
}

}  // namespace recordsmith::survey
