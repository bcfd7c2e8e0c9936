# SPDX-License-Identifier: GPL-2.0-only
#
# What test_random.py has the guest do: long random runs, from fixed seeds.

slower=${HIPEC_SLOWER:-1}
insmod /hipec/hipec_vmtest.ko || exit 1
differ --module 2 $((6000 / slower)) >/results/differ.txt 2>&1
rmmod hipec_vmtest

# With allocations that fail where the kernel can do that.
inject=
[ ! -d /sys/kernel/debug/failslab ] || inject=--inject
sh /hipec/stress.sh stress --seconds $((slower > 1 ? 80 : 40)) --seed 1 $inject
sh /hipec/stress.sh roomy --seconds $((slower > 1 ? 20 : 10)) --seed 2 --roomy $inject
sh /hipec/hostile.sh 20 1
