#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# pagezone against fio --ioengine=mmap on the same tmpfs: same directory, 1 thread, SIZE (1g), 4 KiB
# records, files that are resident; ROUNDS (7) interleaved rounds. Prints the ratios of throughput,
# pagezone to fio, with quartiles against what is wanted; the status is 1 when a ratio is missed
# and CHECK=1. fio is installed where it is missing. It reads the clock twice a record, as it comes;
# FIO_OPTIONS=--gtod_reduce=1 keeps it from that.

set -eu
: "${PAGEZONE:?names the program}"
export LC_ALL=C

# In a mount namespace of its own, as a user's own root where this is not root.
if [ "${1-}" != inside ]; then
	if ! command -v fio >/dev/null; then
		echo "fio is missing: installing it"
		as_root=
		[ "$(id -u)" -eq 0 ] || as_root='sudo -n'
		$as_root apt-get install -y -q --no-install-recommends fio >/dev/null || {
			echo "fio cannot be installed: skipped"
			exit 0
		}
	fi
	user=
	[ "$(id -u)" -eq 0 ] || user=--map-root-user
	unshare $user --mount true 2>/dev/null || {
		echo "no mount namespace can be made: skipped"
		exit 0
	}
	exec unshare $user --mount bash "$0" inside
fi

tmp=$(mktemp -d)
trap 'umount "$tmp" 2>/dev/null; rm -rf "$tmp"' EXIT
rounds=${ROUNDS:-7}
: "${FIO_OPTIONS:=}"
size=${SIZE:-1g}

# pagezone_rate PHASE, fio_rate RW: kB/s of one run.
pagezone_rate()
{
	"$PAGEZONE" run --engine "kernel:dir=$tmp" -q -t 1 -S "$size" -R 1 -i "$1" -f json |
		jq '.samples[0].kb_per_s'
}

fio_rate()
{
	# shellcheck disable=SC2086 # options are words
	fio --name=bench --directory="$tmp" --filename=fio --ioengine=mmap --thread --numjobs=1 \
		--size="$size" --bs=4k --rw="$1" --invalidate=0 $FIO_OPTIONS \
		--output-format=json | jq '.jobs[0] | .read.bw + .write.bw'
}

echo "1 thread, 4 KiB records, $size, $rounds interleaved rounds, $(fio --version)"
for huge in always never; do
	mount -t tmpfs -o "huge=$huge" pagezone-bench "$tmp"
	fio_rate write >/dev/null # lays its file out
	for ((round = 0; round < rounds; round++)); do
		while read -r phase rw; do
			if ((round % 2)); then
				fio=$(fio_rate "$rw")
				pagezone=$(pagezone_rate "$phase")
			else
				pagezone=$(pagezone_rate "$phase")
				fio=$(fio_rate "$rw")
			fi
			echo "$huge $phase $rw $pagezone $fio"
		done <<-'END'
			re-reader read
			random-reader randread
			rewriter write
			random-writer randwrite
		END
	done
	umount "$tmp"
done >"$tmp.lines"
trap 'rm -rf "$tmp" "$tmp.lines"' EXIT

jq -r -R -n '
	def quantile(q): sort | .[((length - 1) * q | round)];
	[inputs | split(" ") | {huge: .[0], phase: .[1], rw: .[2], ratio: ((.[3] | tonumber) / (.[4] | tonumber))}] |
	group_by([.huge, .phase])[] |
	[.[0].huge, .[0].phase, .[0].rw,
		(map(.ratio) | quantile(0.5), quantile(0.25), quantile(0.75)),
		(if .[0].huge == "always" and .[0].phase == "random-reader" then 2 else 1 end)] |
	@tsv' "$tmp.lines" |
	awk -F '\t' -v check="${CHECK:-0}" '
	BEGIN { printf "%-12s %-14s %-10s %8s %8s %8s   %s\n", "huge=", "pagezone", "fio", "median", "p25", "p75", "wanted" }
	{
		met = $4 >= $7
		printf "%-12s %-14s %-10s %8.2f %8.2f %8.2f   >= %.2f %s\n", $1, $2, $3, $4, $5, $6, $7,
			met ? "met" : "MISSED"
		missed += !met
	}
	END { exit check && missed }'
