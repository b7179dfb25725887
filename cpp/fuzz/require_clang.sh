#!/usr/bin/env bash
# Makes sure that a clang with libFuzzer and the sanitizers is there, installing it where apt-get can.
#   require_clang.sh CC CXX
set -euo pipefail

cc=$1
cxx=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

can_fuzz() {
  command -v "$cc" >/dev/null && command -v "$cxx" >/dev/null || return 1
  echo 'extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }' >"$scratch/probe.cc"
  "$cxx" -fsanitize=fuzzer,address,undefined "$scratch/probe.cc" -o "$scratch/probe" 2>"$scratch/log"
}

install_packages() {
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    sudo -n true 2>/dev/null || return 1
    as_root=(sudo -n)
  fi
  command -v apt-get >/dev/null || return 1
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"
}

can_fuzz && exit 0

command -v apt-get >/dev/null && { apt-get update || sudo -n apt-get update || true; } >/dev/null 2>&1
command -v "$cxx" >/dev/null || install_packages clang || true
if ! can_fuzz && command -v "$cxx" >/dev/null; then
  # The runtime is a package of its own since clang 14, and was part of libclang-common before.
  version=$("$cxx" -dumpversion | cut -d. -f1)
  install_packages "libclang-rt-$version-dev" || install_packages "libclang-common-$version-dev" || true
fi
can_fuzz && exit 0

echo "make fuzz needs clang with libFuzzer and its sanitizers (on Debian: apt-get install clang libclang-rt-14-dev," \
  "with your clang's version); $cxx cannot link -fsanitize=fuzzer,address,undefined." >&2
exit 1
