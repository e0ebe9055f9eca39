# SPDX-License-Identifier: GPL-2.0-or-later
#
# Checks a JSON file against a JSON Schema (draft-07), as far as
# src/data/pagezone-result-1.schema.json uses it: one line for each thing wrong, from
#	jq -r --slurpfile schema SCHEMA -f tests/schema.jq FILE
# A keyword that is not known here is an error of its own: it would go unchecked.

def keywords: ["$schema", "$id", "title", "description", "definitions", "$ref", "type", "const",
	"enum", "required", "properties", "items", "minimum", "maximum", "minLength", "pattern"];

def has_type($name):
	if $name == "integer" then type == "number" and . == floor
	else type == $name end;

def resolve: if has("$ref") then . as $outer
	| $schema[0].definitions[$outer["$ref"] | ltrimstr("#/definitions/")]
	  // error("no definition \($outer["$ref"])")
	else . end;

def check($s; $where):
	. as $value
	| ($s | keys - keywords | .[] | "\($where): the schema says \(.), which is not checked"),
	($s | resolve) as $s
	| ($s | keys - keywords | .[] | "\($where): the schema says \(.), which is not checked"),
	(if $s | has("type") then
		if any($s.type | if type == "array" then .[] else . end; . as $t | $value | has_type($t))
		then empty else "\($where): is \(type), not \($s.type)" end
	 else empty end),
	(if ($s | has("const")) and $value != $s.const
	 then "\($where): is not \($s.const)" else empty end),
	(if ($s | has("enum")) and ([$value] - $s.enum) != []
	 then "\($where): is none of \($s.enum)" else empty end),
	(if type == "number" then
		(if ($s | has("minimum")) and . < $s.minimum
		 then "\($where): is below \($s.minimum)" else empty end),
		(if ($s | has("maximum")) and . > $s.maximum
		 then "\($where): is above \($s.maximum)" else empty end)
	 elif type == "string" then
		(if length < ($s.minLength // 0) then "\($where): is too short" else empty end),
		(if ($s | has("pattern")) and (test($s.pattern) | not)
		 then "\($where): does not match \($s.pattern)" else empty end)
	 elif type == "array" then
		if $s | has("items")
		then range(length) as $i | .[$i] | check($s.items; "\($where)[\($i)]")
		else empty end
	 elif type == "object" then
		($s.required // [] | . - ($value | keys) | .[] | "\($where).\(.): is missing"),
		(keys[] as $key | select($s.properties // {} | has($key))
		 | .[$key] | check($s.properties[$key]; "\($where).\($key)"))
	 else empty end);

check($schema[0]; "result")
