#!/usr/bin/env bash
# Everything that a change must pass, in under 25 minutes on two cores; before a release, or on a machine
# with time to spare, more of it:
#
#   scripts/test.sh                       formatting, the release build, every test at full size
#   ONSET_CHECKS=all scripts/test.sh      all of the following as well
#   ONSET_CHECKS="asan fuzz" scripts/test.sh   some of them
#
#   tidy   clang-tidy over the sources that the last commit changed
#   asan   clang with warnings as errors; the quick tests under the address and undefined-behaviour
#          sanitizers
#   fuzz   a minute of fuzzing, in the same build
#   tsan   the thread sanitizer over the quick tests that start threads
#   packages   the Debian packages, installed by apt in a clean Debian root (as root, with a network)
#
# Order: what is cheapest first, the whole test suite last, so that the last lines are its own
# summary. A failing stage does not stop the later ones: one run shows all that is wrong, and the exit
# status is non-zero if any stage failed.
#
# Sanitized code is about ten times slower, so it runs the quick tests only (label `quick`; the
# statistical ones are `long`), with ONSET_TEST_SCALE telling tests that honour it to use that
# fraction of their samples.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

sanitized_test_scale=0.1
sanitized_test_timeout=120
# Tests whose names say that they are about threads; see CONTRIBUTING.md.
threaded_tests='[Tt]hread|[Pp]arallel|[Ii]nterrupt|[Ss]top'

wanted() { [[ " ${ONSET_CHECKS:-} " == *" $1 "* || ${ONSET_CHECKS:-} == all ]]; }

failed=()
stage() {
  printf '\n== %s\n' "$1"
  "${@:2}" || { failed+=("$1"); printf '== %s: FAILED\n' "$1"; }
}

check_format() {
  git ls-files -z '*.cpp' '*.hpp' | xargs -0 -r clang-format-16 --dry-run -Werror
}

build_sanitized() { # preset
  cmake --preset "$1" -DONSET_TESTS=ON >/dev/null && cmake --build --preset "$1"
}

address_sanitizer() {
  build_sanitized asan &&
    ONSET_TEST_SCALE=$sanitized_test_scale ctest --test-dir build/asan -j 2 --output-on-failure \
      --timeout "$sanitized_test_timeout" -L quick -LE install
}

thread_sanitizer() {
  build_sanitized tsan &&
    ONSET_TEST_SCALE=$sanitized_test_scale ctest --test-dir build/tsan -j 2 --output-on-failure \
      --timeout "$sanitized_test_timeout" -L quick -R "$threaded_tests"
}

scripts/bootstrap.sh --full
stage "formatting" check_format
if wanted tidy; then stage "clang-tidy" scripts/tidy.sh; fi
if wanted asan; then stage "clang, address and undefined-behaviour sanitizers" address_sanitizer; fi
if wanted fuzz; then stage "fuzzing" scripts/fuzz.sh --seconds 60; fi
if wanted tsan; then stage "thread sanitizer" thread_sanitizer; fi
if wanted packages; then export ONSET_DEBIAN_ROOT=1; fi

if ((${#failed[@]})); then
  printf '\nFailed so far:\n'
  printf '  %s\n' "${failed[@]}"
fi
printf '\n== all tests\n'
status=0
ctest --test-dir build/release -j 2 --output-on-failure --no-tests=error || status=$?
((${#failed[@]} == 0)) || exit 1
exit "$status"
