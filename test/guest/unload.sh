# SPDX-License-Identifier: GPL-2.0-only
#
# Unload the module again and again while programs come and go: until it went ten
# times and stayed ten times. busy.txt has each; programs may meet no device.

insmod /hipec/hipec.ko pool_mb=2 || exit 1
cd /data || exit 1
touch /tmp/busy
while [ -e /tmp/busy ]; do
	sweep --policy /hipec/policies/mru.hpo --frames 64 --passes 1 outer
	hipec status
	cat /sys/kernel/debug/hipec/*/status
done >/dev/null 2>&1 &
went=0 stayed=0
while [ $went -lt 10 ] || [ $stayed -lt 10 ]; do
	if rmmod hipec 2>/dev/null; then
		echo unloaded
		went=$((went + 1))
		insmod /hipec/hipec.ko pool_mb=2 || break
	else
		echo in use
		stayed=$((stayed + 1))
		sleep .1
	fi
done >/results/busy.txt
rm /tmp/busy
wait
rmmod hipec
