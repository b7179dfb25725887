// Example: any bytes are parsed or refused, the batch decoder gives what the general parser gives, and what was parsed
// survives encoding.
//
//   input := PlanOptions u8, size of the first payload u16, first payload, second payload
#include "columns/feature_census.h"
#include "examples/record_digest.h"
#include "fuzz/expected_rows.h"
#include "fuzz/round_trip.h"

namespace recordsmith::fuzz {
namespace {

Status parse(const Payload& payload, WireFeatures* features, WireFeatureLists*) {
  return parse_example(payload.bytes.data(), payload.bytes.size(), features);
}

}  // namespace
}  // namespace recordsmith::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace recordsmith;
  using namespace recordsmith::fuzz;
  const std::optional<TwoPayloads> input = split_input(data, size);
  if (!input) return 0;
  check_decoder(input->first, input->second, input->options, parse);
  check_round_trip(input->first, false, parse);
  // Guesses what the payload is, and then may refuse it.
  (void)CensusTaker().add(input->first.bytes.data(), input->first.bytes.size());
  const std::string_view ignored[] = {"a", "label"};
  (void)digest_record(input->first.bytes.data(), input->first.bytes.size(), ignored);
  return 0;
}
