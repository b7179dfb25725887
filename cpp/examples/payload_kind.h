// What kind of message a record's payload is.
//
// "It parses as an Example" says little: so do nearly all SequenceExamples, many ELWC records and every TensorBoard
// event, because protobuf skips unknown fields. The detection looks at the structure instead: which fields exist, and
// whether each map entry has just a key and a value, as writers make them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace recordsmith {

enum class PayloadKind : std::uint8_t {
  kEmpty,  // no bytes: an Example without features, or no message
  kExample,
  kSequenceExample,
  kExampleList,  // ExampleListWithContext, for learning to rank
  kEvent,        // TensorBoard
  kText,
  kOther,
};

inline constexpr std::size_t kPayloadKinds = 7;

const char* payload_kind_name(PayloadKind kind);

PayloadKind payload_kind(const std::uint8_t* data, std::size_t size);

}  // namespace recordsmith
