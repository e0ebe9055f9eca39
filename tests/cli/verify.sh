#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# --verify: nothing is found where nothing is wrong, on all engines; what somebody else writes into
# files or page frames is found, named, and voids the cell.

# shellcheck source=tests/tap.sh
. "${top_srcdir:?}/tests/tap.sh"
slow_test
# shellcheck source=tests/kernel.sh
. "$top_srcdir/tests/kernel.sh"

# ---- what is right ----

# right NAME ARGUMENT...: no cell is void, and the result is marked.
right()
{
	local name=$1

	shift
	run "${by[@]}" "$PAGEZONE" run --verify -q -t 1,2,3 -R 2 -f json "$@"
	if [ "$status" -eq 0 ] && [ -z "$err" ] && jq -e '.parameters.verify == true and
		(.samples | length == 42 and all(.failure == null))' "$json" >/dev/null; then
		pass "$name"
	else
		fail "$name" "status $status"$'\n'"$err"
	fi
}

# Each set-up with shares and records that meet no border of a page, and with one more of these.
sizes=('-r 1 -S 10001' '-r 7 -S 50001' '-r 33 -s 10000' '-r 4k -S 3' '-r 64k -s 100001'
	'-r 8m -s 1000001')
nr=0
be "${users[-1]}"
no_tmpfs=$(why_no_tmpfs)
run "$PAGEZONE" run --engine cache:batch=1,map=uffd -q -t 1 -S 4k -R 1 -i 0
no_uffd=
[ "$status" -eq 0 ] || no_uffd=$err
for spec in cache:batch=1 cache:batch=64 cache:batch=8,map=uffd memory "kernel:dir=$mnt" \
	"kernel:dir=$mnt,write=64k" tmpfs:huge=never tmpfs:huge=always,populate=16 \
	tmpfs:huge=never,write=4k; do
	for set_up in 'private thread' 'shared thread' 'private process' 'shared process'; do
		read -r layout workers <<<"$set_up"
		[[ $workers = thread || $spec = [kt]* ]] || continue
		why=
		[[ $spec != tmpfs* ]] || why=$no_tmpfs
		[[ $spec != *uffd ]] || why=$no_uffd
		if [ -n "$why" ]; then
			skip "$why" 2
			continue
		fi
		for size in '-r 5000 -S 1000001' "${sizes[nr++ % ${#sizes[@]}]}"; do
			# shellcheck disable=SC2086 # words
			right "$spec, $set_up, $size" --engine "$spec" --layout "$layout" \
				--workers "$workers" $size
		done
	done
done

# ---- how it is marked ----

run "$PAGEZONE" speedup --verify --limit -q -t 1,2 -S 1m -R 1
status_is 0 'speedup --verify --limit'
like "$out" $'\nverified: +every record checked; figures include that\n' 'the header says so'
run "$PAGEZONE" speedup -q -t 1 -S 1m -R 1
unlike "$out" 'verified' 'and only then'
run "$PAGEZONE" run --engine memory -q -t 1 -S 1m -R 1 -f json
ok 'JSON has no such key without it' jq -e '.parameters | has("verify") | not' "$json"
"$PAGEZONE" run --engine memory -q -t 1 -S 1m -R 1 -f csv | head -n 1 >"$tmp/plain"
is "$("$PAGEZONE" run --engine memory --verify -q -t 1 -S 1m -R 1 -f csv | head -n 1)" \
	"$(cat "$tmp/plain")" 'CSV has the same columns'

# ---- what does not go with it ----

run "$PAGEZONE" run --engine null --verify -q -t 1 -S 1m
status_is 2 'null moves nothing that could be checked: status 2'
like "$err" '--verify.*null' 'it says why'
run "$PAGEZONE" speedup --verify --patched null -q -t 1 -S 1m
status_is 2 'nor as one of several sides'
run "$PAGEZONE" truncate --verify
status_is 2 'truncate has no such option'
run "$PAGEZONE" run --engine memory --verify=yes -t 1 -S 1m
status_is 2 'it takes no argument'

# ---- what is wrong ----

# A word is written where it does not belong, again and again until the run ends: sooner or later
# that is between the store and the load. A void cell is not measured again, so that it does end.
word=corrupted
hex=$(printf %s "$word" | od -An -tx1 | tr -d ' \n')

# put FILE OFFSET
put()
{
	printf %s "$word" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none 2>/dev/null
}

# last_file PID WHERE: of those that it has there; nothing when it has none.
last_file()
{
	local fd last=-1

	while read -r fd; do
		[ "$fd" -lt "$last" ] || last=$fd
	done < <(find "/proc/$1/fd" -lname "*$2*(deleted)" -printf '%f\n' 2>/dev/null)
	[ "$last" -lt 0 ] || echo "/proc/$1/fd/$last"
}

# corrupt_file PID WHERE: at byte $at of its last file there.
at=1000003
corrupt_file()
{
	local file

	file=$(last_file "$1" "$2")
	[ -z "$file" ] || put "$file" "$at"
}

# age_file PID WHERE: gives it back the record 244 that it had the last time, and takes the one it has.
age_file()
{
	local file

	file=$(last_file "$1" "$2")
	[ -n "$file" ] || return
	dd if="$file" of="$tmp/new" bs=4096 skip=244 count=1 status=none 2>/dev/null
	[ ! -s "$tmp/old" ] || dd if="$tmp/old" of="$file" bs=4096 seek=244 conv=notrunc \
		status=none 2>/dev/null
	[ ! -e "$tmp/new" ] || mv "$tmp/new" "$tmp/old"
}

# corrupt_frames PID: in the middle of its largest private mapping.
corrupt_frames()
{
	local range perms rest start end most=0 at=0

	while read -r range perms rest; do
		[[ $range =~ ^[0-9a-f]+-[0-9a-f]+$ ]] || continue
		start=$((16#${range%-*})) end=$((16#${range#*-}))
		[[ $perms == rw?p && $((end - start)) -gt $most ]] || continue
		most=$((end - start)) at=$(((start + end) / 2 + 1003))
	done 2>/dev/null <"/proc/$1/maps"
	[ "$most" -lt 16777216 ] || put "/proc/$1/mem" "$at"
}

# corrupted HOW WHERE ARGUMENT...: the run, with its $status and $err.
corrupted()
{
	local how=$1 where=$2 pid child=

	shift 2
	timeout 120 "$PAGEZONE" run --verify -q -S 32m -R 10000 -f json "$@" \
		>"$tmp/.out" 2>"$tmp/.err" </dev/null &
	pid=$!
	while kill -0 "$pid" 2>/dev/null; do
		[ -n "$child" ] || child=$(pgrep -P "$pid") # of timeout
		[ -z "$child" ] || "$how" "$child" "$where"
		sleep 0.003
	done
	wait "$pid"
	status=$?
	err=$(cat "$tmp/.err")
}

# found FILE OFFSET: what the message of the last run must have. The first byte of the word may be
# right by chance.
found()
{
	local what="expected [0-9a-f]{32}, found [0-9a-f]*${hex:4}[0-9a-f]* \(record [0-9]+, byte"

	status_is 3 'status 3'
	like "$err" "run, [a-z-]*er, -t [0-9]: no figure: .*worker [0-9]: $1, offset $2: $what" \
		'file, offset, what was expected and what was found'
	ok 'a void cell' jq -e 'any(.cells[]; .kb_per_s == null) and
		any(.samples[]; .failure != null and .kb_per_s == null)' "$json"
}

if ! command -v pgrep >/dev/null; then
	skip 'pgrep is not installed' 23
	done_testing
fi

# A mount of its own is not needed: files have no name. /dev/shm is a tmpfs nearly everywhere.
dir=$mnt
[ "$(stat -f -c %T /dev/shm 2>/dev/null)" != tmpfs ] || dir=/dev/shm
corrupted corrupt_file "$dir" --engine "kernel:dir=$dir" -t 2 -i initial-writer
found "file 1 in $dir" '100000[3-5]'
like "$err" 'initial-writer, -t 2: no figure: read back at the end' \
	'what nobody loads any more is found at the end, and voids the writer'
at=20000003
corrupted corrupt_file "$dir" --engine "kernel:dir=$dir" -t 2 -i random-writer,random-reader \
	--layout shared --workers process
found "file 0 in $dir" '2000000[3-5]'
like "$err" 'worker 1: .* \(record 4882, ' 'the number of the record is that in the file'
at=1000003
corrupted corrupt_file "$dir" --engine "kernel:dir=$dir,write=64k" -t 1 -i reverse-reader
found "file 0 in $dir" '100000[3-5]'
corrupted age_file "$dir" --engine "kernel:dir=$dir" -t 1 -i rewriter,random-writer,reader
status_is 3 'a record of an earlier pass: status 3'
like "$err" 'pass ([0-9]+)\); that is the whole record 244 of file 0, pass ([0-9]+)' \
	'it is recognised'
ok 'as one of an earlier pass' test "${BASH_REMATCH[1]:-0}" -gt "${BASH_REMATCH[2]:-0}"
corrupted corrupt_file memfd: --engine cache:batch=8,map=uffd -t 1 -i rewriter,reader
if [ -n "$no_uffd" ]; then
	skip "$no_uffd" 3
else
	found 'file 0' '[0-9]+'
fi

# Another process's memory is not everybody's to write to.
sleep 5 &
if dd if="/proc/$!/mem" of=/dev/null bs=1 count=0 status=none 2>/dev/null &&
	[[ $("$PAGEZONE" --version; nm -D "$PAGEZONE" 2>/dev/null) != *san_* ]]; then
	corrupted corrupt_frames '' --engine cache:batch=8 -t 1 -i initial-writer,reader
	found 'file 0' '[0-9]+'
	corrupted corrupt_frames '' --engine memory -t 1 -i reader
	found 'file 0' '[0-9]+'
else
	skip 'the memory of another process cannot be written to, or a sanitizer has the largest part' 6
fi

done_testing
