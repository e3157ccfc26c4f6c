#pragma once

namespace onset::report {

/// From here on this process and what it becomes by exec() can start no other process and open no
/// socket: the system answers "not permitted". Threads are allowed. It has no effect where the
/// system lacks such a filter, and is safe between fork() and exec().
void forbid_children() noexcept;

}  // namespace onset::report
