#!/bin/bash
# Runs the CAN test programs on a real kernel with CAN, in a virtual machine. It is Debian's kernel with
# virtual interfaces, two emulated SJA1000 controllers on one bus, and can-utils as the peer. If the program
# takt is built, the script installs it, and qemu_bus.sh tests the installed one. Exits with the tests' result, or with 77 and a message if the packages
# are not available. Everything is emulated, so it gives no information about timing. As root on Debian it
# installs QEMU if it is missing. The kernel is only unpacked, below build/.
#
# Usage: qemu_can.sh [TEST_PROGRAM...]     default: the test program of the dev build
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. cmake/install_missing.sh
programs=("$@")
[ $# -gt 0 ] || programs=(build/dev/tests/takt_test_socket_can)

example=build/dev/examples/06_can_drive  # where it is built
takt=build/dev/bin/takt                  # likewise
work=build/qemu_can
modules=(drivers/net/can/dev/can-dev net/can/can net/can/can-raw net/can/can-bcm net/can/j1939/can-j1939  # in order of loading
         drivers/net/can/vcan drivers/net/can/vxcan drivers/net/can/slcan/slcan drivers/net/can/sja1000/sja1000
         drivers/net/can/sja1000/kvaser_pci net/sched/sch_netem)
tools=(candump cansend cangen canplayer slcand testj1939 j1939cat j1939acd)

skip() { echo "skipped: $1" >&2; exit 77; }

# The kernel, its modules, busybox and can-utils; unpacked once for each kernel package.
fetch() {
  local kernel=$1 version=${1#linux-image-} download=$work/download part=$work/part members
  rm -rf "$download" "$part"
  mkdir -p "$download" "$part"
  (cd "$download" && apt-get download -qq "$kernel" busybox-static can-utils 2>apt.log) || skip "$kernel cannot be downloaded"
  members=("${modules[@]/#/./lib/modules/$version/kernel/}")
  dpkg-deb --fsys-tarfile "$download/$kernel"_*.deb |
    tar -x -C "$part" --transform='s,.*/,,' "./boot/vmlinuz-$version" "${members[@]/%/.ko}"
  dpkg-deb -x "$download"/busybox-static_*.deb "$part"
  dpkg-deb -x "$download"/can-utils_*.deb "$part"
  mv "$part" "$work/$kernel"
  rm -rf "$download"
}

# Copies programs to /bin of the machine, with all their libraries.
add_programs() {
  local program library
  for program in "$@"; do
    cp -L "$program" "$work/root/bin/"
    ldd "$program" | grep -o '/[^ ]*' | while read -r library; do
      mkdir -p "$work/root$(dirname "$library")"
      cp -Lu "$library" "$work/root$library"
    done
  done
}

write_init() {
  cat <<'INIT'
#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t proc proc /proc; mount -t sysfs sysfs /sys; mount -t devtmpfs devtmpfs /dev
export PATH=/bin HOME=/tmp TAKT_CAN_TESTS=1
for module in $(cat /modules); do insmod /$module.ko || echo "no module $module"; done
for name in vcan0 vcan1 vcan2; do ip.full link add dev $name type vcan; done
ip.full link set vcan2 mtu 16
ip.full link add dev vx0 type vxcan peer name vx1
tc.full qdisc add dev vx0 root netem delay 1s limit 5
ip.full link add dev vq0 type vxcan peer name vq1  # a slow bus behind the usual queue
ip.full link set vq0 txqueuelen 10
tc.full qdisc add dev vq0 root netem rate 100kbit limit 10
for name in can0 can1; do ip.full link set $name type can bitrate 1000000 restart-ms 100 berr-reporting on; done
for name in lo vcan0 vcan1 vcan2 vx0 vx1 vq0 vq1 can0 can1; do ip.full link set $name up || echo "no interface $name"; done
result=0
for program in $(cat /programs); do
  echo "--- $program"
  $program || result=1
done
if [ -x /bin/06_can_drive ]; then  # master and drive, each in a process of its own
  06_can_drive vcan0 drive &
  06_can_drive vcan0 >/tmp/motion && tail -n 1 /tmp/motion || result=1
fi
if [ -x /bin/takt ]; then
  echo "--- takt"
  sh /bin/qemu_bus.sh /share/takt/robots/arm6.json vcan0 || result=1
fi
echo "takt-result: $result"
poweroff -f
INIT
}

make_image() {
  local kernel=$1 module
  rm -rf "$work/root"
  mkdir -p "$work"/root/{bin,proc,sys,dev,tmp}
  cp "$work/$kernel/bin/busybox" "$work/root/bin/"
  for module in "${modules[@]##*/}"; do
    cp "$work/$kernel/$module.ko" "$work/root/"
    echo "$module"
  done >"$work/root/modules"
  basename -a "${programs[@]}" >"$work/root/programs"
  add_programs "${tools[@]/#/$work/$kernel/usr/bin/}" "${programs[@]}" $([ ! -x "$example" ] || echo "$example")
  if [ -x "$takt" ]; then
    rm -rf "$work/installed"
    cmake --install build/dev --prefix "$PWD/$work/installed" >"$work/install.log"
    add_programs "$work/installed/bin/takt"
    cp -r "$work/installed/share" "$work/root/"  # the robots by name, where the program looks
    cp tests/interop/qemu_bus.sh "$work/root/bin/"
  fi
  cp -L "$(command -v ip)" "$work/ip.full"  # beside those of busybox, which know no CAN
  cp -L "$(command -v tc)" "$work/tc.full"
  add_programs "$work"/{ip,tc}.full
  write_init >"$work/root/init"
  chmod +x "$work/root/init"
  (cd "$work/root" && find . | cpio -o -H newc --quiet | gzip -1) >"$work/image.gz"
}

boot() {
  local kernel=$1
  # Without KVM: inside a virtual machine, the guest may hang in it.
  timeout 300 qemu-system-x86_64 -accel tcg -cpu max -m 512 -nographic -no-reboot -nodefaults -serial stdio \
    -object can-bus,id=bus -device kvaser_pci,canbus=bus -device kvaser_pci,canbus=bus \
    -kernel "$work/$kernel/vmlinuz-${kernel#linux-image-}" -initrd "$work/image.gz" -append "console=ttyS0 quiet panic=-1" </dev/null
}

[ "$(uname -m)" = x86_64 ] || skip "only for x86-64"
install_missing qemu-system-x86 cpio iproute2 >&2 || skip "QEMU cannot be installed"
kernel=$(apt-cache depends linux-image-amd64 2>/dev/null | sed -n 's/.*Depends: \(linux-image-[0-9].*\)/\1/p' | head -1)
[ -n "$kernel" ] || skip "no kernel package is known here"
[ -d "$work/$kernel" ] || fetch "$kernel"
make_image "$kernel"
boot "$kernel" | tr -d '\r' | tee "$work/console.log"
grep -q '^takt-result: 0$' "$work/console.log"
