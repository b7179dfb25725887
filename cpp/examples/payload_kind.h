// What a record's payload looks like.
//
// "It parses as an Example" says little: so do nearly all SequenceExamples, many ELWC records and every TensorBoard
// event, because protobuf passes over what it does not know. This looks at the shape instead: which fields there are,
// and whether each map entry has just a key and a value as writers make them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace recordsmith {

enum class PayloadKind : std::uint8_t {
  kEmpty,  // no bytes: an Example without features, or nothing
  kExample,
  kSequenceExample,
  kExampleList,  // ExampleListWithContext, of learning to rank
  kEvent,        // TensorBoard
  kText,
  kOther,
};

inline constexpr std::size_t kPayloadKinds = 7;

const char* payload_kind_name(PayloadKind kind);

PayloadKind payload_kind(const std::uint8_t* data, std::size_t size);

}  // namespace recordsmith
