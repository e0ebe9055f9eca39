# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Made-up results for shell tests, and figures for them.
# shellcheck disable=SC2034 # the figures are for the tests

# result FILE SIDES PHASES THREADS RATE...: a made-up result. SIDES, PHASES and THREADS are lists with commas; a RATE is
# SIDE=FIGURES, whose figures (kB/s, by commas) are those of the rounds, in every cell.
record=4096 bytes=536870912 governor=performance
result()
{
	local file=$1 sides=$2 phases=$3 threads=$4 side phase nr rate round rounds window comma=

	shift 4
	{
		printf '{"schema": "pagezone-result/1",\n'
		printf '"pagezone": {"version": "1.2.3", "command_line": "made up", "seed": 1},\n'
		printf '"environment": {"kernel": "Linux", "governor": "%s"},\n' "$governor"
		printf '"parameters": {"threads": [%s], "phases": ["%s"], "bytes": %s, "record": %s, "rounds": 1},\n' \
			"$threads" "${phases//,/\",\"}" "$bytes" "$record"
		printf '"sides": ['
		for side in ${sides//,/ }; do
			printf '%s{"name": "%s", "spec": "null"}' "$comma" "$side"
			comma=,
		done
		printf '],\n"samples": ['
		comma=
		for rate; do
			side=${rate%%=*} round=0
			rounds=${rate#*=}
			for window in ${rounds//,/ }; do
				round=$((round + 1))
				for phase in ${phases//,/ }; do
					for nr in ${threads//,/ }; do
						printf '%s\n{"side": "%s", "phase": "%s", "threads": %d, "round": %d, ' \
							"$comma" "$side" "$phase" "$nr" "$round"
						printf '"window_ns": 1000000000, "bytes": %d' $((window * 1024 * nr))
						[ "$window" != 0 ] || printf ', "failure": "worker 1: <it> & \\"died\\""'
						printf ', "counters": {}, "workers": []}'
						comma=,
					done
				done
			done
		done
		printf ']}\n'
	} >"$file"
}

steady=1000,1001,1002,1003,1004,1005,1006,1007,1008,1009,1010,1011
same=1011,1000,1010,1001,1009,1002,1008,1003,1007,1004,1006,1005
slower=900,901,902,903,904,905,906,907,908,909,910,911
noisy=600,1400,700,1300,800,1200,900,1100,650,1350,750,1250
