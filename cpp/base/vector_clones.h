// Functions marked with this are compiled twice, for any machine and for those with AVX2, and the loader picks. Both do
// the same sums in the same order, so that an image becomes the same on either.
#pragma once

#if defined(__x86_64__) && defined(__GLIBC__) && (defined(__GNUC__) && !defined(__clang__))
#define RECORDSMITH_WITH_AVX2 __attribute__((target_clones("avx2", "default")))
#else
#define RECORDSMITH_WITH_AVX2
#endif
