#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# check_in.sh SUITE TARGET: a fresh Debian of release SUITE in ROOTS/hq-debian-SUITE (debootstrap, kept for the next time;
# ROOTS is /var/tmp if it is not set, and no place below this tree, which tests walk through), a clone of the last commit
# in it, and there `make deps && make && make TARGET` as a user would. Needs root; the mounts are of this process and its
# children alone, and end with them, however that is. MIRROR and APT_DIR (a directory laid over /etc/apt) say where packages come from, JOBS how many
# processes build.
set -euo pipefail
suite=$1 target=$2 root=${ROOTS:-/var/tmp}/hq-debian-$1
[ "$(id -u)" = 0 ] || { echo "make check-in: another system is made by debootstrap and chroot, which need root" >&2; exit 2; }
[ -n "${HQ_OWN_MOUNTS:-}" ] || exec env HQ_OWN_MOUNTS=1 unshare --mount --propagation private "$0" "$@"
command -v debootstrap >/dev/null || { echo "make check-in: debootstrap is missing: apt-get install debootstrap" >&2; exit 2; }
if [ ! -e "$root/.whole" ]; then
    rm -rf "$root"
    debootstrap --variant=minbase "$suite" "$root" ${MIRROR:+"$MIRROR"}
    [ -z "${APT_DIR:-}" ] || cp -rL "$APT_DIR/." "$root/etc/apt/"
    touch "$root/.whole"
fi
for place in dev dev/pts dev/shm; do mount --bind "/$place" "$root/$place"; done
mount -t proc proc "$root/proc"
mount -t sysfs sysfs "$root/sys"
cp -L /etc/resolv.conf "$root/etc/resolv.conf"
rm -rf "$root/hq"
git clone -q . "$root/hq"
# A directory for temporary files that is set outside is not there.
chroot "$root" env -u TMPDIR sh -c "apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends git gcc make ca-certificates &&
    cd /hq && git config --global --add safe.directory /hq && make deps && make -j${JOBS:-$(nproc)} && make -j${JOBS:-$(nproc)} $target"
