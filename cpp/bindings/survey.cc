// A survey of files: its summary as dicts and lists, which recordsmith.facts turns into dataclasses.
#include "survey/survey.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "base/buffer_shuffle.h"
#include "bindings/parts.h"
#include "bindings/python/status.h"
#include "images/image_header.h"
#include "survey/features/histogram_edges.h"

namespace recordsmith {
namespace {

using namespace survey;  // NOLINT: this file is nothing but its conversion

nb::object text_of(const std::string& bytes) {
  return nb::steal(PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "surrogateescape"));
}

nb::bytes bytes_of(const std::string& bytes) { return nb::bytes(bytes.data(), bytes.size()); }

nb::object number_or_none(std::uint64_t value) { return value == kUnknown ? nb::none() : nb::cast(value); }

template <typename T>
nb::object array_of(const std::vector<T>& values) {
  auto* const owned = new std::vector<T>(values);
  const nb::capsule owner(owned, [](void* data) noexcept { delete static_cast<std::vector<T>*>(data); });
  return nb::cast(nb::ndarray<nb::numpy, T>(owned->data(), {owned->size()}, owner));
}

class Converter {
 public:
  explicit Converter(const Summary& summary) : summary_(summary) {}

  nb::dict convert() const {
    nb::list files;
    for (const FileSummary& file : summary_.files) files.append(file_of(file));
    nb::list splits;
    for (const SplitSummary& split : summary_.splits) splits.append(split_of(split));
    nb::dict result;
    result["files"] = files;
    result["splits"] = splits;
    result["total"] = split_of(summary_.total);
    result["duplicates"] = duplicates_of(summary_.duplicates);
    result["contradictions"] = duplicates_of(summary_.contradictions);
    return result;
  }

 private:
  // (file, record in it, offset)
  nb::tuple name_of(const RecordName& record) const {
    if (record.unit >= summary_.units.size()) return nb::make_tuple(nb::none(), record.number, record.offset);
    const UnitBegin& unit = summary_.units[record.unit];
    return nb::make_tuple(unit.file, unit.records_before + record.number, record.offset);
  }

  nb::list places_of(const Places& places) const {
    nb::list result;
    for (const Place& place : places.all()) {
      result.append(nb::make_tuple(name_of(place.record), text_of(place.detail)));
    }
    return result;
  }

  static nb::object sizes_of(const SizeTally& sizes) {
    if (sizes.count == 0) return nb::none();
    return nb::make_tuple(sizes.min, sizes.max, sizes.sum, sizes.count);
  }

  static nb::object number_of(const Number& number) {
    return std::visit([](auto value) { return nb::cast(value); }, number);
  }

  nb::dict file_of(const FileSummary& file) const {
    nb::list damages;
    for (const DamageSummary& damage : file.damages) {
      const Failure& failure = damage.failure;
      nb::dict one;
      one["code"] = code_name(failure.code);
      one["offset"] = number_or_none(failure.offset);
      one["record"] = failure.record == kUnknown ? nb::none() : nb::object(name_of(damage.record)[1]);
      one["found"] = text_of(failure.found);
      one["expected"] = text_of(failure.expected);
      one["detail"] = text_of(failure.detail);
      one["system_error"] = failure.system_error;
      one["bytes"] = number_or_none(damage.bytes);
      damages.append(one);
    }
    nb::dict payloads;
    for (std::size_t i = 0; i < kPayloadKinds; ++i) {
      if (file.payloads[i] > 0) payloads[payload_kind_name(static_cast<PayloadKind>(i))] = file.payloads[i];
    }
    nb::dict result;
    result["compression"] = compression_name(file.compression);
    result["records"] = file.records;
    result["payload_bytes"] = file.payload_bytes;
    result["sizes"] = sizes_of(file.sizes);
    result["payloads"] = payloads;
    result["damages"] = damages;
    result["damage_count"] = file.damage_count;
    result["complete"] = file.is_complete;
    return result;
  }

  nb::dict split_of(const SplitSummary& split) const {
    nb::list features;
    for (const FeatureSummary& feature : split.features) features.append(feature_of(feature));
    nb::list anomalies;
    for (const AnomalySummary& anomaly : split.anomalies) {
      anomalies.append(
          nb::make_tuple(anomaly.kind, text_of(anomaly.feature), anomaly.count, places_of(anomaly.places)));
    }
    nb::dict result;
    result["examples"] = split.examples;
    result["features"] = features;
    result["anomalies"] = anomalies;
    result["features_left_out"] = split.features_left_out;
    nb::list provenance;
    for (const std::string& name : split.provenance) provenance.append(text_of(name));
    result["provenance"] = provenance;
    return result;
  }

  nb::dict feature_of(const FeatureSummary& feature) const {
    nb::dict kinds;
    nb::dict kind_places;
    for (const Kind kind : {Kind::kBytes, Kind::kFloat, Kind::kInt64}) {
      const auto at = static_cast<std::size_t>(kind);
      if (feature.kinds[at] == 0) continue;
      kinds[kind_name(kind)] = feature.kinds[at];
      kind_places[kind_name(kind)] = places_of(feature.kind_places[at]);
    }
    nb::dict result;
    result["key"] = text_of(feature.key);
    result["in_steps"] = feature.in_steps;
    result["records"] = feature.records;
    result["unset"] = feature.unset;
    result["empty"] = feature.empty;
    result["kinds"] = kinds;
    result["kind_places"] = kind_places;
    result["missing_places"] = places_of(feature.missing_places);
    result["not_finite_places"] = places_of(feature.not_finite_places);
    result["lengths"] = sizes_of(feature.lengths);
    result["steps"] = sizes_of(feature.steps);
    result["stored_bytes"] = feature.stored_bytes;
    result["wrong_shape"] = feature.wrong_shape;
    result["wrong_shape_places"] = places_of(feature.wrong_shape_places);
    result["float"] = feature.floats.empty() ? nb::none() : nb::object(numbers_of(feature.floats.front()));
    result["int64"] = feature.int64s.empty() ? nb::none() : nb::object(numbers_of(feature.int64s.front()));
    result["bytes"] = feature.strings.empty() ? nb::none() : nb::object(strings_of(feature.strings.front()));
    nb::list raw_numbers;
    for (const RawNumberSummary& raw : feature.raw_numbers) {
      raw_numbers.append(nb::make_tuple(text_of(raw.part), numbers_of(raw.numbers), places_of(raw.not_finite_places)));
    }
    result["raw_numbers"] = raw_numbers;
    result["label"] = feature.labels.empty() ? nb::none() : nb::object(label_of(feature.labels.front()));
    return result;
  }

  static void put_values(const ValueSummary& values, nb::dict* result) {
    (*result)["distinct"] = values.distinct;
    (*result)["exact"] = values.is_exact;
    (*result)["distinct_error"] = values.distinct_error;
  }

  static nb::dict numbers_of(const NumberSummary& numbers) {
    nb::list frequent;
    for (const auto& [value, count] : numbers.frequent) frequent.append(nb::make_tuple(number_of(value), count));
    nb::dict result;
    put_values(numbers.values, &result);
    result["frequent"] = frequent;
    result["count"] = numbers.count;
    result["finite"] = numbers.finite;
    result["min"] = number_of(numbers.min);
    result["max"] = number_of(numbers.max);
    result["mean"] = numbers.mean;
    result["deviation"] = numbers.deviation;
    result["zeros"] = numbers.zeros;
    result["negatives"] = numbers.negatives;
    result["nan"] = numbers.nan;
    result["positive_infinity"] = numbers.positive_infinity;
    result["negative_infinity"] = numbers.negative_infinity;
    result["integral"] = numbers.is_integral;
    result["quantiles"] = numbers.quantiles;
    result["quantiles_exact"] = numbers.quantiles_are_exact;
    result["rank_error"] = numbers.rank_error;
    result["edges"] = numbers.edges;
    result["counts"] = numbers.counts;
    return result;
  }

  nb::dict strings_of(const StringSummary& strings) const {
    nb::list frequent;
    for (const auto& [text, count] : strings.frequent) frequent.append(nb::make_tuple(bytes_of(text), count));
    nb::list all;
    for (const auto& [text, count] : strings.all) all.append(nb::make_tuple(bytes_of(text), count));
    nb::dict result;
    put_values(strings.values, &result);
    result["all"] = all;
    result["frequent"] = frequent;
    result["count"] = strings.count;
    result["lengths"] = sizes_of(strings.lengths);
    result["empty"] = strings.empty;
    result["ascii"] = strings.ascii;
    result["utf8"] = strings.utf8;
    result["leading_space"] = strings.leading_space;
    result["trailing_space"] = strings.trailing_space;
    result["control"] = strings.control;
    result["images"] = images_of(strings.images);
    return result;
  }

  nb::dict images_of(const ImageSummary& images) const {
    nb::dict formats;
    for (const auto& [format, count] : images.formats) formats[format.c_str()] = count;
    nb::dict channels;
    for (const auto& [number, count] : images.channels) channels[nb::cast(number)] = count;
    nb::list sample;
    for (const ImageName& image : images.sample) {
      sample.append(nb::make_tuple(name_of(image.record), image.step, image.value));
    }
    nb::dict result;
    result["images"] = images.images;
    result["formats"] = formats;
    result["channels"] = channels;
    result["heights"] = sizes_of(images.heights);
    result["widths"] = sizes_of(images.widths);
    result["no_header_places"] = places_of(images.no_header);
    result["suffix_differs"] = images.suffix_differs;
    result["suffix_places"] = places_of(images.suffix_places);
    result["sample"] = sample;
    return result;
  }

  nb::dict label_of(const LabelSummary& label) const {
    nb::list classes;
    if (label.is_bytes) {
      for (const std::string& text : label.texts) classes.append(bytes_of(text));
    } else {
      for (const std::int64_t number : label.numbers) classes.append(number);
    }
    nb::dict result;
    result["classes"] = classes;
    result["counts"] = label.counts;
    result["sequence"] = array_of(label.sequence);
    result["longest_run"] = label.longest_run;
    result["outside"] = label.outside;
    result["outside_places"] = places_of(label.outside_places);
    return result;
  }

  nb::dict duplicates_of(const DuplicateSummary& duplicates) const {
    nb::list across;
    for (const auto& [splits, count] : duplicates.across) {
      across.append(nb::make_tuple(splits.first, splits.second, count));
    }
    nb::list groups;
    for (const DuplicateGroup& group : duplicates.groups) {
      nb::list places;
      for (const RecordName& record : group.places) places.append(name_of(record));
      groups.append(nb::make_tuple(group.count, places, group.splits, group.payloads_differ));
    }
    nb::dict result;
    result["within"] = duplicates.within;
    result["across"] = across;
    result["groups"] = groups;
    return result;
  }

  const Summary& summary_;
};

Kind kind_of(const std::string& name) {
  if (name == "bytes") return Kind::kBytes;
  return name == "float" ? Kind::kFloat : Kind::kInt64;
}

std::vector<RawNumbers> raw_numbers_of(const nb::list& parts) {
  static const std::map<std::string, std::pair<RawType, std::int64_t>> kTypes = {
      {"bool", {RawType::kBool, 1}},       {"int8", {RawType::kInt8, 1}},         {"int16", {RawType::kInt16, 1}},
      {"int32", {RawType::kInt32, 1}},     {"int64", {RawType::kInt64, 1}},       {"uint8", {RawType::kUint8, 1}},
      {"uint16", {RawType::kUint16, 1}},   {"uint32", {RawType::kUint32, 1}},     {"uint64", {RawType::kUint64, 1}},
      {"float16", {RawType::kHalf, 1}},    {"float32", {RawType::kFloat, 1}},     {"float64", {RawType::kDouble, 1}},
      {"complex64", {RawType::kFloat, 2}}, {"complex128", {RawType::kDouble, 2}},
  };
  std::vector<RawNumbers> found;
  for (const nb::handle entry : parts) {
    const auto part = nb::cast<nb::tuple>(entry);
    const auto type = kTypes.find(nb::cast<std::string>(part[1]));
    if (type == kTypes.end()) throw nb::value_error("there is no such dtype");
    const auto count = nb::cast<std::int64_t>(part[3]);
    found.push_back({nb::cast<std::string>(part[0]), type->second.first, nb::cast<std::size_t>(part[2]),
                     count < 0 ? -1 : count * type->second.second});
  }
  return found;
}

// `expected`: (key, in_steps, kind, count, row_bytes, is_label, classes, raw numbers), with -1 for any number; raw
// numbers are (part, dtype, offset, count).
nb::dict survey_of(const nb::list& paths, const std::vector<std::uint32_t>& splits, std::uint32_t split_count,
                   const nb::list& expected, const std::vector<std::string>& provenance, unsigned threads,
                   std::uint64_t records_per_file, std::uint64_t unit_bytes, std::uint64_t digests_in_memory,
                   const std::string& folder, bool frames_only, const nb::object& progress) {
  std::vector<SurveyFile> files;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (splits.at(i) >= split_count) throw nb::value_error("there is no such split");
    files.push_back({{path_of(paths[i]), std::nullopt}, splits[i]});
  }
  Expected all_expected;
  for (const std::string& name : provenance) all_expected.provenance.push_back(name);
  for (const nb::handle entry : expected) {
    const auto one = nb::cast<nb::tuple>(entry);
    Expectation expectation;
    expectation.kind = kind_of(nb::cast<std::string>(one[2]));
    expectation.count = nb::cast<std::int64_t>(one[3]);
    expectation.row_bytes = nb::cast<std::int64_t>(one[4]);
    expectation.is_label = nb::cast<bool>(one[5]);
    expectation.classes = nb::cast<std::int64_t>(one[6]);
    expectation.raw_numbers = raw_numbers_of(nb::cast<nb::list>(one[7]));
    all_expected.features[{nb::cast<std::string>(one[0]), nb::cast<bool>(one[1])}] = expectation;
  }
  SurveyOptions options;
  options.threads = threads;
  options.records_per_file = records_per_file;
  options.unit_bytes = std::max<std::uint64_t>(1, unit_bytes);
  options.digests_in_memory = std::max<std::size_t>(1, digests_in_memory);
  options.temporary_folder = folder;
  options.frames_only = frames_only;

  bool is_interrupted = false;  // by an exception of Python, which is set
  const Progress report = [&](std::uint64_t bytes) {
    const GilHold held;
    if (call_python(&PyErr_CheckSignals) != 0) {
      is_interrupted = true;
    } else if (!progress.is_none()) {
      PyObject* const answer = call_python(
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
    status = survey_files(files, split_count, all_expected, options, report, &summary);
  }
  if (is_interrupted) throw nb::python_error();
  raise_if_failed(status);
  return Converter(summary).convert();
}

nb::object image_header(const nb::bytes& data) {
  const auto header = read_image_header(static_cast<const std::uint8_t*>(data.data()), data.size());
  if (!header.has_value()) return nb::none();
  return nb::make_tuple(image_format_name(header->format), header->height, header->width, header->channels);
}

using ClassSequence = nb::ndarray<const std::uint16_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// The mean number of different classes in windows of `window` records, behind a shuffle buffer of so many (0: none).
double mean_classes(const ClassSequence& sequence, std::size_t window, std::uint64_t buffer, std::uint64_t key) {
  const std::size_t records = sequence.size();
  const std::uint16_t* const classes = sequence.data();
  double mean = 0;
  const GilRelease released;
  std::vector<std::uint32_t> seen(65'536, 0);
  std::vector<std::int64_t> numbers(window);
  BufferShuffle shuffle(buffer > 0 ? records : 0, buffer, key);
  std::uint32_t stamp = 0;
  std::uint64_t different = 0;
  for (std::size_t at = 0; at + window <= records; at += window) {
    ++stamp;
    if (buffer > 0) shuffle.next(numbers.data(), window);
    for (std::size_t i = 0; i < window; ++i) {
      const std::uint16_t one = classes[buffer > 0 ? static_cast<std::size_t>(numbers[i]) : at + i];
      different += seen[one] != stamp ? 1 : 0;
      seen[one] = stamp;
    }
  }
  if (stamp > 0) mean = static_cast<double>(different) / stamp;
  return mean;
}

}  // namespace

void bind_survey(nb::module_& module) {
  module.def("histogram_edges", &histogram_edges, nb::arg("low"), nb::arg("high"), nb::arg("integral"),
             nb::arg("most_bins"));
  module.def("survey", &survey_of, nb::arg("paths"), nb::arg("splits"), nb::arg("split_count"), nb::arg("expected"),
             nb::arg("provenance"), nb::arg("threads"), nb::arg("records_per_file"), nb::arg("unit_bytes"),
             nb::arg("digests_in_memory"), nb::arg("folder"), nb::arg("frames_only"), nb::arg("progress").none());
  module.def("image_header", &image_header, nb::arg("data"));
  module.def("mean_classes", &mean_classes, nb::arg("sequence"), nb::arg("window"), nb::arg("buffer"), nb::arg("key"));
}

}  // namespace recordsmith
