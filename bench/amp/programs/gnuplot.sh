#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Plots of a large file with several series, each of which reads all of it
# again, and of two smaller ones that are read once or twice.
#
# hipec: packages gnuplot-nox
# hipec: claim loops over a large file, others read once

set -eu
export LC_ALL=C

numbers()	# LINES SEED
{
	awk -v n="$1" -v x="$2" 'BEGIN {
		for (i = 0; i < n; i++) {
			x = (69069 * x + 1) % 2147483648
			printf "%d %d %.4f %.4f %.4f %.4f\n", i, x,
				sin(i / 1e4), cos(i / 3e4),
				x / 2147483648, i * (x % 97) / n
		}
	}'
}

prepare()
{
	numbers 600000 1 >large
	numbers 100000 2 >middle
	numbers 60000 3 >small
}

run()
{
	gnuplot <<-'EOF'
	set terminal dumb 100 40
	set output '/dev/null'
	plot 'middle' using 1:3 with dots, 'small' using 1:2 with dots
	plot 'large' using 1:2 with dots, 'large' using 1:3 with dots, \
		'large' using 1:4 with dots
	plot 'small' using 1:6 with dots
	plot 'large' using 1:5 with dots, 'large' using 1:6 with dots, \
		'middle' using 1:5 with dots
	stats 'large' using 3 nooutput
	plot 'large' using 1:($3 - STATS_mean) with dots
	EOF
}

"$1"
