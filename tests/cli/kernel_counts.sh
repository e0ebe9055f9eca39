#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What the running kernel does is counted exactly: faults by the size of folios and of fault-around.

# shellcheck source=tests/tap.sh
. "${top_srcdir:?}/tests/tap.sh"
slow_test
# shellcheck source=tests/kernel.sh
. "$top_srcdir/tests/kernel.sh"

no_huge=$(why_no_huge)
no_faultaround=$(why_no_faultaround)
kernel_is 6.17 || no_write='folios are mapped whole by one fault since Linux 6.17'

# measured NAME POINTS COMMAND...: false, with so many points skipped, where it cannot be done.
measured()
{
	local name=$1 points=$2 why

	run "${@:3}"
	why=$(why_no_uffd)
	if [ -n "$why" ]; then
		skip "$why" $((points + 1))
		return 1
	fi
	status_is 0 "$name" || return 1
	if [[ $* == *huge=[aw]* ]] &&
		jq -e 'any(.samples[]; .counters.vmstat_thp_file_fallback > 0)' "$json" >/dev/null; then
		skip 'memory is fragmented: the kernel had no huge page' "$points"
		return 1
	fi
}

# side_holds SIDE PHASES BYTES PMD NAME: in these phases, each BYTES cost the side a minor fault,
# and it cost no others; PMD is true where all was mapped by huge pages, false where nothing was.
side_holds()
{
	holds "[.samples[] | select(.side == \"$1\" and (.phase | test(\"^($2)\$\")))] | length > 0 and
		all(.[]; .bytes == 16777216 and (.counters |
			.minor_faults == 16777216 / $3 and .major_faults == 0 and
			.faults == .minor_faults and
			.pmd_mapped_bytes == if $4 then 16777216 else 0 end))" "$5"
}

writers='initial-writer|rewriter|random-writer'
readers='reader|re-reader|reverse-reader|random-reader'

# small_pages [ARGUMENT...]: pages of their own, with fault-around and without
small_pages()
{
	measured "$who: huge=never ${*:-}" 4 "${by[@]}" "$PAGEZONE" speedup -f json -q -t 1,2,4 -S 16m \
		-R 1 --baseline tmpfs:huge=never,faultaround=off --patched tmpfs:huge=never "$@" ||
		return
	side_holds baseline "$writers" 4096 false 'one at a time: 262,144 faults per GiB in writers'
	side_holds baseline "$readers" 4096 false '262,144 in readers'
	side_holds patched "$writers" 4096 false 'fault-around: 262,144 in writers'
	if [ -n "$no_faultaround" ]; then
		skip "$no_faultaround"
	else
		side_holds patched "$readers" 65536 false '16,384 in readers'
	fi
}

# large_folios [ARGUMENT...]: folios of 2 MiB, of 64 KiB, and those of 64 KiB one page at a time
large_folios()
{
	if [ -n "$no_huge" ]; then
		skip "$no_huge" 6
		return
	fi
	measured "$who: huge=always, within_size ${*:-}" 5 "${by[@]}" "$PAGEZONE" speedup -f json -q \
		-t 1,2,4 -S 16m -R 1 --baseline tmpfs:huge=within_size,write=64k,faultaround=off \
		--patched tmpfs:huge=within_size,write=64k --patched tmpfs:huge=always "$@" || return
	side_holds baseline "rewriter|random-writer|$readers" 4096 false \
		'written in folios of 64 KiB, one page at a time: 262,144 faults per GiB'
	side_holds baseline initial-writer 2097152 true 'huge pages where it is not written'
	if [ -n "${no_write:-}" ]; then
		skip "$no_write"
	else
		side_holds patched 'rewriter|random-writer' 65536 false 'a folio at a time: 16,384 in writers'
	fi
	side_holds patched2 "$writers" 2097152 true 'huge=always: 512 in writers'
	side_holds patched2 "$readers" 2097152 true 'and in readers'
}

# The published experiment, in its own size: 1 GiB in folios of 64 KiB, both its sides.
published()
{
	local side

	if [ -n "${no_write:-}$no_huge" ]; then
		skip "${no_write:-$no_huge}" 3
		return
	fi
	measured "$who: 1 GiB written in folios of 64 KiB" 2 "${by[@]}" "$PAGEZONE" speedup -f json \
		-q -t 1 -S 1g -R 1 -i rewriter \
		--baseline tmpfs:huge=within_size,write=64k,faultaround=off \
		--patched tmpfs:huge=within_size,write=64k || return
	for side in baseline:262144 patched:16384; do
		holds ".samples | any(.[]; .side == \"${side%:*}\" and
			.counters.minor_faults == ${side#*:})" "${side%:*}: ${side#*:} minor faults"
	done
}

# never against always: what the issue asks of writers
acceptance()
{
	if [ -n "$no_huge" ]; then
		skip "$no_huge" 5
		return
	fi
	measured "$who: huge=never against huge=always" 4 "${by[@]}" "$PAGEZONE" speedup -f json -q \
		--baseline tmpfs:huge=never --patched tmpfs:huge=always -t 1,2,4 -S 64m -R 1 \
		-i initial-writer,rewriter || return
	holds 'all(.samples[] | select(.side == "baseline"); .counters.minor_faults == 262144 / 16)' \
		'never: 262,144 per GiB'
	holds 'all(.samples[] | select(.side == "patched"); .counters.minor_faults == 512 / 16)' \
		'always: 512 per GiB'
	holds 'all(.samples[].counters; .user_ns + .system_ns > 0 and .vmstat_pgfault >= .faults and
		.voluntary_switches >= 0 and .involuntary_switches >= 0)' \
		'time was spent, and the machine had no fewer faults than the workers'
	holds 'all(.samples[]; .counters.pmd_mapped_bytes ==
		if .side == "patched" then .bytes else 0 end)' 'PMD-mapped: all or nothing'
}

for who in "${users[@]}"; do
	be "$who"
	why=$(why_no_tmpfs)
	if [ -n "$why" ]; then
		skip "$why"
		continue
	fi
	for arguments in '' '--workers process --layout shared' '--layout shared' '--workers process'; do
		# all of it once is enough
		[ "$who" != unprivileged ] || [[ $arguments != --layout* ]] || continue
		# shellcheck disable=SC2086
		small_pages $arguments
		# shellcheck disable=SC2086
		large_folios $arguments
	done
	[ "$who" = unprivileged ] || published
	acceptance
done

# Of each cell the faults of the round that had the fewest. Who holds the lock of a folio for a moment
# (DAMON, compaction, writeback) makes fault-around leave it out, and a fault of its own is tried again
# and counted as a major one: that only ever adds to them.
least='[.samples | group_by([.phase, .threads])[] | map(.counters.faults) | min]'

# image_counts TYPE SIZE: case 11. Folios as large as the write(2) that made them.
image_counts()
{
	local off=,faultaround=off keys why run

	why=$(why_no_image "$@")
	if [ -n "$why" ]; then
		skip "$why"
		return
	fi
	for who in "${users[@]}"; do
		be "$who"
		run=(with_image "$1" "$2" "${by[@]}" "$PAGEZONE" run -f json -q -S 64m -R 3)
		for keys in write=64k write=4k; do
			if [ -n "$no_faultaround" ]; then
				skip "$no_faultaround" 2
			elif measured "$who: $1, $keys" 1 "${run[@]}" -t 1,2 -i reader,re-reader \
				--engine "kernel:dir=$mnt,$keys"; then
				holds "$least | all(.[]; . == 1024)" '64 MiB read: 1,024 faults'
			fi
			measured "$who: $1, $keys$off" 1 "${run[@]}" -t 1,2 -i reader,re-reader \
				--engine "kernel:dir=$mnt,$keys$off" || continue
			holds "$least | all(.[]; . == 16384)" 'one at a time: 16,384 faults'
		done
		# Written through the mapping: read-ahead makes folios as large as it likes. What is
		# written back meanwhile costs writers faults more, but no reader.
		measured "$who: $1, written through the mapping" 1 "${run[@]}" -t 2 --workers process \
			-i reader,random-reader --engine "kernel:dir=$mnt$off" || continue
		holds '.samples | group_by(.phase) | all(.[]; any(.[].counters;
			.faults == 16384 - .pmd_mapped_bytes / 4096 + .pmd_mapped_bytes / 2097152))' \
			'one at a time: a fault for each page, or for each huge page'
	done
}

image_counts ext4 96m
image_counts xfs 320m
no_loop_left

done_testing
