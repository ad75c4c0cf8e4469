#!/usr/bin/env bash
# OpenBLAS on Debian, for codual/blas and its tests.   npm run blas:library
set -euo pipefail
export PATH="$PATH:/sbin:/usr/sbin" DEBIAN_FRONTEND=noninteractive
if ldconfig -p | grep -q 'libopenblas\.so\.0'; then
  echo 'OpenBLAS is there already'
  exit 0
fi
root=()
[ "$(id -u)" = 0 ] || root=(sudo)
log=$(mktemp)
trap 'rm -f "$log"' EXIT
for attempt in 1 2 3; do
  if "${root[@]}" apt-get update >"$log" 2>&1 && "${root[@]}" apt-get install -y --no-install-recommends libopenblas0-pthread >"$log" 2>&1; then
    echo 'OpenBLAS is installed'
    exit 0
  fi
  sleep 5
done
cat "$log" >&2
exit 1
