// The smallest thing that can be called a test framework, so that building the tests needs nothing but a compiler.
//
//   TEST(an_empty_file_holds_no_records) {
//     CHECK_OK(scan(...));          // a Status
//     CHECK_EQUAL(records, 0u);     // shows both sides
//     CHECK(names.empty());
//   }
//
// A failed check is printed with its place and the test continues. The header brings main, so it is included once a
// program.
#pragma once

#include <iostream>
#include <vector>

#include "base/status.h"

namespace recordsmith::check {

struct Test {
  const char* name;
  void (*body)();
};

inline std::vector<Test> tests;
inline int failures = 0;

inline bool add(const char* name, void (*body)()) {
  tests.push_back({name, body});
  return true;
}

inline std::ostream& fail(const char* file, int line) {
  static std::ostream silence(nullptr);
  constexpr int kMostShown = 20;
  return ++failures > kMostShown ? silence : std::cerr << file << ':' << line << ": ";
}

inline void check_ok(const Status& status, const char* text, const char* file, int line) {
  if (status.is_ok()) return;
  const Failure& failure = status.failure();
  fail(file, line) << text << " failed with code " << static_cast<int>(failure.code) << " at offset " << failure.offset
                   << ", record " << failure.record << ": " << failure.detail << '\n';
}

template <typename A, typename B>
void check_equal(const A& left, const B& right, const char* text, const char* file, int line) {
  if (!(left == right)) fail(file, line) << text << "\n  left:  " << left << "\n  right: " << right << '\n';
}

}  // namespace recordsmith::check

#define TEST(name)                                                                          \
  static void name();                                                                       \
  [[maybe_unused]] static const bool name##_added = ::recordsmith::check::add(#name, name); \
  static void name()

#define CHECK(...)                                                                              \
  do {                                                                                          \
    if (!(__VA_ARGS__)) ::recordsmith::check::fail(__FILE__, __LINE__) << #__VA_ARGS__ << '\n'; \
  } while (false)
#define CHECK_EQUAL(left, right) \
  ::recordsmith::check::check_equal((left), (right), #left " == " #right, __FILE__, __LINE__)
#define CHECK_OK(...) ::recordsmith::check::check_ok((__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)

int main() {
  using namespace recordsmith::check;
  for (const Test& test : tests) {
    const int before = failures;
    test.body();
    std::cout << (failures == before ? "ok      " : "FAILED  ") << test.name << '\n';
  }
  std::cout << tests.size() << " tests, " << failures << " failed checks\n";
  return failures == 0 && !tests.empty() ? 0 : 1;
}
