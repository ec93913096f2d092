#!/bin/sh
# Compiles every C++ block of README.md, CONTRIBUTING.md and docs/*.md. $1: the compiler, $2: the project, $3: a folder to
# write to, $4: 1 for the blocks that need MPI; what follows are flags.
set -eu
compiler=$1 project=$2 folder=$3 mpi=$4
shift 4
mkdir -p "$folder"
cd "$project"
unit=$folder/blocks_$mpi.cpp
awk -v mpi="$mpi" -f tests/documents/blocks.awk README.md CONTRIBUTING.md docs/*.md >"$unit"
"$compiler" -std=c++20 -fsyntax-only -DKERNELET_COMPILED -Iinclude -Itests/documents "$@" "$unit"

# The program of README.md is the example's: what stands there between the two lines of dashes, without its indentation.
awk '/^    \/\/ -----/ { inside = !inside; next } inside { sub(/^    /, ""); print }' examples/01_quickstart.cpp >"$folder/example.txt"
awk '/^```cpp$/ && !done { inside = 1; next } /^```$/ && inside { inside = 0; done = 1 } inside && !/^#include/' README.md |
    sed '/./,$!d' >"$folder/readme.txt"
diff "$folder/example.txt" "$folder/readme.txt" || {
    echo "README.md: the program is not that of examples/01_quickstart.cpp" >&2
    exit 1
}
