#!/bin/bash
# build.sh FOLDER: one disk image, kernel and initramfs for all guests, from Debian's own packages; needs root and a
# Debian host. About a minute. Skipped by the caller when the folder holds an image of this very script.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
mkdir -p "$1"
cd "$1"
export DEBIAN_FRONTEND=noninteractive
packages=systemd-sysv,dbus,libpam-systemd,udev,kmod,procps,iproute2,openssh-server,nfs-common,nfs-kernel-server,rdma-core
packages+=,ibverbs-utils,perftest,iputils-ping,busybox-static,util-linux-extra,ethtool,docker.io,iptables,ca-certificates
release=$(. /etc/os-release; echo "$VERSION_CODENAME")
mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' "Codename: $release" 'Component: main' | head -1)
image=$(apt-cache depends linux-image-amd64 | awk '/Depends:/ { print $2; exit }')

[ -f rootfs.tar ] || mmdebstrap --quiet --variant=minbase --include=$packages \
  --aptopt='Apt::Install-Recommends "false"' --dpkgopt='path-exclude=/usr/share/doc/*' \
  --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' "$release" rootfs.tar "$mirror"
[ -d kernel ] || { apt-get -qq download "$image"; dpkg -x linux-image-*.deb kernel; }
version=$(ls kernel/lib/modules)
cp "kernel/boot/vmlinuz-$version" vmlinuz
rm -rf root initramfs
mkdir root initramfs
tar -xf rootfs.tar -C root

# Only the modules that the guests use, with what they depend on. rxe's crc32 is loaded by name and is no dependency.
depmod -b kernel "$version"
modules="virtio_pci virtio_blk virtio_net virtio_rng ext4 overlay loop veth bridge br_netfilter
nfs nfsv3 nfsv4 nfsd rdma_rxe ib_uverbs ib_umad rdma_ucm rdma_cm crc32_generic crc32c_generic sch_netem
ip_tables iptable_nat iptable_filter ip6_tables nf_tables nft_compat nft_chain_nat nf_nat xt_conntrack xt_addrtype
xt_MASQUERADE xt_nat xt_mark xt_comment xt_tcpudp ipt_REJECT"
paths() { for m in "$@"; do modprobe -d "$PWD/kernel" -S "$version" --show-depends "$m" 2>/dev/null || true; done |
  awk '$1 == "insmod" && !seen[$2]++ { print $2 }'; }
paths $modules | while read -r file; do
  to=root/usr/${file#"$PWD"/kernel/}
  mkdir -p "$(dirname "$to")"
  cp "$file" "$to"
done
cp kernel/lib/modules/"$version"/modules.{builtin,builtin.modinfo,order} "root/usr/lib/modules/$version/"
depmod -b root/usr "$version" 2>/dev/null || depmod -b root "$version"

[ -f id ] || ssh-keygen -q -t ed25519 -N '' -C test-guest -f id
mkdir -p root/root/.ssh root/export root/mnt/nas root/data
cp id.pub root/root/.ssh/authorized_keys
chmod 700 root/root/.ssh
chroot root useradd -m -s /bin/bash op
mkdir -p root/home/op/.ssh
cp id.pub root/home/op/.ssh/authorized_keys
chroot root chown -R op:op /home/op
chroot root usermod -aG docker,adm op
rm -f root/etc/ssh/ssh_host_*
ssh-keygen -q -t ed25519 -N '' -C '' -f root/etc/ssh/ssh_host_ed25519_key
cp root/etc/ssh/ssh_host_ed25519_key.pub host.pub
printf 'UseDNS no\nUsePAM yes\n' >root/etc/ssh/sshd_config.d/guest.conf
echo '/dev/vda / ext4 noatime 0 0' >root/etc/fstab
install -m 755 "$here/guest" root/usr/local/sbin/guest
cat >root/etc/systemd/system/guest.service <<'UNIT'
[Unit]
DefaultDependencies=no
After=systemd-remount-fs.service systemd-udevd.service
Wants=systemd-udevd.service
Before=network-pre.target network.target ssh.service
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/usr/local/sbin/guest
[Install]
WantedBy=sysinit.target
UNIT
printf '127.0.0.1 localhost\n10.99.1.10 nas\n10.99.1.11 spark1\n10.99.1.12 spark2\n' >root/etc/hosts
mkdir -p root/etc/systemd/system.conf.d root/etc/systemd/journald.conf.d root/etc/systemd/system/nfs-server.service.d
printf '[Manager]\nDefaultTimeoutStartSec=180s\n' >root/etc/systemd/system.conf.d/guest.conf
printf '[Journal]\nStorage=volatile\nRuntimeMaxUse=16M\n' >root/etc/systemd/journald.conf.d/guest.conf
echo '/export 10.99.1.0/24(rw,no_root_squash,no_subtree_check,sync,fsid=1)' >root/etc/exports
chroot root systemctl -q enable guest.service ssh.service
chroot root systemctl -q disable nfs-server docker.service docker.socket containerd 2>/dev/null || true
for unit in getty@tty1.service getty-static.service console-getty.service serial-getty@ttyS0.service getty.target \
  modprobe@drm.service systemd-udev-settle.service systemd-timesyncd.service systemd-random-seed.service \
  systemd-update-utmp.service systemd-hwdb-update.service apt-daily.timer apt-daily-upgrade.timer fstrim.timer \
  dpkg-db-backup.timer e2scrub_all.timer e2scrub_reap.service nfs-utils.service rdma-ndd.service; do
  ln -sf /dev/null "root/etc/systemd/system/$unit"
done
: >root/etc/resolv.conf
: >root/etc/machine-id
rm -f root/var/lib/dbus/machine-id root/etc/apt/apt.conf.d/*proxy*

mkdir -p initramfs/{bin,modules,dev,proc,sys,new}
cp root/bin/busybox initramfs/bin/
paths virtio_pci virtio_blk ext4 crc32c_generic | while read -r file; do
  cp "$file" initramfs/modules/
  basename "$file" >>initramfs/order
done
cat >initramfs/init <<'INIT'
#!/bin/busybox sh
b=/bin/busybox
$b mount -t devtmpfs d /dev; $b mount -t proc p /proc; $b mount -t sysfs s /sys
while read m; do $b insmod /modules/$m; done </order
i=0; while [ ! -b /dev/vda ] && [ $i -lt 200 ]; do $b usleep 50000; i=$((i + 1)); done
$b mount -t ext4 -o noatime /dev/vda /new || exec $b sh
$b mount -o move /dev /new/dev; $b umount /proc /sys
exec $b switch_root /new /sbin/init
INIT
chmod +x initramfs/init
(cd initramfs && find . | cpio -o -H newc --quiet | gzip -1) >initrd.gz

rm -f base.raw
truncate -s 3G base.raw
mke2fs -q -t ext4 -O ^metadata_csum -E lazy_itable_init=1,lazy_journal_init=1 -d root base.raw
qemu-img convert -O qcow2 base.raw base.new
rm -rf base.raw root initramfs
mv base.new base.qcow2
