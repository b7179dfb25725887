#include "columns/text_scan.h"

#include <string>

#include "tests/check.h"

namespace recordsmith::testing {
namespace {

const std::uint8_t* bytes(const std::string& text) { return reinterpret_cast<const std::uint8_t*>(text.data()); }

bool zeros(const std::string& text) {
  const std::uint8_t separators[4] = {',', '\n', '\r', '"'};
  return has_leading_zeros(bytes(text), text.size(), separators);
}

TEST(finds_every_place_of_a_byte) {
  for (const std::size_t size : {0, 1, 5, 4097, 100000}) {
    std::string text(size, '.');
    for (std::size_t i = 0; i < size; i += 7) text[i] = '\n';
    PooledArray<std::int64_t> places;
    const std::size_t found = find_byte(bytes(text), size, '\n', &places);
    CHECK(found == (size + 6) / 7);
    for (std::size_t i = 0; i < found; ++i) CHECK(places[i] == static_cast<std::int64_t>(7 * i));
  }
}

TEST(a_zero_leads_at_the_beginning_of_a_cell_alone) {
  CHECK(zeros("02134"));
  CHECK(zeros("0x1F"));
  CHECK(zeros("1,02134\n"));
  CHECK(zeros("a\r00"));
  CHECK(zeros("\"007\""));
  CHECK(!zeros(""));
  CHECK(!zeros("0"));
  CHECK(!zeros("0,"));
  CHECK(!zeros("10,0,0.5,1.05\n"));
  CHECK(!zeros("1002,100"));
}

TEST(a_zero_is_found_wherever_blocks_end) {
  for (std::size_t at = (1 << 16) - 4; at < (1 << 16) + 4; ++at) {
    std::string text(1 << 17, '1');
    text.replace(at, 3, ",05");
    CHECK(zeros(text));
    text.replace(at, 3, ",0,");
    CHECK(!zeros(text));
  }
}

TEST(a_word_is_found_wherever_it_is) {
  const auto finds = [](const std::string& word, const std::string& text, bool any_case) {
    return WordFinder(bytes(word), word.size(), any_case).is_in(bytes(text), text.size());
  };
  const std::string letters = "abAB";
  std::string text;
  for (unsigned number = 0; number < 20000; ++number) {  // all texts of these letters, up to a length
    text.clear();
    for (unsigned left = number; left > 0; left /= 5) text += left % 5 == 0 ? 'b' : letters[left % 5 - 1];
    for (const std::string word : {"", "a", "B", "ab", "bb", "aba", "abab", "bAbb"}) {
      CHECK(finds(word, text, false) == (text.find(word) != std::string::npos));
      std::string small_text = text, small_word = word;
      for (char& one : small_text) one = one == 'A' ? 'a' : one == 'B' ? 'b' : one;
      for (char& one : small_word) one = one == 'A' ? 'a' : one == 'B' ? 'b' : one;
      CHECK(finds(word, text, true) == (small_text.find(small_word) != std::string::npos));
    }
  }
  CHECK(!finds("@", "`", true));  // which differ as capital and small letters do
  CHECK(!finds("\xc3\x84", "\xc3\xa4", true));
}

TEST(depth_counts_brackets_outside_of_strings) {
  const auto depth = [](const std::string& text) {
    return json_depth(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  };
  CHECK(depth("") == 0);
  CHECK(depth("{\"a\": [1, [2]]}") == 3);
  CHECK(depth("[\"[[[\", \"\\\"[[\"]") == 1);
  CHECK(depth("]]]]") == 0);
  CHECK(depth("{\"a\n{") == 2);
  CHECK(depth("{\"a\\") == 1);
  CHECK(depth(std::string(100'000, '[')) == 100'000);
}

}  // namespace
}  // namespace recordsmith::testing
