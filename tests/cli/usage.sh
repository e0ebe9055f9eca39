#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What is refused: status 2, one line that names the argument, nothing measured.

# shellcheck source=tests/tap.sh
. "${top_srcdir:?}/tests/tap.sh"

for threads in 0 -1 257 1000000 1,,2 '' '1,2,' 4-1 x 1..; do
	refuses "-t $threads" speedup -t "$threads"
done
for size in 12x 1e9 0.5g '' -1 0 ' 4k' 8Gi 0x10 99999999999999999999 99999999t; do
	refuses "-s $size" speedup -s "$size"
	refuses "-S $size" speedup -S "$size"
	refuses "-r $size" speedup -r "$size"
done
refuses "writer" speedup -i writer
refuses "'4'" speedup -i 0,4
refuses "-R 0" speedup -R 0
refuses "-R 1x" run --engine null -R 1x
refuses "--seed -1" speedup --seed -1
refuses "batch=3: batch" speedup --patched cache:batch=3
refuses "'frames'" speedup --patched cache:batch=1,frames=1g
refuses "'nothing'" speedup --baseline nothing
refuses "there is one baseline" speedup --baseline null --baseline null
refuses "--layout public" speedup --layout public
refuses "--workers process" speedup --workers process
refuses "--pin diagonal" speedup --pin diagonal
refuses "--mem far" speedup --mem far
refuses "--per hour" speedup --per hour
refuses "-f xml" speedup -f xml
refuses "-o" speedup -o ''
refuses "-s is for each" speedup -s 1m -S 2m
refuses "unexpected argument 'now'" speedup now
refuses "--min-speedup" speedup --min-speedup x
refuses "'typo'" speedup --quick --min-speedup 1.5:typo
refuses "with -t 3" speedup --quick -t 1 --min-speedup 1.5:reader@3
refuses "--engine" run
refuses "'speedups'" speedups
refuses "no such" topology --topology "no such machine"
refuses "-t 0" topology -t 0
refuses "--pin up" topology --pin up
for pin in node: cpus: cpus:x cpus:-1 cpus:0- cpus:1-0 cpus:0,,1 'cpus:0 1' cpus:0-3:0 \
	cpus:0-7:3/2 cpus:4294967296 cpus:0-99999999 node:0x; do
	refuses "--pin $pin" topology --pin "$pin"
	refuses "--pin $pin" truncate --pin "$pin"
done
refuses "CPU 999999 does not exist; allowed are" speedup --pin cpus:999999
refuses "node 999999 does not exist; allowed are" run --engine null --pin node:999999
refuses "-f csv" topology -f csv

refuses "slow=0" run --engine memory:slow=0
refuses "slow=x" run --engine memory:slow=x

run "$PAGEZONE"
status_is 2 'no command: status 2'
like "$err" 'Usage: pagezone' 'and the usage on standard error'
run "$PAGEZONE" speedup --nonsense
status_is 2 'an unknown option: status 2'
like "$err" "nonsense" 'that names it'

for words in '' speedup run truncate compare import plot topology; do
	# shellcheck disable=SC2086 # one word or none
	run "$PAGEZONE" $words --help
	status_is 0 "$words --help: status 0"
	like "$out" 'Usage: pagezone' 'its usage'
	# shellcheck disable=SC2086
	run "$PAGEZONE" $words --usage
	status_is 0 "$words --usage: status 0"
	# shellcheck disable=SC2086
	run "$PAGEZONE" $words --version
	status_is 0 "$words --version: status 0"
	like "$out" '^pagezone [0-9]' 'its version'
done
run "$PAGEZONE" --help
like "$out" 'speedup .*run .*truncate .*compare .*topology ' 'the commands stand in --help'

done_testing
