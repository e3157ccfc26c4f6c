#include "report/gnuplot/no_children.hpp"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <array>
#include <cerrno>
#include <cstddef>

namespace onset::report {

#if defined(__x86_64__) || defined(__aarch64__)

namespace {

#if defined(__x86_64__)
constexpr unsigned native = AUDIT_ARCH_X86_64;
// System calls of the x32 interface have this bit; calls of a number below it are ours.
constexpr unsigned number_end = 0x40000000U;
constexpr unsigned fork_number = __NR_fork;
constexpr unsigned vfork_number = __NR_vfork;
#else
constexpr unsigned native = AUDIT_ARCH_AARCH64;
constexpr unsigned number_end = 0x40000000U;
// This architecture has clone() only.
constexpr unsigned fork_number = __NR_clone3;
constexpr unsigned vfork_number = __NR_clone3;
#endif

constexpr unsigned allow = SECCOMP_RET_ALLOW;
constexpr unsigned refuse = SECCOMP_RET_ERRNO | EPERM;
// The filter cannot look at its flags. The C library then falls back to clone(), whose flags it can
// see.
constexpr unsigned unknown = SECCOMP_RET_ERRNO | ENOSYS;

constexpr sock_filter load(std::size_t offset) {
  return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<unsigned>(offset));
}
/// Skips the next instruction unless the loaded word equals `value`.
constexpr sock_filter if_equal(unsigned value) {
  return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
}
constexpr sock_filter answer(unsigned what) {
  return BPF_STMT(BPF_RET | BPF_K, what);
}

}  // namespace

void forbid_children() noexcept {
  std::array program{
      load(offsetof(seccomp_data, arch)),
      sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, native, 1, 0),
      answer(refuse),
      load(offsetof(seccomp_data, nr)),
      sock_filter BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, number_end, 0, 1),
      answer(refuse),
      if_equal(__NR_clone3),
      answer(unknown),
      if_equal(fork_number),
      answer(refuse),
      if_equal(vfork_number),
      answer(refuse),
      if_equal(__NR_socket),
      answer(refuse),
      sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_clone, 1, 0),
      answer(allow),
      // This is the lower half of the first argument, the flags.
      load(offsetof(seccomp_data, args)),
      sock_filter BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 0, 1),
      answer(allow),
      answer(refuse),
  };
  const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return;
  prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

#else

void forbid_children() noexcept {}

#endif

}  // namespace onset::report
