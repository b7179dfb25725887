#include "survey/record_naming.h"

namespace recordsmith::survey {
namespace {

class Renaming {
 public:
  explicit Renaming(const std::vector<UnitBegin>& units) : units_(units) {}

  void apply(RecordName* record) const {
    if (record->source >= units_.size()) return;  // kNoUnit
    const UnitBegin& unit = units_[record->source];
    record->source = unit.file;
    record->number += unit.records_before;
  }
  void apply(Places* places) const {
    for (Place& place : places->all()) apply(&place.record);
  }
  void apply(FeatureSummary* feature) const {
    for (Places& places : feature->kind_places) apply(&places);
    apply(&feature->missing_places);
    apply(&feature->not_finite_places);
    apply(&feature->wrong_shape_places);
    for (RawNumberSummary& raw : feature->raw_numbers) apply(&raw.not_finite_places);
    if (feature->label.has_value()) apply(&feature->label->outside_places);
    if (!feature->strings.has_value()) return;
    ImageSummary& images = feature->strings->images;
    apply(&images.no_header);
    apply(&images.suffix_places);
    for (ImageName& image : images.sample) apply(&image.record);
  }
  void apply(SplitSummary* split) const {
    for (FeatureSummary& feature : split->features) apply(&feature);
    for (AnomalySummary& anomaly : split->anomalies) apply(&anomaly.places);
  }
  void apply(DuplicateSummary* duplicates) const {
    for (DuplicateGroup& group : duplicates->groups) {
      for (RecordName& record : group.places) apply(&record);
    }
  }

 private:
  const std::vector<UnitBegin>& units_;
};

}  // namespace

void name_by_file(const std::vector<UnitBegin>& units, Summary* summary) {
  const Renaming renaming(units);
  for (FileSummary& file : summary->files) {
    for (DamageSummary& damage : file.damages) renaming.apply(&damage.record);
  }
  for (SplitSummary& split : summary->splits) renaming.apply(&split);
  renaming.apply(&summary->total);
  renaming.apply(&summary->duplicates);
  renaming.apply(&summary->contradictions);
}

}  // namespace recordsmith::survey
