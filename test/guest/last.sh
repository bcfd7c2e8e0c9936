# SPDX-License-Identifier: GPL-2.0-only
#
# What a kernel of our own has to say when all is done and the modules are gone:
# memory that nobody has a pointer to, and which lines ran.

leaks=/sys/kernel/debug/kmemleak
if [ -f $leaks ]; then
	# Blocks younger than five seconds are not looked at, and one whose
	# contents have changed since the last scan gets another chance.
	sleep 6
	echo scan >$leaks
	echo scan >$leaks
	cat $leaks >/results/kmemleak.txt
fi

cd /sys/kernel/debug/gcov || exit
find . -name '*.gcda' | while read -r file; do
	mkdir -p "/results/gcov/${file%/*}"
	# Their size is not known before they are read.
	cat "$file" >"/results/gcov/$file"
done
