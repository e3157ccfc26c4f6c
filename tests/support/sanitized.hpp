#pragma once

namespace onset::testing {

/// Whether the tests run under the address or the thread sanitizer, which reserve terabytes of
/// addresses: a test that takes address space away cannot be made there.
#if defined(__has_feature)
inline constexpr bool sanitized =
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
inline constexpr bool sanitized = false;
#endif

}  // namespace onset::testing
