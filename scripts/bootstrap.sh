#!/usr/bin/env bash
# Installs the packages that are missing, configures and builds.
#
#   scripts/bootstrap.sh [--core|--python|--full] [--preset NAME]
#
#   --core   what the command needs (the default); no tests are built
#   --python the Python module and nothing else, for Debian's python3; then `pip install .` is quick
#   --full   everything for development: tests, benchmarks, formatting, static analysis, fuzzers
#   --preset the CMake preset, release by default; the build goes to build/NAME
#
# When nothing is missing no package manager is called, so it works offline. cpp-httplib, which only
# `onset serve` needs, is tried always; LibTorch, which only `onset smi text` needs, clang and
# mmdebstrap, which only ONSET_CHECKS of scripts/test.sh needs, snakemake, which only the test of an example
# needs, and mkdocs, Doxygen and KaTeX, which only the site needs, are tried with --full. All of them are done without where
# they cannot be had.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

core_packages=(g++ cmake ninja-build libfmt-dev libhwy-dev libboost-dev libeigen3-dev
  nlohmann-json3-dev libtomlplusplus-dev libsqlite3-dev libopenblas-dev coinor-libclp-dev libspectra-dev
  gnuplot-nox fonts-dejavu-core)
python_packages=(python3 python3-dev python3-numpy pybind11-dev)
full_packages=(ccache libgtest-dev librandom123-dev libbenchmark-dev
  "${python_packages[@]}" python3-venv python3-pytest python3-pandas python3-xarray
  python3-matplotlib python3-tqdm python3-nbconvert python3-ipykernel mypy
  libopenmpi-dev openmpi-bin chromium clang-format-16 clang-tidy-16)
optional_packages=(libcpp-httplib-dev)
full_optional_packages=(libtorch-dev clang-16 libclang-rt-16-dev snakemake mmdebstrap
  mkdocs mkdocs-material doxygen libjs-katex)

usage() { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}"; }
fail() { printf 'bootstrap: %s\n' "$*" >&2; exit 1; }

set_of_packages=core
preset=release
while (($#)); do
  case $1 in
    --core) set_of_packages=core ;;
    --python) set_of_packages=python ;;
    --full) set_of_packages=full ;;
    --preset) preset=${2:?--preset needs a name}; shift ;;
    -h | --help) usage; exit 0 ;;
    *) usage >&2; fail "unknown option $1" ;;
  esac
  shift
done

packages=("${core_packages[@]}")
tests=OFF
targets=()
case $set_of_packages in
  python)
    packages+=("${python_packages[@]}")
    targets=(--target onset_python)
    ;;
  full)
    packages+=("${full_packages[@]}")
    optional_packages+=("${full_optional_packages[@]}")
    tests=ON
    ;;
esac

is_installed() {
  [[ $(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null) == installed ]] && return 0
  # Any of the gnuplot packages will do.
  [[ $1 == gnuplot-nox ]] && command -v gnuplot >/dev/null
}

as_root() {
  if ((EUID == 0)); then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    fail "neither root nor sudo: ask for these packages to be installed: ${missing[*]}"
  fi
}

install_missing() {
  missing=()
  for package in "${packages[@]}"; do
    is_installed "$package" || missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  printf 'bootstrap: installing %s\n' "${missing[*]}"
  as_root env DEBIAN_FRONTEND=noninteractive apt-get update -qq
  as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}"
}

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  printf 'bootstrap: this machine has no apt. Onset needs these packages (Debian 12 names):\n' >&2
  printf '  %s\n' "${packages[@]}" >&2
  fail "install them, then run: cmake --preset $preset -DONSET_TESTS=$tests && cmake --build --preset $preset"
fi

install_optional() {
  local package quickly=(-o Acquire::Retries=0 -o Acquire::http::Timeout=20)
  for package in "${optional_packages[@]}"; do
    is_installed "$package" && continue
    missing=("$package")
    printf 'bootstrap: installing %s (optional)\n' "$package"
    (
      apt-cache show "$package" >/dev/null 2>&1 || as_root apt-get update -qq "${quickly[@]}"
      as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends "${quickly[@]}" "$package"
    ) || printf 'bootstrap: going on without %s\n' "$package" >&2
  done
}

install_missing
[[ $set_of_packages == python ]] || install_optional
cd "$root"
# The module alone leaves a build of everything as it was configured.
if [[ $set_of_packages != python || ! -e build/$preset/CMakeCache.txt ]]; then
  cmake --preset "$preset" -DONSET_TESTS=$tests
fi
cmake --build --preset "$preset" "${targets[@]}"
if [[ $set_of_packages == python ]]; then
  printf 'bootstrap: built build/%s/python/onset; `pip install .` in a virtual environment takes it from there\n' \
    "$preset"
else
  printf 'bootstrap: built %s\n' "build/$preset/bin/onset"
fi
