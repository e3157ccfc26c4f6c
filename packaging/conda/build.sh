#!/usr/bin/env bash
# The command, the library and the module, into conda's own prefix.
set -euo pipefail
cmake -S . -B build/conda -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$PREFIX" \
  -DCMAKE_PREFIX_PATH="$PREFIX" -DCMAKE_INSTALL_LIBDIR=lib -DPython_EXECUTABLE="$PYTHON" \
  -DONSET_TESTS=OFF -DONSET_TEXT=OFF -DONSET_MPI=OFF
cmake --build build/conda
cmake --install build/conda
