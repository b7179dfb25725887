// How far a recovery has come, and how much work it may repeat.
//
// A search ahead may have to be repeated from the next place, and from the one after. So it is paid from a credit that
// grows with the progress made: whatever the bytes, the total cost is linear in the file's size.
#pragma once

#include <algorithm>
#include <cstdint>

namespace recordsmith {

class RecoveryProgress {
 public:
  std::uint64_t offset() const { return offset_; }    // everything before it is settled
  std::uint64_t largest() const { return largest_; }  // framed size of the largest sound record so far; 0: none yet

  void move_to(std::uint64_t offset) { offset_ = offset; }
  void met_record(std::uint64_t framed_size) { largest_ = std::max(largest_, framed_size); }

  // False, and nothing is paid, if the credit does not suffice.
  bool pay(std::uint64_t bytes) {
    if (bytes > credit()) return false;
    spent_ += bytes;
    return true;
  }
  // How far a search ahead may go. A search without success, or one that may be repeated, spends what it took.
  std::uint64_t look_ahead() const { return std::min(largest_ == 0 ? kFirstCredit : space_of_record(), credit()); }
  void spend(std::uint64_t bytes) { spent_ += bytes; }

  // More bytes than one record of this file is expected to take.
  std::uint64_t space_of_record() const { return std::max(kLeastAhead, kAheadOfLargest * largest_); }

 private:
  // What searches ahead may cost: this much from the start, and this much more for each byte of progress.
  static constexpr std::uint64_t kFirstCredit = std::uint64_t{64} << 20;
  static constexpr std::uint64_t kCreditPerByte = 8;
  // How far to look for the end of a record with a damaged header, beyond the first place at which it may be.
  static constexpr std::uint64_t kLeastAhead = std::uint64_t{1} << 20;
  static constexpr std::uint64_t kAheadOfLargest = 16;  // times the largest record so far

  std::uint64_t credit() const {
    const std::uint64_t earned = kFirstCredit + kCreditPerByte * offset_;
    return spent_ < earned ? earned - spent_ : 0;
  }

  std::uint64_t offset_ = 0;
  std::uint64_t largest_ = 0;
  std::uint64_t spent_ = 0;
};

}  // namespace recordsmith
