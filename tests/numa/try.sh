# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The head of the script that tests/numa/guest.sh runs in a guest.

# try NAME ARG...: pagezone with these. Its status and what it printed are looked at outside.
try()
{
	name=$1
	shift
	tried "$name" "$PAGEZONE" "$@"
}

# tried NAME COMMAND...: any command.
tried()
{
	name=$1
	shift
	"$@" >"/tmp/$name.out" 2>"/tmp/$name.err"
	echo $? >"/tmp/$name.status"
}

# speedup NAME ARG...: one round of one phase.
speedup()
{
	name=$1
	shift
	try "$name" speedup -i initial-writer -R 1 -q -f json "$@"
}

# placement NAME ARG...: the same of the engines whose pages are looked at.
placement()
{
	speedup "$@" --baseline cache:batch=1 --patched cache:batch=512 --patched memory \
		--patched tmpfs:huge=always
}

facts()
{
	for node in /sys/devices/system/node/node[0-9]*; do
		echo "${node##*/node}"
	done >/tmp/node.fact
	cpu=/sys/devices/system/cpu/cpu
	nr=0
	while [ -e $cpu$nr ]; do
		for node in "$cpu$nr"/node[0-9]*; do
			echo "${node##*/node}"
		done >>/tmp/cpu_node.fact
		cat $cpu$nr/topology/physical_package_id >>/tmp/cpu_package.fact
		nr=$((nr + 1))
	done
}

results()
{
	cd /tmp && tar -c -f - ./*.*
}

facts
try machine topology -f json -t 256
