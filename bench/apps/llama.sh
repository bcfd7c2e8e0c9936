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
archive=$made/llama_cpp_python-$version.tar.gz
# Not by pip download, which prepares to build all of it first.
index=$(/usr/bin/python3 -m pip config get global.index-url 2>/dev/null ||
	/usr/bin/python3 -c "from pip._internal.models.index import PyPI; print(PyPI.simple_url)")
/usr/bin/python3 - "${index%/}/llama-cpp-python/" "${archive##*/}" "$archive" <<'END'
import re, sys, urllib.parse, urllib.request
page, name, to = sys.argv[1:]
links = re.findall(r'href="([^"]+)"', urllib.request.urlopen(page, timeout=60).read().decode())
link = next(link for link in links if urllib.parse.urlparse(link).path.endswith("/" + name))
urllib.request.urlretrieve(urllib.parse.urljoin(page, link), to)
END
echo "$sum  $archive" | sha256sum --quiet -c -
tar -xzf "$archive" -C "$made"
source=$made/llama_cpp_python-$version/vendor/llama.cpp

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
