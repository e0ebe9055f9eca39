#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# --mem, and that where pages and workers are is looked at: on whatever machine this is. Those with
# several nodes are what tests/numa is for.

# shellcheck source=tests/tap.sh
. "${top_srcdir:?}/tests/tap.sh"
command -v jq >/dev/null || skip_all 'jq is not installed'
deny=${top_builddir:?}/tests/deny
small=(-q -R 1 -S 8m -i 'initial-writer,reader' -o "$tmp/r.json")
tables=(-R 1 -S 4m -i reader -o "$tmp/r.json")

# forbidden: seccomp filters can be had.
forbidden()
{
	[ -x "$deny" ] || return
	"$deny" write=EIO -- true
	[ $? -ne 77 ]
}

node=$("$PAGEZONE" topology -t 1 -f json | jq .workers[0].node)
one_node=$("$PAGEZONE" topology -t 1 -f json | jq '.nodes | length == 1')

# The kernel forbids it here already: nothing to be seen.
checked=$(run "$PAGEZONE" run --engine memory -t 1 "${small[@]}"
	jq '.samples[0].counters | has("pages_sampled")' "$tmp/r.json")
[ "$checked" = true ] || skip_all 'move_pages is forbidden here'

for mem in local interleave "bind:$node" none; do
	run "$PAGEZONE" speedup -t 1,2 --limit --mem "$mem" "${small[@]}"
	status_is 0 "--mem $mem"
	holds ".parameters.mem == \"$mem\"" 'is kept as given'
	# 8 MiB are 2048 pages; two workers have 1024 each.
	holds 'all(.samples[]; .counters.pages_sampled == 1024 * .threads)' \
		'a thousand pages of each worker are looked at'
	holds 'all(.samples[].counters; ([.pages_by_node[].pages] | add) == .pages_sampled)' \
		'each is on a node'
	holds 'all(.samples[].workers[]; .cpu == .cpu_start and .cpu == .cpu_end)' \
		'workers are where they are planned'
	if [ "$mem" = none ]; then
		holds 'all(.samples[].counters; has("pages_as_asked") | not)' 'nothing was asked for'
	else
		holds 'all(.samples[].counters; .pages_as_asked == .pages_sampled)' 'all is as asked'
	fi
	if [ "$one_node" = true ]; then
		holds 'all(.samples[].counters; .pages_local == .pages_sampled)' 'and local'
	else
		skip 'several nodes'
	fi
done

run "$PAGEZONE" run --engine cache:batch=8 -t 2 "${tables[@]}"
like "$out" $'\npages local: 100 % of 1024 looked at\n' 'below the tables: pages'
like "$out" $'\non the planned CPU: 100 % of 2 workers\' loops' 'and workers'
run "$PAGEZONE" run --engine cache:batch=8 -t 2 -f markdown "${tables[@]}"
like "$out" $'\n- pages local: 100 % of 1024 looked at\n' 'in Markdown, too'
run "$PAGEZONE" run --engine cache:batch=8 -t 2 -f csv "${tables[@]}"
like "$out" 'pages_sampled,pages_local,pages_as_asked'$'\n''reader,2,run,.*,1024,1024,1024$' 'and as CSV'
run "$PAGEZONE" run --engine cache:batch=8 -t 2 --pin none "${tables[@]}"
like "$out" 'pages local: ' 'not pinned: pages'
unlike "$out" 'planned CPU' 'but no plan'
holds 'all(.samples[].workers[]; .cpu == null and .cpu_start >= 0)' 'CPUs are told nevertheless'
run "$PAGEZONE" run --engine cache:batch=8 -t 2 "${tables[@]}"
cp "$tmp/r.json" "$tmp/pinned.json"
run "$PAGEZONE" run --engine null -t 2 "${tables[@]}"
run "$PAGEZONE" compare "$tmp/pinned.json" "$tmp/r.json"
like "$out" $'\npages local: baseline 100 % of 1024 looked at\n' \
	'compare has them of both sides, and says whose they are'
like "$out" $'\non the planned CPU: 100 % of 4 workers\' loops' 'and workers'
run "$PAGEZONE" compare -f markdown "$tmp/pinned.json" "$tmp/r.json"
like "$out" $'\n- pages local: baseline 100 % of 1024 looked at\n' 'in Markdown, too'
run "$PAGEZONE" run --engine null -t 1 "${tables[@]}"
like "$out" $'\non the planned CPU: 100 % of 1 worker\'s loop, at start and end' 'one of them is one'
run "$PAGEZONE" run --engine null -t 2 "${tables[@]}"
holds 'all(.samples[].counters; has("pages_sampled") | not)' 'an engine without pages has no figure'

if [ "$one_node" = true ]; then
	run "$PAGEZONE" run --engine cache:batch=1 -t 2 --mem remote "${tables[@]}"
	status_is 0 'remote on one node goes on'
	like "$err" 'warning: there is one node: --mem remote is local' 'and says what it is'
	holds '.warnings == ["there is one node: --mem remote is local"]' 'also in the result'
	is "$(grep -c 'pages ' <<<"$out")" 1 'below the tables as short as local'
else
	skip 'several nodes' 4
fi

# Files of a tmpfs and of others, written and stored to, shared, in processes, truncated.
run "$PAGEZONE" run --engine tmpfs:huge=never -t 1 -q -S 64k -R 1 -i reader
tmpfs=$status
disk=${TMPDIR:-/var/tmp}
for engine in tmpfs:huge=never tmpfs:huge=never,write=64k tmpfs:huge=always \
	"kernel:dir=$disk" "kernel:dir=$disk,write=64k"; do
	if [[ $engine = tmpfs* && $tmpfs -ne 0 ]]; then
		skip 'no tmpfs can be mounted' 6
		continue
	fi
	for mem in local interleave "bind:$node"; do
		run "$PAGEZONE" run --engine "$engine" -t 2 --mem "$mem" "${small[@]}" \
			--layout shared --workers process
		status_is 0 "$engine --mem $mem, one file, processes"
		holds 'all(.samples[].counters; .pages_sampled == 2048 and .pages_as_asked == 2048) and
			(has("warnings") | not)' 'its pages are looked at, and as asked'
	done
done
truncate=(truncate -q -t 2 --count 3 --runs 2 --pages 100 -o "$tmp/r.json")
for engine in cache:batch=1 cache:batch=512,map=uffd tmpfs:huge=never tmpfs:huge=never,write=64k; do
	for mapped in yes no; do
		run "$PAGEZONE" "${truncate[@]}" --baseline "$engine" --patched "$engine" \
			--mem "bind:$node" --mapped "$mapped"
		if [ "$status" -eq 3 ]; then
			skip "$err" 2
			continue
		fi
		status_is 0 "truncate $engine, mapped: $mapped"
		holds 'all(.samples[].counters; .pages_sampled == 200 and .pages_as_asked == 200)' \
			'pages are looked at'
	done
done

for mem in '' far bind bind: bind:x 'bind:0,' bind:-1 bind:1-0 bind:99999999999; do
	refuses "--mem $mem: " speedup --mem "$mem"
done
refuses "--mem bind:$node,999: node 999 does not exist; allowed are " run --engine null \
	--mem "bind:$node,999"
refuses '--mem bind:999: node 999 does not exist' truncate --mem bind:999
refuses '--mem remote: with --pin none' run --engine null --mem remote --pin none
run "$PAGEZONE" run --engine cache:batch=1 -t 1 -S 1t --mem "bind:$node"
status_is 3 'more than a machine has is no mistake of --mem'

# Where the kernel forbids it: a reason, and the run goes on.
if forbidden; then
	for error in EPERM ENOSYS; do
		run "$deny" "mbind=$error" -- "$PAGEZONE" run --engine cache:batch=1 -t 2 "${tables[@]}"
		status_is 0 "mbind is $error: goes on"
		like "$err" 'page frames could not be placed as --mem local asks \(mbind: ' 'with the reason'
		holds '.samples[0].counters.pages_sampled == 1024' 'and looks where pages are'
		run "$deny" "move_pages=$error" -- "$PAGEZONE" run --engine cache:batch=1 -t 2 "${tables[@]}"
		status_is 0 "move_pages is $error: goes on"
		like "$err" 'where pages lie is not checked: .*\(move_pages: ' 'with the reason'
		is "$(grep -c 'not checked' <<<"$err")" 1 'once'
		holds 'all(.samples[].counters; keys | all(startswith("pages_s") or startswith("pages_l") or startswith("pages_b") | not))' \
			'without figures'
		unlike "$out" 'pages local' 'nor a line'
		like "$out" 'on the planned CPU: 100 %' 'but for the workers'
		run "$deny" "set_mempolicy=$error" -- "$PAGEZONE" run --engine "kernel:dir=$disk" \
			--workers process -t 2 "${tables[@]}"
		status_is 0 "set_mempolicy is $error: goes on"
		case $(stat -f -c %T "$disk") in
		tmpfs) skip 'all of it is tmpfs' ;;
		*) like "$err" 'files could not be placed as --mem local asks \(set_mempolicy: ' 'with the reason' ;;
		esac
		if [ "$tmpfs" -eq 0 ]; then
			run "$deny" "mbind=$error" -- "$PAGEZONE" run --engine tmpfs:huge=never -t 2 \
				"${tables[@]}"
			status_is 0 "mbind is $error, of files: goes on"
			like "$err" 'run: pages of its files could not be placed as --mem local asks \(mbind: ' \
				'with the reason'
		else
			skip 'no tmpfs can be mounted' 2
		fi
	done
	run "$deny" mbind,set_mempolicy,get_mempolicy,move_pages -- \
		"$PAGEZONE" run --engine cache:batch=1 -t 2 --mem none "${tables[@]}"
	status_is 0 '--mem none asks for nothing'
	unlike "$err" 'placed' 'so nothing is missed'
else
	skip 'no seccomp filters here' 26
fi

# Without /sys/devices/system/node, as where the kernel has no NUMA.
mkdir "$tmp/system"
# shellcheck disable=SC2016 # $0 and $@ are for the inner shell
hidden=(unshare --user --map-root-user --mount bash -c
	'mount -t tmpfs none "$0" && mkdir "$0/cpu" && mount --rbind /sys/devices/system/cpu "$0/cpu" &&
		mount --rbind "$0" /sys/devices/system && exec "$@"' "$tmp/system")
if [ "$one_node" = true ] && "${hidden[@]}" true 2>/dev/null; then
	run "${hidden[@]}" "$PAGEZONE" run --engine cache:batch=1 -t 2 "${tables[@]}"
	status_is 0 'no /sys/devices/system/node: goes on'
	unlike "$err" 'placed|checked' 'pages are placed and looked at'
	holds 'all(.samples[].counters; .pages_sampled == 1024 and .pages_local == 1024)' \
		'the kernel tells nevertheless where pages are'
else
	skip 'nothing can be mounted over /sys/devices/system' 3
fi

done_testing
