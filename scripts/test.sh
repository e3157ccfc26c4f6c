#!/usr/bin/env bash
# Formatting, the release build and every test at full size. With ONSET_CHECKS, more of it:
#
#   scripts/test.sh                         what is said above, some 25 minutes on two cores
#   ONSET_CHECKS=change scripts/test.sh     what every change must pass, which is what .ci/run runs
#   ONSET_CHECKS=all scripts/test.sh        everything: before a release
#   ONSET_CHECKS="asan fuzz" scripts/test.sh   the default and some of the following
#
#   tidy   clang-tidy over the sources that the last commit changed
#   asan   clang with warnings as errors; the quick tests under the address and undefined-behaviour
#          sanitizers
#   fuzz   a minute of fuzzing, in the same build
#   tsan   the thread sanitizer over the quick tests that start threads
#   packages   the Debian packages, installed by apt in a clean Debian root (as root, with a network)
#
# `change` is `tidy asan fuzz tsan` in less time: the long tests have a quarter of their samples,
# asan sees an eighth of the tests, another one after every commit, and tidy at most 20 sources.
#
# Order: what is cheapest first, the quick tests last, so that the last lines are their own
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
sanitized_test_timeout=600
# Tests whose names say that they are about threads; see CONTRIBUTING.md.
threaded_tests='[Tt]hread|[Pp]arallel|[Ii]nterrupt|[Ss]top'

# `change`: what the long tests keep of their samples; how many commits it takes for the sanitizers to
# have seen every test of the library (those of the command start many processes and are left out); and
# how many sources clang-tidy sees at most.
change_test_scale=0.25
change_commits=8
tests_of_the_command='^(cli|python)\.'
change_tidy_files=20

checks=${ONSET_CHECKS:-}
long_test_scale=1
sanitized_share=()
tidy_share=()
if [[ $checks == change ]]; then
  checks="tidy asan fuzz tsan"
  long_test_scale=$change_test_scale
  first=$((1 + $(git rev-list --count HEAD) % change_commits))
  tidy_share=(--most $change_tidy_files)
  sanitized_share=(-E "$tests_of_the_command" -I "$first,,$change_commits")
fi
wanted() { [[ " $checks " == *" $1 "* || $checks == all ]]; }

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
      --timeout "$sanitized_test_timeout" -L quick -LE install "${sanitized_share[@]}"
}

thread_sanitizer() {
  build_sanitized tsan &&
    ONSET_TEST_SCALE=$sanitized_test_scale ctest --test-dir build/tsan -j 2 --output-on-failure \
      --timeout "$sanitized_test_timeout" -L quick -R "$threaded_tests"
}

scripts/bootstrap.sh --full
stage "formatting" check_format
if wanted tidy; then stage "clang-tidy" scripts/tidy.sh "${tidy_share[@]}"; fi
if wanted asan; then stage "clang, address and undefined-behaviour sanitizers" address_sanitizer; fi
if wanted fuzz; then stage "fuzzing" scripts/fuzz.sh --seconds 60; fi
if wanted tsan; then stage "thread sanitizer" thread_sanitizer; fi
if wanted packages; then export ONSET_DEBIAN_ROOT=1; fi

stage "long tests" env ONSET_TEST_SCALE=$long_test_scale \
  ctest --test-dir build/release -j 2 --output-on-failure --no-tests=error -L long

if ((${#failed[@]})); then
  printf '\nFailed so far:\n'
  printf '  %s\n' "${failed[@]}"
fi
printf '\n== quick tests\n'
status=0
ctest --test-dir build/release -j 2 --output-on-failure --no-tests=error -L quick || status=$?
((${#failed[@]} == 0)) || exit 1
exit "$status"
