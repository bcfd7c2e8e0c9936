# SPDX-License-Identifier: GPL-2.0-only
#
# What test_native.py has the guest do: files of the VM, random policies and the shipped
# ones in native code, in all ways that the kernel makes it. /results/native has a line for
# each part: WHAT STATUS.

slower=${HIPEC_SLOWER:-1}
part()	# WHAT COMMAND...
{
	what=$1
	shift
	"$@" >"/results/$what.txt" 2>&1
	echo "$what $?" >>/results/native
}

# A kernel without a network has no switch for it.
harden_file=/proc/sys/net/core/bpf_jit_harden
for harden in 0 1 2; do
	[ $harden = 0 ] || [ -e $harden_file ] || continue
	[ ! -e $harden_file ] || echo $harden >$harden_file
	insmod /hipec/hipec_vmtest.ko jit=on || exit 1
	part "hpt-$harden" hpt --module /hipec/vm/*.hpt
	part "differ-$harden" differ --module $((1 + harden * 10000)) \
		$((10000 / slower / (1 + 9 * (harden > 0))))
	rmmod hipec_vmtest
done
[ ! -e $harden_file ] || echo 0 >$harden_file
insmod /hipec/hipec_vmtest.ko jit=on || exit 1
for policy in /hipec/policies/*.hpo; do
	part "policy-$(basename "$policy" .hpo)" differ --module --image "$policy" 1 $((30 / slower))
done
rmmod hipec_vmtest
insmod /hipec/hipec.ko pool_mb=2 backoff_ms=0 others_us=10000 || exit 1
tests=$(hipec-guest-test --list | grep ^native_)
[ -e $harden_file ] || tests=$(echo "$tests" | grep -v -e hardened -e not_needed)
# shellcheck disable=SC2086 # names
part tests hipec-guest-test $tests
# The module's tests of data once more, all policies in native code: in ring long.
echo on >/sys/module/hipec/parameters/jit
# shellcheck disable=SC2046 # names
case $(uname -r) in
6.1.*) part all hipec-guest-test $(hipec-guest-test --list-data) ;;
esac
rmmod hipec
echo "rmmod $?" >>/results/native
export HIPEC_JIT=on
sh /hipec/stress.sh stress --seconds $((slower > 1 ? 40 : 20)) --seed 3 &&
	sh /hipec/hostile.sh 20 2
