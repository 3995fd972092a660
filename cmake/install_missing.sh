# For sourcing: install_missing PACKAGE... installs those Debian packages that are not there yet, and says nothing when there
# is nothing to do. Not as root, or not on Debian, it only tells what seems to be missing and goes on.
. "$(dirname "${BASH_SOURCE[0]}")/progress.sh"

install_missing() {
  local missing=() package
  for package in "$@"; do
    dpkg-query -W -f='${Status}\n' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
    echo "these packages seem to be missing: ${missing[*]}" >&2
    return 0
  fi
  local apt=(env DEBIAN_FRONTEND=noninteractive apt-get -q -o APT::Status-Fd=1)
  with_progress "reading the lists of packages" build/install.log "${apt[@]}" update
  with_progress "installing ${missing[*]}" build/install.log "${apt[@]}" install -y --no-install-recommends "${missing[@]}"
}

# What every build needs, with the components sodium and zstd.
build_packages=(g++ cmake ninja-build pkg-config libeigen3-dev libexpected-dev libasio-dev libfmt-dev nlohmann-json3-dev
                libcli11-dev libsodium-dev libzstd-dev)
