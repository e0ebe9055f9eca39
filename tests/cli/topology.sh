#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The plan: this machine's, and other machines' from hwloc's synthetic descriptions.

# shellcheck source=tests/tap.sh
. "${top_srcdir:?}/tests/tap.sh"

run "$PAGEZONE" topology
status_is 0 'this machine'
like "$out" 'CPUs? allowed' 'says how many CPUs are allowed'
run taskset -c 0 "$PAGEZONE" topology
like "$out" '1 of [0-9]+ CPUs? allowed: 0' 'with an affinity mask of one CPU: one'
run "$PAGEZONE" topology --topology 'pack:4 numa:1 core:10 pu:2' -t 80
status_is 0 'the 2013 machine'
like "$out" '4 packages, 4 nodes, 40 cores; 80 of 80 CPUs' 'as it was'

# Lists.
run "$PAGEZONE" topology --topology 'pack:4 numa:1 core:2 pu:2' -t 6 --pin node:3,1
is "$(awk '/^ worker/ { on = 1; next } on && NF { print $2 }' <<<"$out" | paste -sd' ')" \
	'4 12 6 14 5 13' 'node:3,1: over the CPUs of these nodes'
run "$PAGEZONE" topology --topology 'pack:4 numa:1 core:2 pu:2' -t 5 --pin cpus:9,2-3
is "$(awk '/^ worker/ { on = 1; next } on && NF { print $2 }' <<<"$out" | paste -sd' ')" \
	'9 2 3 9 2' 'cpus:9,2-3: in this order, and over again'
data=$top_srcdir/tests/data
for refused in 'topology-offline.xml cpus:3 CPU 3 is offline; allowed are 0-2,4-5,8,10,12-13,15' \
	'topology-cpus-4-6.xml cpus:4-7 CPU 7 may not be used (affinity mask, cpuset); allowed are 4-6' \
	'topology-cpus-4-6.xml node:1 node 1 does not exist; allowed are 0' \
	'topology-memory.xml node:0,2 node 2 has no CPU, only memory; allowed are 0-1'; do
	read -r file pin message <<<"$refused"
	run "$PAGEZONE" topology --topology "$data/$file" --pin "$pin"
	status_is 2 "$file, --pin $pin: status 2"
	is "$err" "pagezone: --pin $pin: $message" 'a line that names it'
done

# The machine.
run "$PAGEZONE" topology --topology "$data/topology-hybrid.xml" -t 4
like "$out" '0     IntelAtom +0 +3400 +8  8-15' 'kinds of CPU'
like "$out" 'L2    1280 KiB       4             2' 'caches, and who shares them'
unlike "$out" 'note:' 'four workers on one kind'
run "$PAGEZONE" topology --topology "$data/topology-hybrid.xml" -t 6
like "$out" 'note: workers on CPUs of different kinds: 2 on IntelAtom, 4 on IntelCore' \
	'six workers on two'
run "$PAGEZONE" topology --topology "$data/topology-memory.xml"
like "$out" '      1    31    10    17' 'distances'
like "$out" '      2         -       128 GiB       0  none' 'a node without CPUs'
like "$out" '      1         1          none       4  4-7' 'a node without memory'
run "$PAGEZONE" topology --topology "$data/topology-cpuset.xml"
like "$out" '0-2,9, memory not allowed' 'memory that is not allowed'
run "$PAGEZONE" topology --topology "$data/topology-offline.xml"
like "$out" 'offline: 3,6-7,9,11,14' 'CPUs that are off'

# What a file may hold.
sed 's/IntelAtom/a\&#155;31m\&#10;b/' "$data/topology-hybrid.xml" >"$tmp/names.xml"
run "$PAGEZONE" topology --topology "$tmp/names.xml" -t 16
status_is 0 'names with control characters'
like "$out" '0 +a\?31m\?b .*of different kinds: 8 on a\?31m\?b' 'do not reach the terminal'
cp "$data/topology-hybrid.xml" "$tmp/$(printf 'a\033[31m\nb')"
run "$PAGEZONE" topology --topology "$tmp/$(printf 'a\033[31m\nb')"
like "$out" '^[^ ]*/a\?\[31m\?b: 1 package' 'nor do those of its own name'
sed 's/"NUMANode" os_index="1"/"NUMANode" os_index="0"/' "$data/topology-memory.xml" >"$tmp/two.xml"
refuses "topology '$tmp/two.xml': two nodes have the number 0" topology --topology "$tmp/two.xml"
sed 's/"PU" os_index="5"/"PU" os_index="4"/' "$data/topology-cpus-4-6.xml" >"$tmp/less.xml"
run "$PAGEZONE" topology --topology "$tmp/less.xml"
like "$out" '2 of 8 CPUs allowed: 4,6' 'a CPU that it lacks is not allowed'
sed 's/allowed_cpuset="0x70"/allowed_cpuset="0x0"/' "$data/topology-cpus-4-6.xml" >"$tmp/none.xml"
refuses "$tmp/none.xml has no CPU that may be used" topology --topology "$tmp/none.xml"

# hwloc's own variables.
for variable in 'HWLOC_SYNTHETIC=pack:2 numa:1 core:2 pu:1' "HWLOC_XMLFILE=$data/topology-memory.xml"; do
	run env "$variable" "$PAGEZONE" topology
	like "$out" '^another machine: 2 packages.*note: .*HWLOC_XMLFILE' "${variable%%=*}: is said"
	run env "$variable" "$PAGEZONE" topology -f json
	like "$out" '"topology": "another machine"' 'in JSON, too'
	run env "$variable" "$PAGEZONE" run --engine null -t 1 -S 1m -R 1 -i reader
	status_is 0 'a run goes on'
	like "$err" 'warning: hwloc was told to show another machine' 'and warns'
done

# Nothing is cut off, however narrow.
run "$PAGEZONE" topology --topology 'pack:8 numa:1 core:64 pu:2' -t 256
wide=$out
run env COLUMNS=20 "$PAGEZONE" topology --topology 'pack:8 numa:1 core:64 pu:2' -t 256
is "$out" "$wide" 'COLUMNS=20: the same'
like "$out" '  896-1023' 'the last CPUs are there'
if command -v script >/dev/null; then
	run script -qec "stty cols 20; '$PAGEZONE' topology --topology 'pack:8 numa:1 core:64 pu:2' -t 256" /dev/null
	is "$(tr -d '\r' <<<"$out")" "$wide" 'a terminal of 20 columns: the same'
else
	skip 'script is not installed' 1
fi

run "$PAGEZONE" topology --topology 'pack:4 numa:1 core:2 pu:1' -t 2 --mem interleave
like "$out" '2 workers, --pin spread, --mem interleave:' 'the policies'
like "$out" $'\n      1     2     1         1       2             0-3' 'memory of all nodes'
run "$PAGEZONE" topology --mem bind:77
status_is 2 '--mem bind of a node that is not there'
like "$err" '--mem bind:77: node 77 ' 'which is named'
run "$PAGEZONE" topology --topology 'numa:1 core:2 pu:1' --mem remote
like "$out" 'note: there is one node with memory: remote is local' 'nothing is remote'

if ! command -v jq >/dev/null; then
	skip 'jq is not installed' 21
	done_testing
fi

# plan EXPRESSION NAME: jq finds it true of the plan.
plan()
{
	ok "$2" jq -e "$1" "$tmp/.out"
}

run "$PAGEZONE" topology --topology 'pack:4 numa:1 core:10 pu:2' -t 80 -f json
plan '.workers | length == 80 and all(.[]; has("worker") and has("cpu") and has("node"))' \
	'80 workers with CPU and node'
plan '[.workers[:4][].package] | unique | length == 4' '4 workers on 4 packages'
plan '[.workers[:40][].core] | unique | length == 40' '40 workers on 40 cores'
plan '[.workers[].cpu] | unique | length == 80' 'and only then their siblings'
run "$PAGEZONE" topology --topology 'pack:4 numa:1 core:10 pu:2' -t 256 -f json
plan '[.workers[80:160][].cpu] == [.workers[:80][].cpu]' 'beyond, round robin'
run "$PAGEZONE" topology --topology 'pack:4 numa:1 core:10 pu:2' -t 4 --pin compact -f json
plan '[.workers[].package] | unique | length == 1' 'compact: one package'
plan '[.workers[].core] | unique | length == 2' 'siblings first'
run "$PAGEZONE" topology --topology 'pack:2 numa:1 core:2 pu:1' -t 2 --pin none -f json
plan 'all(.workers[]; .cpu == null and .node == null)' 'none: nowhere in particular'
run "$PAGEZONE" topology --topology 'pack:2 numa:1 core:2 pu:1' -t 3 --pin cpus:3,0 -f json
plan '.pin == "cpus:3,0" and [.workers[].cpu] == [3, 0, 3]' 'the policy as it was given'

run "$PAGEZONE" topology --topology 'pack:4 numa:1 core:2 pu:1' -t 4 --mem remote -f json
plan '.mem == "remote" and .memory_nodes == null and
	all(.workers[]; .memory_node == (.node + 1) % 4)' 'remote: the next node'
run "$PAGEZONE" topology --topology 'pack:4 numa:1 core:2 pu:1' -t 4 --mem bind:3,1 -f json
plan '.memory_nodes == [1, 3] and all(.workers[]; .memory_node == null)' 'bind: nodes for all'
run "$PAGEZONE" topology --topology 'numa:1 core:2 pu:1' --mem none -f json
plan '.mem == "none" and .memory_nodes == null' 'none: no policy'

run "$PAGEZONE" topology --topology "$data/topology-memory.xml" -f json
plan '.distances == [[10, 31, 20], [31, 10, 17], [20, 17, 10]]' 'distances'
plan '.nodes[1].memory == 0 and .nodes[2].cpus == 0 and .nodes[2].package == null' 'nodes'
plan 'all(.workers[]; .memory_node == (if .node == 1 then 2 else 0 end))' 'where memory is from'
run "$PAGEZONE" topology --topology "$data/topology-hybrid.xml" -f json
plan '[.kinds[] | .name, .cpus, .allowed_cpus] == ["IntelAtom", 8, "8-15", "IntelCore", 8, "0-7"]' \
	'kinds'
plan 'all(.workers[]; .kind == (if .cpu < 8 then 1 else 0 end))' 'the kind of each worker'
plan '[.caches[] | .cache, .number, .cpus_of_each] == ["L3", 1, 16, "L2", 4, 2, "L2", 2, 4,
	"L1d", 4, 2, "L1d", 8, 1]' 'caches'
run "$PAGEZONE" topology -f json
plan '.note == null or (.note | type) == "string"' 'of this machine, too'
cp "$data/topology-memory.xml" "$tmp/$(printf '\377.xml')"
run "$PAGEZONE" topology --topology "$tmp/$(printf '\377.xml')" -f json
status_is 0 'a file name that is not UTF-8'
plan '.topology | endswith(".xml")' 'makes JSON all the same'

done_testing
