// SequenceExample: any bytes are parsed or refused, the batch decoder gives what the general parser gives, and what was
// parsed survives encoding.
//
//   input := PlanOptions u8, size of the first payload u16, first payload, second payload
#include "fuzz/expected_rows.h"
#include "fuzz/round_trip.h"

namespace recordsmith::fuzz {
namespace {

Status parse(const Payload& payload, WireFeatures* context, WireFeatureLists* lists) {
  return parse_sequence_example(payload.bytes.data(), payload.bytes.size(), context, lists);
}

}  // namespace
}  // namespace recordsmith::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace recordsmith::fuzz;
  const std::optional<TwoPayloads> input = split_input(data, size);
  if (!input) return 0;
  check_decoder(input->first, input->second, input->options, parse);
  check_round_trip(input->first, true, parse);
  return 0;
}
