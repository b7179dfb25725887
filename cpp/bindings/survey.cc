// A survey of files. Its summary becomes bound classes with the core's attributes; src/recordsmith/_core.pyi says what
// they mean.
#include "survey/survey.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "bindings/parts.h"
#include "bindings/python/status.h"
#include "survey/divided_survey.h"
#include "survey/features/histogram_edges.h"
#include "survey/features/labels.h"

namespace recordsmith {
namespace {

using namespace survey;  // NOLINT: this file is nothing but its conversion

// Getters for members that Python sees as something else.

template <typename Class, typename Value>
Class class_of(Value Class::* member);

template <auto member>
using ClassOf = decltype(class_of(member));

template <auto member>
nb::object get_text(const ClassOf<member>& self) {
  return text_of(self.*member);
}

template <auto member>
const std::vector<Place>& get_places(const ClassOf<member>& self) {
  return (self.*member).all();
}

template <auto member>
const SizeTally* get_sizes(const ClassOf<member>& self) {
  return (self.*member).count > 0 ? &(self.*member) : nullptr;
}

template <auto member>
nb::list get_counted_bytes(const ClassOf<member>& self) {
  nb::list result;
  for (const auto& [text, count] : self.*member)
    result.append(nb::make_tuple(nb::bytes(text.data(), text.size()), count));
  return result;
}

using Name = std::tuple<std::uint32_t, std::uint64_t, std::uint64_t>;

Name name_of(const RecordName& record) { return {record.source, record.number, record.offset}; }

nb::list labels_of(const LabelSummary& label) {
  nb::list classes;
  for (const std::string& text : label.texts) classes.append(nb::bytes(text.data(), text.size()));
  for (const std::int64_t number : label.numbers) classes.append(number);
  return classes;
}

nb::object sequence_of(nb::handle self) {
  const auto& sequence = nb::cast<const LabelSummary&>(self).sequence;
  return nb::cast(nb::ndarray<nb::numpy, const std::uint16_t>(sequence.data(), {sequence.size()}, self));
}

// By the name of the kind, for those that occur.
template <typename Get>
nb::dict by_kind(const FeatureSummary& feature, Get get) {
  nb::dict result;
  for (const Kind kind : {Kind::kBytes, Kind::kFloat, Kind::kInt64}) {
    const auto at = static_cast<std::size_t>(kind);
    if (feature.kinds[at] > 0) result[kind_name(kind)] = get(at);
  }
  return result;
}

nb::dict payloads_of(const FileSummary& file) {
  nb::dict result;
  for (std::size_t i = 0; i < kPayloadKinds; ++i) {
    if (file.payloads[i] > 0) result[payload_kind_name(static_cast<PayloadKind>(i))] = file.payloads[i];
  }
  return result;
}

void bind_files(nb::module_& module) {
  nb::class_<SizeTally>(module, "Sizes")
      .def_ro("count", &SizeTally::count)
      .def_ro("min", &SizeTally::min)
      .def_ro("max", &SizeTally::max)
      .def_ro("sum", &SizeTally::sum);
  nb::class_<Place>(module, "SurveyPlace")
      .def_prop_ro("record", [](const Place& self) { return name_of(self.record); })
      .def_prop_ro("detail", &get_text<&Place::detail>);
  nb::class_<DamageSummary>(module, "DamageSummary")
      .def_prop_ro("code", [](const DamageSummary& self) { return code_name(self.failure.code); })
      .def_prop_ro("offset", [](const DamageSummary& self) { return number_or_none(self.failure.offset); })
      .def_prop_ro("record",
                   [](const DamageSummary& self) {
                     return self.failure.record == kUnknown ? nb::none() : nb::cast(self.record.number);
                   })
      .def_prop_ro("found", [](const DamageSummary& self) { return text_of(self.failure.found); })
      .def_prop_ro("expected", [](const DamageSummary& self) { return text_of(self.failure.expected); })
      .def_prop_ro("detail", [](const DamageSummary& self) { return text_of(self.failure.detail); })
      .def_prop_ro("system_error", [](const DamageSummary& self) { return self.failure.system_error; })
      .def_prop_ro("bytes", [](const DamageSummary& self) { return number_or_none(self.bytes); });
  nb::class_<FileSummary>(module, "FileSummary")
      .def(nb::init<>())
      .def_prop_ro("compression", [](const FileSummary& self) { return compression_name(self.compression); })
      .def_ro("records", &FileSummary::records)
      .def_ro("payload_bytes", &FileSummary::payload_bytes)
      .def_prop_ro("sizes", &get_sizes<&FileSummary::sizes>)
      .def_prop_ro("payloads", &payloads_of)
      .def_ro("damages", &FileSummary::damages)
      .def_ro("damage_count", &FileSummary::damage_count)
      .def_ro("is_complete", &FileSummary::is_complete);
}

void bind_values(nb::module_& module) {
  nb::class_<ValueSummary>(module, "ValueSummary")
      .def_ro("distinct", &ValueSummary::distinct)
      .def_ro("is_exact", &ValueSummary::is_exact)
      .def_ro("distinct_error", &ValueSummary::distinct_error);
  nb::class_<NumberSummary>(module, "NumberSummary")
      .def_ro("values", &NumberSummary::values)
      .def_ro("frequent", &NumberSummary::frequent)
      .def_ro("count", &NumberSummary::count)
      .def_ro("finite", &NumberSummary::finite)
      .def_ro("min", &NumberSummary::min)
      .def_ro("max", &NumberSummary::max)
      .def_ro("mean", &NumberSummary::mean)
      .def_ro("deviation", &NumberSummary::deviation)
      .def_ro("zeros", &NumberSummary::zeros)
      .def_ro("negatives", &NumberSummary::negatives)
      .def_ro("nan", &NumberSummary::nan)
      .def_ro("positive_infinity", &NumberSummary::positive_infinity)
      .def_ro("negative_infinity", &NumberSummary::negative_infinity)
      .def_ro("is_integral", &NumberSummary::is_integral)
      .def_ro("quantiles", &NumberSummary::quantiles)
      .def_ro("quantiles_are_exact", &NumberSummary::quantiles_are_exact)
      .def_ro("rank_error", &NumberSummary::rank_error)
      .def_ro("edges", &NumberSummary::edges)
      .def_ro("counts", &NumberSummary::counts);
  nb::class_<ImageSummary>(module, "ImageSummary")
      .def_ro("images", &ImageSummary::images)
      .def_ro("formats", &ImageSummary::formats)
      .def_ro("channels", &ImageSummary::channels)
      .def_prop_ro("heights", &get_sizes<&ImageSummary::heights>)
      .def_prop_ro("widths", &get_sizes<&ImageSummary::widths>)
      .def_prop_ro("no_header_places", &get_places<&ImageSummary::no_header>)
      .def_ro("suffix_differs", &ImageSummary::suffix_differs)
      .def_prop_ro("suffix_places", &get_places<&ImageSummary::suffix_places>)
      .def_prop_ro("sample", [](const ImageSummary& self) {
        std::vector<std::tuple<Name, std::uint32_t, std::uint32_t>> sample;
        for (const ImageName& image : self.sample) sample.emplace_back(name_of(image.record), image.step, image.value);
        return sample;
      });
  nb::class_<StringSummary>(module, "StringSummary")
      .def_ro("values", &StringSummary::values)
      .def_prop_ro("frequent", &get_counted_bytes<&StringSummary::frequent>)
      .def_prop_ro("all", &get_counted_bytes<&StringSummary::all>)
      .def_ro("count", &StringSummary::count)
      .def_prop_ro("lengths", &get_sizes<&StringSummary::lengths>)
      .def_ro("empty", &StringSummary::empty)
      .def_ro("ascii", &StringSummary::ascii)
      .def_ro("utf8", &StringSummary::utf8)
      .def_ro("leading_space", &StringSummary::leading_space)
      .def_ro("trailing_space", &StringSummary::trailing_space)
      .def_ro("control", &StringSummary::control)
      .def_ro("images", &StringSummary::images);
  nb::class_<LabelSummary>(module, "LabelSummary")
      .def_prop_ro("classes", &labels_of)
      .def_ro("counts", &LabelSummary::counts)
      .def_prop_ro("sequence", &sequence_of)
      .def_ro("longest_run", &LabelSummary::longest_run)
      .def_ro("outside", &LabelSummary::outside)
      .def_prop_ro("outside_places", &get_places<&LabelSummary::outside_places>);
}

void bind_splits(nb::module_& module) {
  nb::class_<RawNumberSummary>(module, "RawNumberSummary")
      .def_prop_ro("part", &get_text<&RawNumberSummary::part>)
      .def_ro("numbers", &RawNumberSummary::numbers)
      .def_prop_ro("not_finite_places", &get_places<&RawNumberSummary::not_finite_places>);
  nb::class_<FeatureSummary>(module, "FeatureSummary")
      .def_prop_ro("key", &get_text<&FeatureSummary::key>)
      .def_ro("in_steps", &FeatureSummary::in_steps)
      .def_ro("records", &FeatureSummary::records)
      .def_ro("unset", &FeatureSummary::unset)
      .def_ro("empty", &FeatureSummary::empty)
      .def_prop_ro(
          "kinds",
          [](const FeatureSummary& self) { return by_kind(self, [&](std::size_t kind) { return self.kinds[kind]; }); })
      .def_prop_ro("kind_places",
                   [](const FeatureSummary& self) {
                     return by_kind(self, [&](std::size_t kind) { return nb::cast(self.kind_places[kind].all()); });
                   })
      .def_prop_ro("missing_places", &get_places<&FeatureSummary::missing_places>)
      .def_prop_ro("not_finite_places", &get_places<&FeatureSummary::not_finite_places>)
      .def_prop_ro("lengths", &get_sizes<&FeatureSummary::lengths>)
      .def_prop_ro("steps", &get_sizes<&FeatureSummary::steps>)
      .def_ro("stored_bytes", &FeatureSummary::stored_bytes)
      .def_ro("wrong_shape", &FeatureSummary::wrong_shape)
      .def_prop_ro("wrong_shape_places", &get_places<&FeatureSummary::wrong_shape_places>)
      .def_ro("floats", &FeatureSummary::floats)
      .def_ro("int64s", &FeatureSummary::int64s)
      .def_ro("strings", &FeatureSummary::strings)
      .def_ro("raw_numbers", &FeatureSummary::raw_numbers)
      .def_ro("label", &FeatureSummary::label);
  nb::class_<AnomalySummary>(module, "AnomalySummary")
      .def_ro("kind", &AnomalySummary::kind)
      .def_prop_ro("feature", &get_text<&AnomalySummary::feature>)
      .def_ro("count", &AnomalySummary::count)
      .def_prop_ro("places", &get_places<&AnomalySummary::places>);
  nb::class_<SplitSummary>(module, "SplitSummary")
      .def(nb::init<>())
      .def_rw("examples", &SplitSummary::examples)
      .def_ro("features", &SplitSummary::features)
      .def_ro("anomalies", &SplitSummary::anomalies)
      .def_ro("features_left_out", &SplitSummary::features_left_out)
      .def_prop_ro("provenance", [](const SplitSummary& self) {
        nb::list names;
        for (const std::string& name : self.provenance) names.append(text_of(name));
        return names;
      });
  nb::class_<DuplicateGroup>(module, "DuplicateGroup")
      .def_ro("count", &DuplicateGroup::count)
      .def_ro("payloads_differ", &DuplicateGroup::payloads_differ)
      .def_prop_ro("records",
                   [](const DuplicateGroup& self) {
                     std::vector<std::pair<std::uint32_t, std::uint64_t>> records;
                     for (const RecordName& record : self.places) records.emplace_back(record.source, record.number);
                     return records;
                   })
      .def_ro("splits", &DuplicateGroup::splits);
  nb::class_<DuplicateSummary>(module, "DuplicateSummary")
      .def(nb::init<>())
      .def_ro("within", &DuplicateSummary::within)
      .def_ro("across", &DuplicateSummary::across)
      .def_ro("groups", &DuplicateSummary::groups);
  nb::class_<Summary>(module, "SurveySummary")
      .def_ro("files", &Summary::files)
      .def_ro("splits", &Summary::splits)
      .def_ro("total", &Summary::total)
      .def_ro("duplicates", &Summary::duplicates)
      .def_ro("contradictions", &Summary::contradictions);
}

using Count = std::optional<std::int64_t>;

void make_raw_numbers(RawNumbers* self, std::string part, const std::string& dtype, std::size_t offset, Count count) {
  std::optional<RawNumbers> found = raw_numbers_of(std::move(part), dtype, offset, count.value_or(-1));
  if (!found.has_value()) throw nb::value_error("there is no such dtype");
  new (self) RawNumbers(std::move(*found));
}

void make_expectation(Expectation* self, const std::string& kind, Count count, Count row_bytes, Count classes,
                      std::vector<RawNumbers> raw_numbers) {
  new (self) Expectation{kind_of(kind), count.value_or(-1), row_bytes.value_or(-1), classes.value_or(-1),
                         std::move(raw_numbers)};
}

void make_options(SurveyOptions* self, unsigned threads, std::optional<std::uint64_t> records_per_file,
                  std::uint64_t unit_bytes, std::size_t digests_in_memory, nb::handle temporary_folder,
                  bool frames_only) {
  new (self) SurveyOptions{threads,           records_per_file.value_or(kUnknown), unit_bytes,
                           digests_in_memory, path_of(temporary_folder),           frames_only};
}

void bind_arguments(nb::module_& module) {
  nb::class_<RawNumbers>(module, "RawNumbers")
      .def("__init__", &make_raw_numbers, nb::arg("part"), nb::arg("dtype"), nb::arg("offset"),
           nb::arg("count").none());
  nb::class_<Expectation>(module, "Expectation")
      .def("__init__", &make_expectation, nb::arg("kind"), nb::kw_only(), nb::arg("count").none(),
           nb::arg("row_bytes").none(), nb::arg("classes").none(), nb::arg("raw_numbers"))
      .def_ro("count", &Expectation::count)
      .def_ro("classes", &Expectation::classes);
  nb::class_<SurveyFile>(module, "SurveyFile")
      .def(
          "__init__",
          [](SurveyFile* self, nb::handle path, std::uint32_t split) { new (self) SurveyFile{{path_of(path)}, split}; },
          nb::arg("path"), nb::arg("split"));
  nb::class_<SurveyOptions>(module, "SurveyOptions")
      .def("__init__", &make_options, nb::kw_only(), nb::arg("threads"), nb::arg("records_per_file").none(),
           nb::arg("unit_bytes"), nb::arg("digests_in_memory"), nb::arg("temporary_folder"), nb::arg("frames_only"));
}

Summary survey_of(const std::vector<SurveyFile>& files, Expectations features, std::vector<std::string> provenance,
                  const SurveyOptions& options, const nb::object& progress) {
  const Expected expected{std::move(features), std::move(provenance)};
  bool is_interrupted = false;  // by an exception of Python, which is set
  const Progress report = [&](std::uint64_t bytes) {
    const GilHold held;
    if (run_python(&PyErr_CheckSignals) != 0) {
      is_interrupted = true;
    } else if (!progress.is_none()) {
      PyObject* const answer = run_python(
          [&] { return PyObject_CallFunction(progress.ptr(), "K", static_cast<unsigned long long>(bytes)); });
      is_interrupted = answer == nullptr;
      Py_XDECREF(answer);
    }
    return !is_interrupted;
  };
  Summary summary;
  Status status;
  {
    const GilRelease released;
    status = survey_files(files, expected, options, report, &summary);
  }
  if (is_interrupted) throw nb::python_error();
  raise_if_failed(status);
  return summary;
}

void make_divided(DividedSurvey* self, const std::vector<SurveyFile>& files, Expectations features,
                  std::vector<std::string> provenance, const SurveyOptions& options) {
  new (self) DividedSurvey(files, {std::move(features), std::move(provenance)}, options);
}

std::vector<PlannedUnit> plan_of(DividedSurvey& self) {
  std::vector<PlannedUnit> units;
  Status status;
  {
    const GilRelease released;
    status = self.plan(&units);
  }
  raise_if_failed(status);
  return units;
}

std::string_view text_in(const nb::bytes& bytes) { return {bytes.c_str(), bytes.size()}; }

void add_tallies(DividedSurvey& self, const nb::bytes& tallies) {
  const std::string_view given = text_in(tallies);
  Status status;
  {
    const GilRelease released;
    status = self.add(given);
  }
  raise_if_failed(status);
}

Summary finish_divided(DividedSurvey& self) {
  Summary summary;
  Status status;
  {
    const GilRelease released;
    status = self.finish(&summary);
  }
  raise_if_failed(status);
  return summary;
}

nb::bytes survey_unit_of(const nb::bytes& unit, Expectations features, std::vector<std::string> provenance,
                         const SurveyOptions& options) {
  const Expected expected{std::move(features), std::move(provenance)};
  const std::string_view given = text_in(unit);
  std::string tallies;
  Status status;
  {
    const GilRelease released;
    status = survey_packed_unit(given, expected, options, &tallies);
  }
  raise_if_failed(status);
  return nb::bytes(tallies.data(), tallies.size());
}

void bind_divided(nb::module_& module) {
  nb::class_<PlannedUnit>(module, "SurveyUnit")
      .def_ro("size", &PlannedUnit::size)
      .def_prop_ro("packed", [](const PlannedUnit& self) { return nb::bytes(self.packed.data(), self.packed.size()); });
  nb::class_<DividedSurvey>(module, "DividedSurvey")
      .def("__init__", &make_divided, nb::arg("files"), nb::arg("expected"), nb::kw_only(), nb::arg("provenance"),
           nb::arg("options"))
      .def("plan", &plan_of)
      .def("add", &add_tallies, nb::arg("tallies"))
      .def("finish", &finish_divided);
  module.def("survey_unit", &survey_unit_of, nb::arg("unit"), nb::arg("expected"), nb::kw_only(), nb::arg("provenance"),
             nb::arg("options"));
}

using ClassSequence = nb::ndarray<const std::uint16_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

double mean_classes_of(const ClassSequence& sequence, std::size_t window, std::uint64_t buffer, std::uint64_t key) {
  const std::span<const std::uint16_t> classes(sequence.data(), sequence.size());
  const GilRelease released;
  return mean_classes(classes, window, buffer, key);
}

}  // namespace

void bind_survey(nb::module_& module) {
  bind_files(module);
  bind_values(module);
  bind_splits(module);
  bind_arguments(module);
  bind_divided(module);
  module.def("survey", &survey_of, nb::arg("files"), nb::arg("expected"), nb::kw_only(), nb::arg("provenance"),
             nb::arg("options"), nb::arg("progress").none());
  module.def("histogram_edges", &histogram_edges, nb::arg("low"), nb::arg("high"), nb::arg("integral"),
             nb::arg("most_bins"));
  module.def("mean_classes", &mean_classes_of, nb::arg("sequence"), nb::arg("window"), nb::arg("buffer"),
             nb::arg("key"));
}

}  // namespace recordsmith
