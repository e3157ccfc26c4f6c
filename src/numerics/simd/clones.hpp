#pragma once

/// Marks a plain loop to be compiled for several instruction sets, chosen when the program starts.
/// The loop must be elementwise or sum into a fixed number of lanes: without fused multiply-adds
/// (we compile with -ffp-contract=off) every version then gives the same bits. It is not used under
/// sanitizers, whose runtimes are not ready when the choice is made.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define ONSET_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define ONSET_CLONES
#endif

/// Says before a loop that no entry which it writes is read or written at another index, so that it
/// becomes vector code. GCC believes __restrict of parameters, but not of pointers taken from a
/// struct, and does not compare more than a few pairs of arrays itself.
#if defined(__GNUC__) && !defined(__clang__)
#define ONSET_NO_OVERLAP _Pragma("GCC ivdep")
#else
#define ONSET_NO_OVERLAP
#endif
