#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# llama.cpp for make bench-apps, from the source package of llama-cpp-python: its example
# "simple", which prints what a model says, and its package gguf, which writes models.
#
#   llama.sh DIR    put llama-simple and gguf-py there, unless they are there already
#
# Takes some minutes. DIR is outside the clone, and named after this script's content.

set -eu
export LC_ALL=C
version=0.3.9
sum=a3a985f558385e2f5de5b663f4e9b0817506d6af98122450142cd98e79216370

[ ! -x "$1/llama-simple" ] || exit 0
echo "llama.sh: building llama.cpp, as llama-cpp-python $version has it" >&2
rm -rf "$1.new"
mkdir -p "$1.new"
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
source=$("$(dirname "$0")/sdist.py" llama_cpp_python $version $sum "$made")/vendor/llama.cpp

# For any CPU with AVX2: guests have no more.
cmake -S "$source" -B "$made/build" -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF \
	-DGGML_NATIVE=OFF -DGGML_CCACHE=OFF -DLLAMA_CURL=OFF -DLLAMA_BUILD_COMMON=OFF \
	-DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_TOOLS=OFF -DLLAMA_BUILD_SERVER=OFF \
	-DLLAMA_BUILD_EXAMPLES=OFF >"$made/log" 2>&1 &&
	make -C "$made/build" -j"$(nproc)" llama >>"$made/log" 2>&1 || {
	tail -n 20 "$made/log" >&2
	exit 1
}
c++ -O2 -fopenmp -I"$source/include" -I"$source/ggml/include" -o "$1.new/llama-simple" \
	"$source/examples/simple/simple.cpp" "$made/build/src/libllama.a" \
	"$made/build/ggml/src/libggml.a" "$made"/build/ggml/src/libggml-*.a \
	"$made/build/ggml/src/libggml-base.a" -ldl
cp -r "$source/gguf-py" "$1.new"
rm -rf "$1"
mv "$1.new" "$1"
