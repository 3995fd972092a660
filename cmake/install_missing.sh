# For sourcing: install_missing PACKAGE... installs those Debian packages that are not there yet, and says nothing when there
# is nothing to do. Not as root, or not on Debian, it only tells what seems to be missing and goes on.
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
  echo "installing ${missing[*]}"
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# What every build needs, and what the program `takt report` and the component sodium do besides.
build_packages=(g++ cmake ninja-build pkg-config libeigen3-dev libexpected-dev libasio-dev libfmt-dev nlohmann-json3-dev
                libcli11-dev libsodium-dev gnuplot-nox)
