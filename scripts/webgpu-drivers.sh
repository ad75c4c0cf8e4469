#!/usr/bin/env bash
# WebGPU without a GPU, on Debian 12 or 13: two software Vulkan drivers for Dawn (the npm package `webgpu`), each in a folder of its own.
#   npm run webgpu:drivers [-- [--chromium] [FOLDER]]     default FOLDER: ~/.cache/codual-webgpu
#
# --chromium                   also installs Chromium, for the tests of the browser page
# FOLDER/lavapipe/icd.json     Mesa's driver; what the tests of the WebGPU backend run on
# FOLDER/swiftshader/icd.json  the driver that Chromium ships; the stricter of the two
# VK_DRIVER_FILES=FOLDER/lavapipe/icd.json makes the Vulkan loader take that driver. Debian's packages are all that is downloaded.
set -euo pipefail

browser=no
if [ "${1:-}" = --chromium ]; then
  browser=yes
  shift
fi
dest=${1:-$HOME/.cache/codual-webgpu}
case $dest in -*) printf 'webgpu-drivers: unknown option %s\n' "$dest" >&2 && exit 2 ;; esac
lavapipe_needs=25 # Dawn refuses Mesa 22.3, which Debian 12 has; its backports have 25

say() { printf 'webgpu-drivers: %s\n' "$*"; }
die() {
  say "$1" >&2
  shift
  for line in "$@"; do printf '  %s\n' "$line" >&2; done
  exit 1
}

ready() {
  [ $browser = no ] || [ -x /usr/bin/chromium ] || return 1
  for driver in lavapipe swiftshader; do
    [ -s "$dest/$driver/icd.json" ] && [ -n "$(find "$dest/$driver" -name '*.so' -size +1000k 2>/dev/null)" ] || return 1
  done
  ldconfig -p 2>/dev/null | grep -q 'libvulkan\.so\.1' || return 1
  ! ldd "$dest/lavapipe/libvulkan_lvp.so" | grep -q 'not found'
}
export PATH="$PATH:/sbin:/usr/sbin"
if ready; then
  say "lavapipe and swiftshader are in $dest already"
  exit 0
fi

[ "$(uname -s)" = Linux ] || die 'these drivers are for Linux.' 'On macOS and Windows Dawn uses Metal and D3D12, which need no driver of their own.'
codename=$(. /etc/os-release 2>/dev/null && [ "${ID:-}" = debian ] && echo "${VERSION_CODENAME:-}") || codename=''
case $codename in
  bookworm | trixie) ;;
  *) die 'this script knows Debian 12 (bookworm) and 13 (trixie).' 'Elsewhere: install Mesa 25 or newer with its Vulkan drivers, and point CODUAL_WEBGPU_LAVAPIPE at lavapipe'"'"'s lvp_icd.*.json.' ;;
esac

if [ "$(id -u)" = 0 ]; then
  root=()
elif command -v sudo >/dev/null 2>&1; then
  root=(sudo)
else
  die 'packages have to be installed, which takes root or sudo.' "As root: scripts/webgpu-drivers.sh $dest"
fi
# What apt says is shown only where it fails.
log=$(mktemp)
work=$(mktemp -d)
chmod 755 "$work" # apt downloads as a user of its own
trap 'rm -rf "$work" "$log"' EXIT
apt() {
  "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 "$@" >"$log" 2>&1 ||
    die "apt-get $* failed:" "$(tail -n 20 "$log")"
}

say 'the Vulkan loader, and the libraries that Mesa needs'
apt update
apt install -y --no-install-recommends libvulkan1 mesa-vulkan-drivers
if [ $browser = yes ]; then
  say 'chromium'
  apt install -y --no-install-recommends chromium
fi

cd "$work"
# The manifest names the driver by a path from its own place, so that the folder can be moved.
put() { # driver, library, Vulkan version
  mkdir -p "$dest/$1"
  cp "$2" "$dest/$1/"
  printf '{ "file_format_version": "1.0.0", "ICD": { "library_path": "./%s", "api_version": "%s" } }\n' "$(basename "$2")" "$3" >"$dest/$1/icd.json"
  say "$dest/$1/icd.json"
}

in_chromium=usr/lib/chromium/libvk_swiftshader.so
if [ -f /$in_chromium ]; then
  say 'swiftshader, of the Chromium that is installed'
  swiftshader=/$in_chromium
else
  say 'swiftshader, out of chromium-common'
  apt download chromium-common
  dpkg -x chromium-common_*.deb chromium
  swiftshader=chromium/$in_chromium
fi
put swiftshader "$swiftshader" 1.3.0

installed=$(dpkg-query -W -f '${Version}' mesa-vulkan-drivers)
if [ "${installed%%.*}" -ge "$lavapipe_needs" ]; then
  say "lavapipe $installed, as installed"
  lavapipe=$(dpkg -L mesa-vulkan-drivers | grep '/libvulkan_lvp\.so$')
else
  say "lavapipe out of $codename-backports (Debian's own is $installed)"
  # Debian's mirror and key as this machine's sources have them: a list and caches of their own, so that nothing of the machine's changes.
  sources=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources 2>/dev/null || true)
  mirror=$(printf '%s\n' "$sources" | sed 's/#.*//' | grep -oE '(https?|mirror\+https?)://[^] ]+/debian/?([[:space:]]|$)' | head -n 1 | tr -d '[:space:]') || true
  [ -n "$mirror" ] || die "no mirror of Debian in the machine's sources." 'Add one to /etc/apt/sources.list, or install Mesa 25 or newer by hand.'
  mkdir -p lists/partial archives/partial
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $codename-backports main" >backports.list
  own=(-o Dir::Etc::SourceList="$work/backports.list" -o Dir::Etc::SourceParts=/dev/null -o Dir::State::Lists="$work/lists" -o Dir::Cache="$work")
  apt "${own[@]}" update
  apt "${own[@]}" download "mesa-vulkan-drivers/$codename-backports"
  dpkg -x mesa-vulkan-drivers_*.deb mesa
  lavapipe=$(find mesa -name libvulkan_lvp.so)
fi
put lavapipe "$lavapipe" 1.4.0

missing=$(ldd "$dest/lavapipe/libvulkan_lvp.so" | grep 'not found' || true)
[ -z "$missing" ] || die 'lavapipe needs libraries that this machine lacks:' "$missing"
say 'done: npm run test:webgpu'
