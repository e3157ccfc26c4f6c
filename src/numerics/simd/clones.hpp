#pragma once

/// Marks a plain loop to be compiled for several instruction sets, chosen when the program starts.
/// The loop must be elementwise or sum into a fixed number of lanes: without fused multiply-adds
/// (we compile with -ffp-contract=off) every version then gives the same bits. It is not used under
/// sanitizers, whose runtimes are not ready when the choice is made.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define ONSET_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define ONSET_CLONES
#endif
