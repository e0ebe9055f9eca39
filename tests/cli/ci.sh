#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# scripts/ci-example.sh from end to end, and the workflow of pagezone-ci(7): that its file is what the manual shows, and what
# a shell can run of it.

# shellcheck source=tests/tap.sh
. "${top_srcdir:?}/tests/tap.sh"
# shellcheck source=tests/result.sh
. "$top_srcdir/tests/result.sh"
slow_test
cd "$tmp" || exit 99

manual=$top_srcdir/man/pagezone-ci.7
workflow=$top_srcdir/doc/pagezone-ci.yml
script=$top_srcdir/scripts/ci-example.sh
real=$PAGEZONE
gnuplot=$(type -P gnuplot)

# ---- measured ----

export PAGEZONE_ENGINE=memory PAGEZONE_ROUNDS=6 PAGEZONE_BASELINE=kept/baseline.json
tiny=(-t 1 -S 4m -i reader)

run bash "$script" "${tiny[@]}"
status_is 0 'without a baseline it passes'
like "$err" 'there was no baseline; this result is stored as kept/baseline.json' 'and says that it stores one'
ok 'which is what was measured' cmp kept/baseline.json pagezone-results/result.json
run "$PAGEZONE" compare kept/baseline.json kept/baseline.json
status_is 0 'and loads'
like "$(cat pagezone-results/comment.md)" $'\n\\| threads \\| 1 \\|\n' 'the comment has the table'
like "$(cat pagezone-results/comment.md)" $'\nThere was no baseline to compare with\.$' 'and says what it is without'
ok 'nothing else is stored' test "$(find kept -type f | wc -l)" -eq 1

# Whatever else the machine does, it does not take 20 times as long.
cp kept/baseline.json before.json
PAGEZONE_THRESHOLD=95 run bash "$script" "${tiny[@]}"
like "$status" '^[04]$' "the same again passes, or is too noisy: $status"
ok 'the baseline stays' cmp kept/baseline.json before.json
for name in result.json comparison.json comment.md junit.xml; do
	ok "there is $name" test -s "pagezone-results/$name"
done
like "$(cat pagezone-results/comment.md)" $'\n\\| baseline \\| [0-9]+ \\|\n' 'the comment has both rows'
ok 'the XML has a test case' grep -q '<testcase ' pagezone-results/junit.xml
if [ -n "$gnuplot" ]; then
	ok 'there is a picture' grep -q '</svg>' pagezone-results/result.svg
else
	ok 'there is no picture without gnuplot' test ! -e pagezone-results/result.svg
fi

# In turns, so that what else the machine does slows both.
for try in 1 2 3 4; do
	PAGEZONE_BASE_ENGINE=memory PAGEZONE_ENGINE=memory:slow=50 PAGEZONE_ROUNDS=10 PAGEZONE_BASELINE=none.json \
		run bash "$script" -t 1 -S 16m -i reader
	[ "$status" -ne 1 ] || break
	diag "try $try: status $status"
done
status_is 1 'a side that does half as much again is slower: status 1'
like "$err" 'max-regression 10: patched, reader, 1 thread: ' 'and is named'
ok 'in turns there is no baseline to store' test ! -e none.json

# ---- made up ----

# Instead of measuring, $FAKE is the result.
mkdir bin
cat >pagezone <<'EOT'
#!/usr/bin/env bash
if [ "$1" = run ] || [ "$1" = speedup ]; then
	[ -n "$FAKE" ] || exit 3
	echo "$@" >asked
	while [ "$1" != -o ]; do shift; done
	cp "$FAKE" "$2"
	exit "${FAKE_STATUS:-0}"
else
	exec "$REAL" "$@"
fi
EOT
chmod +x pagezone
export REAL=$real PAGEZONE=./pagezone
result steady.json run reader 1,2 "run=$steady"
result same.json run reader 1,2 "run=$same"
result slower.json run reader 1,2 "run=$slower"
result noisy.json run reader 1,2 "run=$noisy"
result slowest.json run reader 1,2 "run=${slower//9/6}"
result void.json run reader 1,2 'run=1000,0,1002,1003'
record=65536 result record.json run reader 1,2 "run=$same"

# ends STATUS FAKE WHAT
ends()
{
	cp steady.json kept/baseline.json
	FAKE=$2 PAGEZONE_THRESHOLD=5 run bash "$script"
	status_is "$1" "$3: status $1"
}
ends 0 same.json 'as fast'
ok 'passing alone replaces no baseline' cmp kept/baseline.json steady.json
ends 1 slower.json 'slower'
ends 2 record.json 'not comparable'
ends 3 void.json 'a void cell'
ends 3 '' 'a measurement that fails'
ends 4 noisy.json 'noisy'
like "$err" 'this is no pass' 'and says what that is'
like "$err" 'rounds would do' 'and what to do'
export PAGEZONE_UPDATE=yes
ends 1 slower.json 'slower, where baselines are replaced'
ok 'keeps the baseline' cmp kept/baseline.json steady.json
ends 0 same.json 'as fast, there'
ok 'replaces it' cmp kept/baseline.json same.json
export PAGEZONE_UPDATE=no
# In turns, with rounds until the gate can tell, which the measurement has to know.
result turns.json baseline,patched reader 1,2 "baseline=$steady" "patched=$slower"
for rounds in 12 auto; do
	FAKE=turns.json FAKE_STATUS=$([ $rounds = 12 ] || echo 4) PAGEZONE_BASE_ENGINE=null PAGEZONE_ROUNDS=$rounds \
		PAGEZONE_THRESHOLD=15 run bash "$script" -t 1
	status_is 0 "in turns, rounds $rounds: the status of the comparison"
	ok 'which is stored' test -s pagezone-results/comparison.json
	like "$(cat asked)" "-R $rounds .*result.json $([ $rounds = 12 ] || echo '--max-regression 15 ')-t 1\$" \
		'what the measurement is asked for'
done
FAKE=turns.json FAKE_STATUS=1 PAGEZONE_BASE_ENGINE=null PAGEZONE_THRESHOLD=15 run bash "$script" --min-speedup 2
status_is 1 'a gate among the arguments that fails'
FAKE=turns.json FAKE_STATUS=3 PAGEZONE_BASE_ENGINE=null PAGEZONE_THRESHOLD=15 run bash "$script"
status_is 3 'what could not be measured is not compared'
PAGEZONE=./nonesuch run bash "$script"
status_is 3 'a program that is not there: status 3'
like "$err" 'there is no program ./nonesuch' 'is named'
PAGEZONE_THRESHOLD=x FAKE=same.json run bash "$script"
status_is 2 'a threshold that is none'
# A disk that is full while the XML is written.
cat >full <<'EOT'
#!/usr/bin/env bash
case " $* " in
*' -f junit '*) exec ./pagezone "$@" >/dev/full ;;
*) exec ./pagezone "$@" ;;
esac
EOT
chmod +x full
cp steady.json kept/baseline.json
PAGEZONE=./full PAGEZONE_THRESHOLD=5 FAKE=same.json run bash "$script"
status_is 3 'a form of the comparison that cannot be written: status 3, as fast as it is'
like "$err" 'cannot write pagezone-results/junit.xml' 'says which'
ok 'and leaves no half of it' test ! -e pagezone-results/junit.xml
rm -r kept
touch kept
FAKE=same.json run bash "$script"
status_is 3 'a baseline that cannot be stored'
rm kept

# ---- the workflow ----

awk '/^\.\\" The workflow/ { on = 1; next } on == 1 && /^\.Bd/ { on = 2; next } on == 2 && /^\.Ed/ { exit }
	on == 2 { gsub(/\\&/, ""); gsub(/\\e/, "\\"); print }' "$manual" >shown.yml
is "$(diff shown.yml "$workflow" 2>&1)" '' 'the workflow in the manual is the file'

# The `run: |` blocks, as run-N with their names in names.
awk '/^ *- name: / { name = $0; sub(/.*- name: /, "", name) }
	on && (/[^ ]/ && match($0, /[^ ]/) <= indent) { on = 0 }
	on { print substr($0, indent + 2) > file }
	/^ *run: \|$/ { on = 1; indent = match($0, /[^ ]/); file = "run-" (++nr); print name > "names" }
	/^ *run: [^|]/ { print "not a block: " $0 > "names" }' "$workflow"
is "$(paste -s -d, names)" 'Install,Build,Measure and compare,Comment,Gate' 'its steps that are shell'
for file in run-*; do
	ok "$file is shell" bash -n "$file"
	if command -v shellcheck >/dev/null; then
		ok 'and clean' shellcheck -s bash "$file"
	else
		skip 'shellcheck is not installed'
	fi
done
# shellcheck disable=SC2016 # of the workflow
ok 'nothing of an event is pasted into a shell' test -z "$(grep -l '\${{' run-*)"

# What they call, and what they do not find here.
mkdir scripts
ln -s "$script" scripts/
# shellcheck disable=SC2016 # of the stubs
for name in sudo autoreconf make gh; do
	printf '#!/bin/sh\nprintf "%%s " "${0##*/}" "$@" >>calls; echo >>calls\n' >"bin/$name"
done
# shellcheck disable=SC2016
printf '%s\n' 'case "$*" in *--edit-last*) exit 1 ;; esac' >>bin/gh
cp bin/make configure
chmod +x bin/* configure
# step NR: as GitHub runs it, with what the workflow has in env.
step()
{
	run env PATH="$tmp/bin:$PATH" GITHUB_OUTPUT=outputs GITHUB_STEP_SUMMARY=summary PAGEZONE=./pagezone \
		PAGEZONE_OUTPUT=results PAGEZONE_BASELINE=baseline/pagezone.json PAGEZONE_THRESHOLD=10 \
		bash --noprofile --norc -e -o pipefail "run-$1"
}
unset PAGEZONE_BASELINE PAGEZONE_ENGINE
step 1
status_is 0 'Install'
is "$(tr ' ' '\n' <calls | grep -E '^(build-essential|auto|pkg-config|lib.*-dev)' | sort | paste -s -d' ')" \
	"$(sed -n '/^build_packages=(/,/)/p' "$top_srcdir/scripts/common.sh" | sed 's/.*(//; s/)//' |
		tr -s '[:space:]' '\n' | grep . | sort | paste -s -d' ')" 'installs the packages that a build needs'
step 2
status_is 0 'Build'
like "$(cat calls)" $'autoreconf -fi \nconfigure -q \nmake -s -j[0-9]+ \n*$' 'builds'
FAKE=steady.json step 3
is "$status $(cat outputs)" '0 status=0' 'Measure and compare, without a baseline'
ok 'stores one' cmp baseline/pagezone.json steady.json
rm outputs summary
FAKE=slowest.json step 3
is "$status $(cat outputs)" '0 status=1' 'and one that is slower goes on to the gate'
ok 'with a summary' cmp summary results/comment.md
NUMBER=17 step 4
status_is 0 'Comment'
is "$(tail -n 2 calls)" 'gh pr comment 17 --edit-last --body-file results/comment.md 
gh pr comment 17 --body-file results/comment.md ' 'replaces its comment, or makes one'
for status_of in 0 1 2 3 4; do
	STATUS=$status_of step 5
	status_is "$status_of" "Gate: status $status_of stays"
done
like "$out" 'too noisy to tell, which is not a pass' 'and too noisy is said'
STATUS='' step 5
status_is 3 'Gate: a measurement that never ended'

# ---- the manual ----

is "$(grep -o '^#	PAGEZONE[A-Z_]*' "$script" | tr -d '#	' | sort)" \
	"$(sed -n 's/^\.It Ev //p' "$manual" | sort)" 'it has the variables that the script has'
is "$(grep -o '{PAGEZONE[A-Z_]*' "$script" | tr -d '{' | sort -u)" \
	"$(sed -n 's/^\.It Ev //p' "$manual" | sort)" 'and that it reads'

# rounds CELLS COLUMN: of its table.
rounds()
{
	awk -v cells="$1" -v column="$2" '$1 == ".It" && $2 == cells && $3 == "Ta" { print $(2 + 2 * column) }' "$manual"
}
# "for N cells that takes at least M rounds", as compare says where rounds are too few.
unset PAGEZONE_ROUNDS
for cells in 1 7 21 63; do
	result few.json baseline,patched reader "$(seq -s, 1 "$cells")" 'baseline=1000,1001' 'patched=990,991'
	run "$real" compare few.json
	like "${out//$'\n'/ }" "for $cells cells? that takes at least $(rounds "$cells" 1) rounds" \
		"$cells cells in turns: the rounds of the manual"
	run "$real" compare few.json few.json --side baseline
	like "${out//$'\n'/ }" "for $cells cells? that takes at least $(rounds "$cells" 2) rounds" \
		'and of two runs'
done

done_testing
