# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What the NUMA tests share. Each is about one guest of scripts/numa-guest, and boots it once:
#
#	# shellcheck source=tests/numa/guest.sh
#	. "${top_srcdir:?}/tests/numa/guest.sh"
#	in_guest 4x2 <<'END'			# a script for sh in the guest
#	try plan topology -t 8 -f json		# NAME and the arguments of pagezone
#	END
#	of plan					# sets $status, $out, $err and $json
#	status_is 0 'there is a plan'
#
# What was printed is looked at outside: jq takes a second to start in the guest.

# shellcheck source=tests/tap.sh
. "${top_srcdir:?}/tests/tap.sh"

command -v jq >/dev/null || skip_all 'jq is not installed'
json=

# in_guest TOPOLOGY: runs the standard input there.
in_guest()
{
	local rc why

	cat "$top_srcdir/tests/numa/try.sh" - >"$tmp/script"
	echo 'results' >>"$tmp/script"
	mkdir "$tmp/results"
	"$top_srcdir/scripts/numa-guest" --topology "$1" --copy "$tmp/script:script" sh script \
		>"$tmp/tar" 2>"$tmp/log"
	rc=$?
	cat "$tmp/log" >&2
	why=$(sed -n 's/^scripts\/numa-guest: \(no guest: \)\?//p' "$tmp/log" | tail -n 1)
	[ $rc -ne 77 ] || skip_all "$why"
	[ $rc -eq 0 ] || bail "guest $1: status $rc: $why"
	tar -x -f "$tmp/tar" -C "$tmp/results" || bail "guest $1: no results"
}

# of NAME: that command's.
# shellcheck disable=SC2034 # for the tests
of()
{
	json=$tmp/results/$1.out
	status=$(cat "$tmp/results/$1.status")
	out=$(cat "$json")
	err=$(cat "$tmp/results/$1.err")
}

# fact NAME: what the guest's /sys says, as a JSON array.
fact()
{
	jq -cs . "$tmp/results/$1.fact"
}

# holds EXPRESSION NAME: jq finds it true of what that command printed.
holds()
{
	local got

	got=$(jq -c "$1" "$json" 2>&1)
	if [ "$got" = true ]; then
		pass "$2"
	else
		fail "$2" "status $status; ${got:-nothing} is not true: $1"$'\n'"$err"
	fi
}

# nodes_are NR: the guest has as many, and pagezone sees them. With numa=off every placement
# would be right.
nodes_are()
{
	is "$(fact node | jq length)" "$1" "the guest has nodes: $1"
	of machine
	status_is 0 'pagezone topology'
	holds ".nodes | length == $1" 'pagezone sees as many nodes'
	is "$err" '' 'and has no complaint'
}

# plan_is_true: that of machine names CPUs whose nodes and packages are those that /sys says,
# and balances its workers.
plan_is_true()
{
	local node package

	node=$(fact cpu_node)
	package=$(fact cpu_package)
	of machine
	holds ".workers | all(.[]; ${node}[.cpu] == .node)" \
		"the plan's nodes are those of its CPUs in /sys"
	holds ".workers | all(.[]; ${package}[.cpu] == .package)" 'so are the packages'
	# shellcheck disable=SC2016
	holds '.cpus as $nr | [.workers[].cpu] |
		all(range(0; length; $nr) as $i | .[$i:$i + $nr]; length == (unique | length))' \
		'no CPU is used twice before each was used once'
	holds '[.workers[].node] | group_by(.) | map(length) | max - min <= 1' \
		'nodes are balanced within one worker'
}

# workers_are_planned NAME: in each sample of that, the workers' CPUs and nodes are those of
# the plan, and so are the CPUs that they were on at start and end.
workers_are_planned()
{
	of "$1"
	status_is 0 "$1: done"
	# shellcheck disable=SC2016
	holds "$(jq -c '[.workers[] | {cpu, node}]' "$tmp/results/machine.out") as \$plan |
		(.samples | length > 0) and
		all(.samples[]; ([.workers[] | {cpu, node}]) == \$plan[:.threads])" \
		"$1: every worker of every sample is planned so"
	holds 'all(.samples[].workers[]; .cpu_start == .cpu and .cpu_end == .cpu)' \
		"$1: and ran there from start to end"
}

# pages_hold NAME EXPRESSION WHAT: for each side, jq finds it true of the counters of all of
# that command's samples.
pages_hold()
{
	local side spec

	of "$1"
	if [ "$status" -ne 0 ]; then
		fail "$1: $3" "status $status"$'\n'"$err"
		return
	fi
	while read -r side spec; do
		holds "[.samples[] | select(.side == \"$side\") | .counters] | length > 0 and
			all(.[]; .pages_sampled > 0 and ($2))" "$1: $spec: $3"
	done < <(jq -r '.sides[] | .name + " " + .spec' "$json")
}

# Of what was looked at, on the node where the worker's memory should come from.
pages_are_local()
{
	pages_hold "$1" '.pages_local * 100 >= .pages_sampled * 99' \
		'at least 99 % of the pages are local'
}

pages_are_remote()
{
	pages_hold "$1" '.pages_local * 100 <= .pages_sampled' 'at most 1 % of the pages are local'
}

# pages_are_even NAME NR: each of NR nodes has its share, give or take 2 % of all pages.
pages_are_even()
{
	# shellcheck disable=SC2016
	pages_hold "$1" '.pages_sampled as $all |
		[.pages_by_node[].pages | select(. > 0) | . / $all - 1 / '"$2"' | fabs] |
		length == '"$2"' and max <= 0.02' "the pages are spread evenly over $2 nodes"
}

# pages_are_on NAME NODE: all of them.
pages_are_on()
{
	# shellcheck disable=SC2016
	pages_hold "$1" '.pages_sampled as $all |
		[.pages_by_node[] | select(.pages > 0)] == [{node: '"$2"', pages: $all}]' \
		"all pages are on node $2"
}
