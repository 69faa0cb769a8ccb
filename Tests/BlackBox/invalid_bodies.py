# SPDX-License-Identifier: MIT
"""Bodies at and beyond the limits of docs/SCHEMA.md: reported by verify and export, or preserved."""

import json
from typing import Any, List, Tuple

import direct_sqlite
from harness import Failure, Trial, check
from round_trips import survive
from values import parse, same

# Bodies that are valid JSON objects, which must be accepted.
VALID: List[Tuple[str, str]] = [
    ("a leading space", ' {"a":2}'), ("a leading line break", '\n\t{"a":2}'), ("a trailing space", '{"a":2} \r\n'),
    ("line breaks", '{\n  "a": 2,\n  "b": [\n    1\n  ]\n}'), ("carriage returns", '{\r"a":\r2}'),
    ("spaces in an empty object", "{ }"), ("spaces in an empty list", '{"a":[ \n ]}'), ("a negative zero", '{"a":-0,"b":-0.0}'),
    ("escaped slashes", '{"a\\/b":"c\\/d"}'), ("a name of nothing", '{"":1}'), ("an escaped NUL", '{"a":"x\\u0000y"}'),
    ("an escaped name", '{"gr\\u00f6\\u00dfe":5}'), ("a surrogate pair", '{"\\ud83d\\ude00":"\\uD83D\\uDE00"}'),
    ("a long decimal", '{"a":0.1000000000000000055511151231257827}'), ("an exponent", '{"a":1E5,"b":1e-07,"c":1.50e+1}'),
    ("depth 500", '{"a":' + "[" * 499 + "]" * 499 + "}"), ("64-bit ends", '{"a":9223372036854775807,"b":-9223372036854775808}'),
    ("the name of the export header, escaped", '{"$$nanostore":{"key":"other"},"a":1}'),
]

# Bodies that are invalid or need not be accepted. They must be reported, or preserved without loss.
DOUBTFUL: List[Tuple[str, Any]] = [
    ("an integer beyond 64 bits", '{"a":9223372036854775808}'), ("a long integer", '{"a":123456789012345678901234567890}'),
    ("a name twice", '{"a":1,"a":2}'), ("an escaped name twice", '{"a":1,"\\u0061":2}'), ("a name twice inside", '{"o":{"a":1,"a":2}}'),
    ("a number too large", '{"a":1e999}'), ("a lone surrogate", '{"a":"\\ud800"}'), ("a lone surrogate in a name", '{"\\udc00":1}'),
    ("a single dollar", '{"$x":1}'), ("the name of the export header", '{"$nanostore":{"key":"other"},"a":1}'), ("a header alone", '{"$nanostore":{}}'),
    ("a wrong date", '{"a":{"$date":"yesterday"}}'), ("a date in milliseconds", '{"a":{"$date":5}}'), ("a wrong form of data", '{"a":{"$binary":5}}'),
    ("data without a type", '{"a":{"$binary":{"base64":"AP8="}}}'), ("a long of Extended JSON", '{"a":{"$numberLong":"5"}}'),
    ("an id of Extended JSON", '{"a":{"$oid":"507f1f77bcf86cd799439011"}}'), ("undefined", '{"a":{"$undefined":true}}'),
    ("a double as text", '{"a":{"$numberDouble":"1.5"}}'), ("a date of year 10000", '{"a":{"$date":"+10000-01-01T00:00:00Z"}}'),
    ("a form beside a name", '{"a":{"$date":"2026-11-20T21:17:00Z","b":1}}'), ("a wrong URL", '{"a":{"$url":"http://[bad"}}'),
    ("depth 600", '{"a":' + "[" * 600 + "]" * 600 + "}"), ("two dollars in a row", '{"$$$x":1}'),
]

# Bodies that are not JSON objects, which verify must report.
INVALID: List[Tuple[str, Any]] = [
    ("an array", "[1]"), ("a number", "5"), ("null", "null"), ("nothing", ""), ("a cut object", '{"a":1'), ("two objects", '{"a":1}{"b":2}'),
    ("single quotes", "{'a':1}"), ("a bare name", "{a:1}"), ("a trailing comma", '{"a":1,}'), ("a comment", '{"a":1/* */}'),
    ("NaN", '{"a":NaN}'), ("a leading zero", '{"a":01}'), ("a leading plus", '{"a":+1}'), ("a hexadecimal number", '{"a":0x10}'),
    ("a bare line break in a text", '{"a":"x\ny"}'), ("a byte order mark", '\ufeff{"a":1}'),
    ("a NUL after the object", '{"a":1}\x00'), ("a NUL in a text", '{"a":"x\x00y"}'), ("a wrong escape", '{"a":"\\x"}'),
    ("a capital TRUE", '{"a":TRUE}'), ("a form feed", '\x0c{"a":1}'),
]


def store(trial: Trial, name: str, body: Any) -> str:
    database = trial.path("s%d.db" % len(trial.files()))
    trial.run("put", database, "c", "ours", '{"a":0}', expect=0)
    direct_sqlite.execute(trial, database, f"INSERT INTO c(key, added, body) VALUES ('k', {direct_sqlite.ADDED}, ?)", [body])
    return database


def some(trial: Trial, cases: List[Tuple[str, Any]], minimum: int) -> List[Tuple[str, Any]]:
    return trial.rng.sample(cases[1:], minimum) + cases[:1] if trial.short else cases


def require_output(trial: Trial, database: str, name: str, body: str) -> None:
    """Requires that find and export print the body on one line with the same value."""
    for command in (["find"], ["export", "--no-header"]):
        result = trial.run(command[0], database, "c", *command[1:], expect=0)
        trial.require(len(result.lines) in (2, 3), f"{name}: {command[0]} prints {len(result.lines)} lines for 2 documents")
        document = parse(result.lines[1])
        trial.require(same(document, parse(body)), f"{name}: {command[0]} prints {result.lines[1]!r}")


@check()
def valid_bodies(trial: Trial) -> None:
    """A body that is a JSON object is accepted by verify and survives export and copies, regardless of white space."""
    for name, body in some(trial, VALID, 2):
        database = store(trial, name, body)
        for _ in range(1 if trial.short else 2):
            trial.run("verify", database, expect=0)
            require_output(trial, database, name, body)
            survive(trial, database, "c", name)
            trial.run("put", database, "c", "next", "{}", expect=0)
        del trial.log[:]


@check()
def doubtful_bodies(trial: Trial) -> None:
    """A doubtful body is reported by verify and export, or survives export and copies."""
    failures = []
    for name, body in some(trial, DOUBTFUL, 3):
        del trial.log[:]
        database = store(trial, name, body)
        problem = problem_of(trial, database, name, body)
        if problem:
            failures.append(problem)
    trial.require(not failures, "; ".join(failures))


def problem_of(trial: Trial, database: str, name: str, body: str) -> str:
    try:
        for _ in range(1 if trial.short else 2):
            verdict = trial.run("verify", database)
            exported = trial.run("export", database, "c", "--no-header")
            if verdict.status == 0:
                survive(trial, database, "c", name)
                kept = parse(exported.lines[1])
                if "twice" not in name:
                    equal = same(kept, parse(body)) or undoubled(json.loads(exported.lines[1])) == undoubled(json.loads(body))
                    trial.require(equal, f"{name}: export prints {exported.lines[1][:100]!r}, verify reports no problems")
                else:
                    trial.require(kept == parse(body), f"{name}: the first value is not used: {exported.lines[1][:100]!r}")
            else:
                trial.require(exported.status != 0 or importable(trial, exported.out, body, name),
                              f"{name}: verify reports it, export does not, and import rejects the output")
            trial.run("put", database, "c", "next", "{}")
    except Failure as failure:
        return str(failure)[:160]
    return ""


def undoubled(value: Any) -> Any:
    """Removes the second `$` that the store adds to a name that another program wrote with a single one."""
    if isinstance(value, dict):
        return {name[1:] if name.startswith("$$") else name: undoubled(content) for name, content in value.items()}
    return [undoubled(element) for element in value] if isinstance(value, list) else value


def importable(trial: Trial, exported: bytes, body: str, name: str) -> bool:
    target = trial.path("importable.db")
    result = trial.run("import", target, f"c{len(trial.log)}", trial.write("exported", exported))
    return result.status == 0


@check()
def invalid_bodies(trial: Trial) -> None:
    """A body that is not a JSON object is reported by verify and export, and no command succeeds with it."""
    failures = []
    for name, body in some(trial, INVALID, 3):
        del trial.log[:]
        database = store(trial, name, body)
        for when in ("", ", after a write"):
            if trial.run("verify", database).status == 0:
                failures.append(f"{name}{when}: verify accepts it")
            for command in (["export", database, "c"], ["find", database, "c"], ["schema", database, "c"]):
                result = trial.run(*command)
                if result.status == 0:
                    failures.append(f"{name}{when}: {command[0]} exits with 0")
            trial.run("put", database, "c", "next", "{}")
        if failures:
            break
    trial.require(not failures, "; ".join(failures))


@check()
def export_of_header_names(trial: Trial) -> None:
    """A document with fields that look like an export header survives export and import."""
    database, target = trial.path("s.db"), trial.path("t.db")
    bodies = ['{"$nanostore":{"key":"x"},"a":1}', '{"$$nanostore":{"key":"x"}}', '{"a":{"$nanostore":1}}']
    for number, body in enumerate(bodies):
        trial.run("put", database, "c", f"k{number}", body, "--plain")
    for flags in ([], ["--no-header"]):
        exported = trial.run("export", database, "c", *flags, expect=0).out
        trial.run("import", target, "c" + "".join(flags).replace("-", ""), trial.write("e", exported), expect=0)
        again = trial.run("export", target, "c" + "".join(flags).replace("-", ""), *flags, expect=0).out
        trial.require(json.dumps(again.decode()) == json.dumps(exported.decode()), f"{flags}: {exported!r} becomes {again!r}")
