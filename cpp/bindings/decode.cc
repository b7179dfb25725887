// Plans, and payloads turned into Python values.
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings/parts.h"
#include "bindings/python/array_export.h"
#include "bindings/python/frames.h"
#include "bindings/python/gil.h"
#include "bindings/python/status.h"
#include "columns/record_decoding.h"
#include "examples/payload_kind.h"

namespace recordsmith {
namespace {

Presence presence_of(const std::string& name) {
  if (name == "optional") return Presence::kOptional;
  if (name == "default") return Presence::kDefault;
  return Presence::kRequired;
}

PlanColumn plan_column(nb::handle given) {
  const auto parts = nb::cast<nb::tuple>(given);
  PlanColumn column;
  column.key = nb::cast<std::string>(parts[0]);
  column.kind = kind_of(nb::cast<std::string>(parts[1]));
  column.count = nb::cast<std::int64_t>(parts[2]);
  column.row_bytes = nb::cast<std::int64_t>(parts[3]);
  column.presence = presence_of(nb::cast<std::string>(parts[4]));
  if (column.presence == Presence::kDefault) {
    if (column.kind == Kind::kFloat) column.default_floats = nb::cast<std::vector<float>>(parts[5]);
    if (column.kind == Kind::kInt64) column.default_int64s = nb::cast<std::vector<std::int64_t>>(parts[5]);
    if (column.kind == Kind::kBytes) {
      for (const nb::handle value : nb::cast<nb::list>(parts[5])) {
        const auto bytes = nb::cast<nb::bytes>(value);
        column.default_bytes.emplace_back(bytes.c_str(), bytes.size());
      }
    }
  }
  column.in_steps = nb::cast<bool>(parts[6]);
  return column;
}

nb::object values_of(const WireFeature& feature) {
  if (feature.kind() != Kind::kBytes) return export_numbers(feature);
  nb::list values;
  feature.each_bytes([&](const std::uint8_t* data, std::size_t size) { values.append(nb::bytes(data, size)); });
  return values;
}

nb::dict dict_of(const WireFeatures& features) {
  nb::dict result;
  for (const auto& entry : features.entries()) {
    if (entry.value.kind() == Kind::kNone) continue;  // no kind: absent
    result[nb::str(entry.key.data(), entry.key.size())] = values_of(entry.value);
  }
  return result;
}

const std::uint8_t* data_of(const nb::bytes& payload) { return static_cast<const std::uint8_t*>(payload.data()); }

nb::dict decode_example(const nb::bytes& payload) {
  prepare_exceptions();
  WireFeatures features;
  raise_if_failed(parse_example(data_of(payload), payload.size(), &features));
  return dict_of(features);
}

nb::tuple decode_sequence_example(const nb::bytes& payload) {
  prepare_exceptions();
  WireFeatures context;
  WireFeatureLists lists;
  raise_if_failed(parse_sequence_example(data_of(payload), payload.size(), &context, &lists));
  nb::dict steps_of_each;
  for (const auto& entry : lists.entries()) {
    nb::list steps;
    for (const WireFeature& step : entry.value) {
      steps.append(step.kind() == Kind::kNone ? nb::none() : values_of(step));
    }
    steps_of_each[nb::str(entry.key.data(), entry.key.size())] = steps;
  }
  return nb::make_tuple(dict_of(context), steps_of_each);
}

// Payloads that Python holds, decoded into columns.
nb::list decode_payloads(const Plan& plan, const nb::list& payloads) {
  BatchDecoder decoder(plan.plan);
  decoder.start(payloads.size());
  std::uint64_t number = 0;
  for (const nb::handle payload : payloads) {
    const auto bytes = nb::cast<nb::bytes>(payload);
    Status status = decoder.add(data_of(bytes), bytes.size());
    if (!status.is_ok()) raise_if_failed(std::move(status).at("", kUnknown, number));
    ++number;
  }
  return export_columns(decoder.finish());
}

// Framed records in memory; the caller has checked their checksums.
nb::list decode_framed(const Plan& plan, const FrameBytes& bytes, const FrameOffsets& offsets) {
  const Frames frames = frames_of(bytes, offsets);
  BatchDecoder decoder(plan.plan);
  run([&] { return decode_frames(frames, &decoder); });
  return export_columns(decoder.finish());
}

}  // namespace

void bind_decoding(nb::module_& module) {
  nb::class_<Plan>(module, "Plan").def("__init__", [](Plan* self, const nb::list& given) {
    std::vector<PlanColumn> columns;
    for (const nb::handle column : given) columns.push_back(plan_column(column));
    new (self) Plan();
    raise_if_failed(FeaturePlan::compile(std::move(columns), &self->plan));
  });
  module.def("decode_example", &decode_example, nb::arg("payload"));
  module.def("decode_sequence_example", &decode_sequence_example, nb::arg("payload"));
  module.def("decode_frames", &decode_framed, nb::arg("plan"), nb::arg("frames"), nb::arg("offsets"));
  module.def("decode_payloads", &decode_payloads, nb::arg("plan"), nb::arg("payloads"));
  module.def(
      "payload_kind",
      [](const nb::bytes& payload) { return payload_kind_name(payload_kind(data_of(payload), payload.size())); },
      nb::arg("payload"));
}

}  // namespace recordsmith
