#!/usr/bin/env bash
# Open MPI and MPICH on Debian, for codual/mpi and its tests.   npm run mpi:libraries
set -euo pipefail
export PATH="$PATH:/sbin:/usr/sbin" DEBIAN_FRONTEND=noninteractive
if command -v mpirun.openmpi >/dev/null && command -v mpirun.mpich >/dev/null; then
  echo 'Open MPI and MPICH are there already'
  exit 0
fi
root=()
[ "$(id -u)" = 0 ] || root=(sudo)
log=$(mktemp)
trap 'rm -f "$log"' EXIT
for attempt in 1 2 3; do
  if "${root[@]}" apt-get update >"$log" 2>&1 && "${root[@]}" apt-get install -y --no-install-recommends openmpi-bin libopenmpi3 mpich libmpich12 >"$log" 2>&1; then
    echo 'Open MPI and MPICH are installed'
    exit 0
  fi
  sleep 5
done
cat "$log" >&2
exit 1
