#include "base/checksums/crc32c.h"

#include <array>
#include <atomic>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#include <wmmintrin.h>
#elif defined(__aarch64__)
#include <arm_acle.h>
#include <sys/auxv.h>
#endif

namespace recordsmith {
namespace {

constexpr std::uint32_t kPolynomial = 0x82f63b78u;  // reflected

// Polynomials over GF(2) are kept reflected: the highest bit of the word is the coefficient of x^0.
constexpr std::uint32_t times_x(std::uint32_t value) { return (value >> 1) ^ ((value & 1) ? kPolynomial : 0); }

constexpr std::array<std::array<std::uint32_t, 256>, 8> make_tables() {
  std::array<std::array<std::uint32_t, 256>, 8> tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) value = times_x(value);
    tables[0][byte] = value;
  }
  for (std::size_t byte = 0; byte < 256; ++byte) {
    for (std::size_t table = 1; table < 8; ++table) {
      const std::uint32_t previous = tables[table - 1][byte];
      tables[table][byte] = (previous >> 8) ^ tables[0][previous & 0xff];
    }
  }
  return tables;
}

constexpr auto kTables = make_tables();

std::uint64_t load64(const std::uint8_t* at) {
  std::uint64_t value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

// All of the following work on the inverted register that CRC-32C defines: invert on entry and on exit.
std::uint32_t update_portable(std::uint32_t state, const std::uint8_t* at, std::size_t size) {
  for (; size >= 8; at += 8, size -= 8) {
    const std::uint64_t word = load64(at) ^ state;
    state = kTables[7][word & 0xff] ^ kTables[6][(word >> 8) & 0xff] ^ kTables[5][(word >> 16) & 0xff] ^
            kTables[4][(word >> 24) & 0xff] ^ kTables[3][(word >> 32) & 0xff] ^ kTables[2][(word >> 40) & 0xff] ^
            kTables[1][(word >> 48) & 0xff] ^ kTables[0][word >> 56];
  }
  for (; size > 0; ++at, --size) state = (state >> 8) ^ kTables[0][(state ^ *at) & 0xff];
  return state;
}

#if defined(__x86_64__) || defined(__aarch64__)

// The longest run that one of the three streams handles before they are joined, in eight-byte words.
constexpr std::size_t kMaxWords = 128;

// kShift.by[w]: what to multiply a state with so that it moves past w words of eight bytes. The carry-less product of
// two reflected words comes out one bit low, and the closing CRC instruction multiplies by x^32: hence the 33.
struct ShiftTable {
  std::array<std::uint32_t, 2 * kMaxWords + 1> by{};
  constexpr ShiftTable() {
    std::uint32_t power = 0x80000000u;  // x^0
    for (int exponent = 1; exponent <= 64 - 33; ++exponent) power = times_x(power);
    for (std::size_t words = 1; words < by.size(); ++words) {
      by[words] = power;
      for (int bit = 0; bit < 64; ++bit) power = times_x(power);
    }
  }
};
constexpr ShiftTable kShift;

#endif

#if defined(__x86_64__)

#ifdef __clang__  // which has a name of its own for these instructions of SSE 4.2
#define RECORDSMITH_CRC32_TARGET "sse4.2,crc32,pclmul"
#else
#define RECORDSMITH_CRC32_TARGET "sse4.2,pclmul"
#endif

__attribute__((target(RECORDSMITH_CRC32_TARGET))) inline std::uint64_t shifted(std::uint32_t state, std::size_t words) {
  const __m128i product = _mm_clmulepi64_si128(_mm_cvtsi32_si128(static_cast<int>(state)),
                                               _mm_cvtsi32_si128(static_cast<int>(kShift.by[words])), 0);
  return static_cast<std::uint64_t>(_mm_cvtsi128_si64(product));
}

__attribute__((target(RECORDSMITH_CRC32_TARGET))) std::uint32_t update_sse42(std::uint32_t state,
                                                                             const std::uint8_t* at, std::size_t size) {
  if (size < 8) {
    for (; size > 0; ++at, --size) state = _mm_crc32_u8(state, *at);
    return state;
  }
  const std::uint8_t* const end = at + size;
  // One CRC instruction takes three cycles but a new one can start each cycle, so three streams run side by side.
  while (size >= 3 * 8 * 4) {
    const std::size_t fitting = size / 24;
    const std::size_t words = fitting < kMaxWords ? fitting : kMaxWords;
    const std::size_t bytes = words * 8;
    std::uint64_t first = state;
    std::uint64_t second = 0;
    std::uint64_t third = 0;
    for (std::size_t i = 0; i < bytes; i += 8) {
      first = _mm_crc32_u64(first, load64(at + i));
      second = _mm_crc32_u64(second, load64(at + bytes + i));
      third = _mm_crc32_u64(third, load64(at + 2 * bytes + i));
    }
    const std::uint64_t joined =
        shifted(static_cast<std::uint32_t>(first), 2 * words) ^ shifted(static_cast<std::uint32_t>(second), words);
    state = static_cast<std::uint32_t>(_mm_crc32_u64(0, joined) ^ third);
    at += 3 * bytes;
    size -= 3 * bytes;
  }
  std::uint64_t wide = state;
  for (; size >= 8; at += 8, size -= 8) wide = _mm_crc32_u64(wide, load64(at));
  // The last bytes in one step, because a loop over an unforeseeable number of them costs more than all that went
  // before in a short record: zeros before the first byte leave a state of zero as it is, so those bytes are moved to
  // the end of a word, with the state's first bytes added to them, and what is left of the state is added afterwards.
  // Shifts come in two parts, since a word cannot be shifted by all of its 64 bits.
  const std::size_t bits = 8 * size;
  const std::uint64_t last = load64(end - 8) >> 8 >> (56 - bits);
  return static_cast<std::uint32_t>(_mm_crc32_u64(0, (last ^ wide) << (56 - bits) << 8) ^ (wide >> bits));
}

#elif defined(__aarch64__)

// Carry-less multiplication is a separate extension on ARM; the joins are rare enough for a loop over bits.
constexpr std::uint64_t multiply(std::uint32_t left, std::uint32_t right) {
  std::uint64_t product = 0;
  for (int bit = 0; bit < 32; ++bit) {
    if ((right >> bit) & 1) product ^= static_cast<std::uint64_t>(left) << bit;
  }
  return product;
}

__attribute__((target("+crc"))) std::uint32_t update_armv8(std::uint32_t state, const std::uint8_t* at,
                                                           std::size_t size) {
  while (size >= 3 * 8 * kMaxWords) {
    const std::size_t bytes = kMaxWords * 8;
    std::uint32_t second = 0;
    std::uint32_t third = 0;
    for (std::size_t i = 0; i < bytes; i += 8) {
      state = __crc32cd(state, load64(at + i));
      second = __crc32cd(second, load64(at + bytes + i));
      third = __crc32cd(third, load64(at + 2 * bytes + i));
    }
    const std::uint64_t joined = multiply(state, kShift.by[2 * kMaxWords]) ^ multiply(second, kShift.by[kMaxWords]);
    state = __crc32cd(0, joined) ^ third;
    at += 3 * bytes;
    size -= 3 * bytes;
  }
  for (; size >= 8; at += 8, size -= 8) state = __crc32cd(state, load64(at));
  for (; size > 0; ++at, --size) state = __crc32cb(state, *at);
  return state;
}

#endif

using Update = std::uint32_t (*)(std::uint32_t, const std::uint8_t*, std::size_t);

struct Backend {
  Update update;
  const char* name;
};

Backend choose_backend() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul")) return {update_sse42, "sse4.2+pclmul"};
#elif defined(__aarch64__)
  if (getauxval(AT_HWCAP) & (1UL << 7)) return {update_armv8, "armv8"};  // HWCAP_CRC32
#endif
  return {update_portable, "portable"};
}

std::uint32_t choose_and_update(std::uint32_t state, const std::uint8_t* at, std::size_t size);

// The first call stores the machine's implementation here. Any thread may be first: all would store the same.
std::atomic<Update> update_chosen = choose_and_update;

std::uint32_t choose_and_update(std::uint32_t state, const std::uint8_t* at, std::size_t size) {
  const Update chosen = choose_backend().update;
  update_chosen.store(chosen, std::memory_order_relaxed);
  return chosen(state, at, size);
}

}  // namespace

std::uint32_t crc32c(const void* data, std::size_t size, std::uint32_t crc) {
  const Update update = update_chosen.load(std::memory_order_relaxed);
  return ~update(~crc, static_cast<const std::uint8_t*>(data), size);
}

const char* crc32c_backend() { return choose_backend().name; }

std::uint32_t crc32c_portable(const void* data, std::size_t size, std::uint32_t crc) {
  return ~update_portable(~crc, static_cast<const std::uint8_t*>(data), size);
}

}  // namespace recordsmith
