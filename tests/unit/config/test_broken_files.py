"""Broken configuration files: each is refused with path, line and fix (T93). `#!` marks the line that must be named."""

from pathlib import Path

import pytest
from msgspec import Struct

from pointsman.config.load import load
from pointsman.config.problems import ConfigError
from tests.unit.config.samples import CHAT, HASH, HEAD, LOCAL, NAME, VALID, marked_line, problem, refused


class Broken(Struct, frozen=True):
    """A file with one fault, the key path of the fault and a part of the fix."""

    text: str
    path: str
    fix: str


def _auth(*lines: str) -> str:
    return "version: 1\nauth:\n  " + "\n  ".join(lines) + f" #!\n{LOCAL}{CHAT}"


def _keys(entry: str, before: str = "") -> str:
    head = "version: 1\nauth:\n  mode: keys\n  pepper: pepper-0123456789\n  keys:\n"
    group = "models: {chat: {aliases: [fast], targets: [{model: local/small}]}}\n"
    return f"{head}{before}    - {entry} #!\n{LOCAL}{group}"


def _named(field: str) -> str:
    return _keys(f"{{name: ci, hash: '{HASH}', {field}}}")


_KEY = f"keys: [{{name: ci, hash: '{HASH}'}}]"
_SAME_NAME = f"    - {{name: ci, hash: '{HASH.replace('1', '2')}'}}\n"
_SAME_HASH = f"    - {{name: ci, hash: '{HASH}'}}\n"


def _server(line: str) -> str:
    return f"{VALID}server:\n  {line} #!\n"


def _provider(line: str) -> str:
    return f"{HEAD}providers:\n  local:\n    kind: vllm\n    base_url: http://127.0.0.1:8000/v1\n    {line} #!\n{CHAT}"


def _url(url: str) -> str:
    return f"{HEAD}providers:\n  local:\n    kind: vllm\n    base_url: {url} #!\n{CHAT}"


def _group(line: str) -> str:
    return f"{HEAD}{LOCAL}models:\n  chat:\n    targets: [{{model: local/small}}]\n    {line} #!\n"


def _target(entry: str) -> str:
    return f"{HEAD}{LOCAL}models:\n  chat:\n    targets:\n      - {entry} #!\n"


def _top(section: str) -> str:
    return f"{VALID}{section} #!\n"


_SYNTAX: dict[str, Broken] = {
    "tab as indentation": Broken(f"{HEAD}server:\n\tdrain: 30s #!\n", "", "Check the indentation"),
    "unclosed bracket": Broken(f"{VALID}logs: {{level: info\nserver: {{}} #!\n", "", "Check the indentation"),
    "reference between braces": Broken(
        HEAD + "providers: {openai: {kind: openai, api_key: ${KEY}}} #!\n", "", "quote text with a special character"
    ),
    "colon in text": Broken(f"{VALID}logs: level: info #!\n", "", "Check the indentation"),
    "duplicate key": Broken(f"{VALID}logs: {{level: info}}\nlogs: {{level: debug}} #!\n", "logs", "in line 5"),
    "duplicate group": Broken(
        f"{HEAD}{LOCAL}models:\n  chat: {{targets: [{{model: local/a}}]}}\n  chat: {{targets: []}} #!\n",
        "models.chat",
        "Keep one of the two",
    ),
    "merge key": Broken(
        f"{VALID}logs: &logs {{level: info}}\ncooldown:\n  <<: *logs #!\n", "cooldown.'<<'", "Write the keys out"
    ),
    "tag": Broken(f"{VALID}logs: {{level: !!str info}} #!\n", "", "Remove the `!...`"),
    "python object": Broken(f"{VALID}logs: !!python/object/apply:os.getcwd [] #!\n", "", "Remove the `!...`"),
    "second document": Broken(f"{VALID}--- #!\nversion: 1\n", "", "Keep one document"),
    "list as key": Broken(f"{VALID}? [a, b] #!\n: 1\n", "", "Put it in quotes"),
    "unknown anchor": Broken(f"{VALID}logs: *logs #!\n", "", "Define the anchor"),
    "forbidden character": Broken("#!\x07\n" + VALID, "", "Check the indentation"),
    "list at the top": Broken("- version: 1 #!\n", "", "Begin with `version: 1`"),
    "text at the top": Broken("hello #!\n", "", "Begin with `version: 1`"),
    "too many values": Broken(f"{VALID}x: [{'1, ' * 10_000}] #!\n", "", "Split the deployment"),
    "nested too deep": Broken(f"{VALID}x: {'[' * 100}{']' * 100} #!\n", "", "surplus brackets"),
}

_REQUIRED: dict[str, Broken] = {
    "no version": Broken("auth: {mode: none} #!\n" + LOCAL + CHAT, "version", "Write `version: 1`."),
    "another version": Broken("version: 2 #!\nauth: {mode: none}\n" + LOCAL + CHAT, "version", "Write `version: 1`."),
    "version as text": Broken("version: '1' #!\nauth: {mode: none}\n" + LOCAL + CHAT, "version", "without quotes"),
    "version as fraction": Broken("version: 1.5 #!\nauth: {mode: none}\n", "version", "Write digits"),
    "no auth": Broken("version: 1 #!\n" + LOCAL + CHAT, "auth", "Write `auth: {mode: keys}`"),
    "auth without mode": Broken("version: 1\nauth: {} #!\n" + LOCAL + CHAT, "auth.mode", "Write `auth: {mode: keys}`"),
    "auth is none": Broken("version: 1\nauth: none #!\n" + LOCAL + CHAT, "auth", "Write `auth: {mode: keys}`"),
    "auth is null": Broken("version: 1\nauth: #!\n" + LOCAL + CHAT, "auth", "Write `auth: {mode: keys}`"),
    "auth is off": Broken(
        "version: 1\nauth: {mode: off} #!\n" + LOCAL + CHAT, "auth.mode", "Write `auth: {mode: keys}`"
    ),
    "auth is false": Broken(
        "version: 1\nauth: {mode: false} #!\n" + LOCAL + CHAT, "auth.mode", "Write `auth: {mode: keys}`"
    ),
}

_AUTH: dict[str, Broken] = {
    "keys with mode none": Broken(_auth("mode: none", _KEY), "auth.keys", "Write `mode: keys`, or remove the keys"),
    "short pepper": Broken(_auth("mode: keys", "pepper: secret"), "auth.pepper", "openssl rand -hex 32"),
    "empty pepper": Broken(_auth("mode: keys", "pepper: ''"), "auth.pepper", "Give it a value"),
    "pepper of an unset variable": Broken(_auth("mode: keys", "pepper: ${NOT_SET}"), "auth.pepper", "Set NOT_SET"),
    "pepper of a missing file": Broken(_auth("mode: keys", "pepper: file:/does/not/exist"), "auth.pepper", "readable"),
    "keys are null": Broken(_auth("mode: keys", "keys:"), "auth.keys", "one `- item` per line"),
    "key is text": Broken(_keys("ci"), "auth.keys[0]", "Indent its keys"),
    "key without a name": Broken(_keys(f"{{hash: '{HASH}'}}"), "auth.keys[0].name", "Add `name: ...`"),
    "key without a hash": Broken(_keys("{name: ci}"), "auth.keys[0].hash", "pointsman keys create"),
    "name with a space": Broken(_keys(f"{{name: a b, hash: '{HASH}'}}"), "auth.keys[0].name", "Rename it"),
    "name is a number": Broken(_keys(f"{{name: 1, hash: '{HASH}'}}"), "auth.keys[0].name", "Put it in quotes"),
    "hash without its prefix": Broken(_keys(f"{{name: ci, hash: '{'1' * 64}'}}"), "auth.keys[0].hash", "line of"),
    "hash cut short": Broken(_keys(f"{{name: ci, hash: '{HASH[:-1]}'}}"), "auth.keys[0].hash", "another key"),
    "hash in upper case": Broken(_keys(f"{{name: ci, hash: '{HASH[:-1]}A'}}"), "auth.keys[0].hash", "another key"),
    "key instead of its hash": Broken(_keys("{name: ci, hash: pm_abc}"), "auth.keys[0].hash", "another key"),
    "same name twice": Broken(_keys(f"{{name: ci, hash: '{HASH}'}}", before=_SAME_NAME), "auth.keys[1].name", "Each"),
    "same hash twice": Broken(_keys(f"{{name: two, hash: '{HASH}'}}", before=_SAME_HASH), "auth.keys[1].hash", "Each"),
    "unknown model": Broken(_named("models: [chta]"), "auth.keys[0].models[0]", "Did you mean 'chat'?"),
    "unknown model far from any": Broken(_named("models: [zzzz]"), "auth.keys[0].models[0]", "Known here: chat, fast."),
    "target of no provider": Broken(_named("models: [lokal/small]"), "auth.keys[0].models[0]", "Known here"),
    "model with a space": Broken(_named("models: ['a b']"), "auth.keys[0].models[0]", "Rename it"),
    "models are text": Broken(_named("models: chat"), "auth.keys[0].models", "Write [one, two]"),
    "unknown scope": Broken(_named("scopes: [chatt]"), "auth.keys[0].scopes[0]", "Did you mean 'chat'?"),
    "scope of the whole product, not yet there": Broken(_named("scopes: [direct]"), "auth.keys[0].scopes[0]", "chat"),
    "scope in upper case": Broken(_named("scopes: [CHAT]"), "auth.keys[0].scopes[0]", "Did you mean 'chat'?"),
    "date only": Broken(_named("expires: 2027-01-31"), "auth.keys[0].expires", "2027-01-31T18:00:00Z"),
    "no offset": Broken(_named("expires: '2027-01-31T18:00:00'"), "auth.keys[0].expires", "2027-01-31T18:00:00Z"),
    "no such day": Broken(_named("expires: '2027-02-30T18:00:00Z'"), "auth.keys[0].expires", "2027-01-31T18:00:00Z"),
    "expires is a number": Broken(_named("expires: 1800000000"), "auth.keys[0].expires", "2027-01-31T18:00:00Z"),
    "limits, which are not there yet": Broken(_named("limits: {rpm: 1}"), "auth.keys[0].limits", "Known here: expires"),
}

_UNKNOWN: dict[str, Broken] = {
    "top level": Broken(_top("provider: {}"), "provider", "Did you mean 'providers'?"),
    "top level, nothing near": Broken(_top("zzzz: 1"), "zzzz", "Known here: adaptive, auth, cooldown"),
    "of the whole product, not yet in the schema": Broken(_top("storage: {url: null}"), "storage", "Known here"),
    "in another case": Broken(_top("Logs: {}"), "Logs", "Did you mean 'logs'?"),
    "server": Broken(_server("listn: 127.0.0.1:1"), "server.listn", "Did you mean 'listen'?"),
    "limits": Broken(_server("limits: {bodies: 1}"), "server.limits.bodies", "Did you mean 'body'?"),
    "auth": Broken("version: 1\nauth: {mode: none, keyz: []} #!\n" + LOCAL + CHAT, "auth.keyz", "Did you mean 'keys'?"),
    "records": Broken(_top("records: {decision: {}}"), "records.decision", "Did you mean 'decisions'?"),
    "decisions": Broken(
        _top("records: {decisions: {keep: 7d}}"), "records.decisions.keep", "max_bytes, max_rows, path"
    ),
    "logs": Broken(_top("logs: {request: true}"), "logs.request", "Did you mean 'requests'?"),
    "provider": Broken(_provider("apikey: x"), "providers.local.apikey", "Did you mean 'api_key'?"),
    "provider timeouts": Broken(_provider("timeouts: {conect: 1s}"), "providers.local.timeouts.conect", "'connect'?"),
    "total of a provider": Broken(
        _provider("timeouts: {total: 1s}"), "providers.local.timeouts.total", "Move it to the top-level `timeouts`"
    ),
    "model entry": Broken(
        _provider("models: {a: {modle: b}}"), "providers.local.models.a.modle", "Did you mean 'model'?"
    ),
    "group": Broken(_group("alias: [x]"), "models.chat.alias", "Did you mean 'aliases'?"),
    "target": Broken(_target("{model: local/a, wieght: 1}"), "models.chat.targets[0].wieght", "Did you mean 'weight'?"),
    "cooldown": Broken(_top("cooldown: {maximum: 1m}"), "cooldown.maximum", "Did you mean 'max'?"),
    "timeouts": Broken(_top("timeouts: {idel: 1s}"), "timeouts.idel", "Did you mean 'idle'?"),
    "retry": Broken(_top("retry: {attempts: 3}"), "retry.attempts", "Did you mean 'max_attempts'?"),
}

_SERVER: dict[str, Broken] = {
    "all interfaces": Broken(_server("listen: 0.0.0.0:4000"), "server.listen", "listen on 127.0.0.1:4000"),
    "admin on all interfaces": Broken(_server("admin_listen: '[::]:4001'"), "server.admin_listen", "127.0.0.1:4001"),
    "host name": Broken(_server("listen: gateway.example:4000"), "server.listen", "Write `auth: {mode: keys}`"),
    "no port": Broken(_server("listen: 127.0.0.1"), "server.listen", "127.0.0.1:4000"),
    "port too large": Broken(_server("listen: 127.0.0.1:65536"), "server.listen", "127.0.0.1:4000"),
    "port only": Broken(_server("listen: 4000"), "server.listen", "127.0.0.1:4000"),
    "address outside of its range": Broken(_server("listen: 127.0.0.256:4000"), "server.listen", "127.0.0.1:4000"),
    "same address twice": Broken(_server("admin_listen: 127.0.0.1:4000"), "server.admin_listen", "another port"),
    "body in KB": Broken(_server("limits: {body: 32MB}"), "server.limits.body", "32MiB"),
    "body of nothing": Broken(_server("limits: {body: 0}"), "server.limits.body", "16KiB"),
    "no connections": Broken(_server("limits: {connections: 0}"), "server.limits.connections", "larger number"),
    "octal connections": Broken(_server("limits: {connections: 0100}"), "server.limits.connections", "leading zero"),
    "connections without end": Broken(
        _server("limits: {connections: 1000001}"), "server.limits.connections", "smaller"
    ),
    "drain too long": Broken(_server("drain: 11m"), "server.drain", "Write 10m or less"),
    "drain in base 60": Broken(_server("drain: 1:30"), "server.drain", "250ms, 30s, 5m or 1h"),
    "drain in days": Broken(_server("drain: 1d"), "server.drain", "250ms, 30s, 5m or 1h"),
    "response headers": Broken(_server("response_headers: ful"), "server.response_headers", "Did you mean 'full'?"),
    "server is a list": Broken(_top("server: []"), "server", "Indent its keys below it"),
    "server is null": Broken(_top("server:"), "server", "remove it for the defaults"),
    "log level": Broken(_top("logs: {level: warn}"), "logs.level", "Did you mean 'warning'?"),
    "flag as word": Broken(_top("logs: {requests: yes}"), "logs.requests", "yes, no, on and off are text"),
    "flag as number": Broken(_top("logs: {requests: 1}"), "logs.requests", "Write true or false"),
    "size of the records": Broken(
        _top("records: {decisions: {max_bytes: 1.5MiB}}"), "records.decisions.max_bytes", "1GiB"
    ),
    "empty path of the records": Broken(_top("records: {decisions: {path: ''}}"), "records.decisions.path", "null"),
    "path is a number": Broken(_top("records: {decisions: {path: 5}}"), "records.decisions.path", "Put it in quotes"),
}

_PROVIDERS: dict[str, Broken] = {
    "no kind": Broken(
        HEAD + "providers:\n  local: {base_url: 'http://h/v1'} #!\n" + CHAT, "providers.local.kind", "Add `kind"
    ),
    "unknown kind": Broken(
        HEAD + "providers:\n  local: {kind: olama} #!\n" + CHAT, "providers.local.kind", "'ollama'?"
    ),
    "no base_url": Broken(
        HEAD + "providers:\n  local: {kind: vllm} #!\n" + CHAT, "providers.local.base_url", "base_url: http"
    ),
    "other scheme": Broken(_url("ftp://host/v1"), "providers.local.base_url", "https://api.openai.com/v1"),
    "no scheme": Broken(_url("host:8000/v1"), "providers.local.base_url", "https://api.openai.com/v1"),
    "no host": Broken(_url("http:///v1"), "providers.local.base_url", "https://host:port/path"),
    "metadata of a cloud": Broken(_url("http://169.254.169.254/v1"), "providers.local.base_url", "127.0.0.1"),
    "the same, as IPv6": Broken(
        _url("'http://[::ffff:169.254.169.254]/v1'"), "providers.local.base_url", "address of the provider"
    ),
    "any address": Broken(_url("http://0.0.0.0:8000/v1"), "providers.local.base_url", "127.0.0.1"),
    "credentials in the URL": Broken(_url("http://user:pass@host/v1"), "providers.local.base_url", "into `api_key`"),
    "query": Broken(_url("http://host/v1?key=1"), "providers.local.base_url", "before the `?` or `#`"),
    "fragment": Broken(_url("'http://host/v1#part'"), "providers.local.base_url", "before the `?` or `#`"),
    "port 0": Broken(_url("http://host:0/v1"), "providers.local.base_url", "https://host:port/path"),
    "space in the URL": Broken(_url("http://host/v 1"), "providers.local.base_url", "Remove spaces"),
    "URL is a number": Broken(_url("8000"), "providers.local.base_url", "https://api.openai.com/v1"),
    "key with a space": Broken(_provider("api_key: two words"), "providers.local.api_key", "Copy the key again"),
    "empty key": Broken(_provider("api_key: ''"), "providers.local.api_key", "or remove the key"),
    "key is a number": Broken(_provider("api_key: 12345"), "providers.local.api_key", "Put it in quotes"),
    "unset key": Broken(
        _provider("api_key: ${NOT_SET}"), "providers.local.api_key", "Set NOT_SET, or write ${NOT_SET:-default}"
    ),
    "malformed reference": Broken(_provider("api_key: ${NOT SET}"), "providers.local.api_key", "Write ${NAME}"),
    "key of a missing file": Broken(_provider("api_key: file:/does/not/exist"), "providers.local.api_key", "readable"),
    "key of a relative file": Broken(_provider("api_key: file:key"), "providers.local.api_key", "file:/path/to/file"),
    "header name": Broken(_provider("headers: {'X Title': a}"), "providers.local.headers.'X Title'", "letters, digits"),
    "host header": Broken(_provider("headers: {host: a}"), "providers.local.headers.host", "Remove it"),
    "authorization header": Broken(
        _provider("headers: {Authorization: a}"), "providers.local.headers.Authorization", "api_key"
    ),
    "connection header": Broken(
        _provider("headers: {Connection: close}"), "providers.local.headers.Connection", "Remove it"
    ),
    "header with a line break": Broken(
        _provider('headers: {X-A: "a\\r\\nb"}'), "providers.local.headers.X-A", "line breaks"
    ),
    "header outside of Latin-1": Broken(
        _provider("headers: {X-A: '\u20ac'}"), "providers.local.headers.X-A", "other alphabets"
    ),
    "header is a number": Broken(_provider("headers: {X-A: 1}"), "providers.local.headers.X-A", "Put it in quotes"),
    "headers are a list": Broken(_provider("headers: [X-A]"), "providers.local.headers", "or write {}"),
    "terminator": Broken(_provider("terminator: loose"), "providers.local.terminator", "Write strict"),
    "provider name with a slash": Broken(
        HEAD + LOCAL[:-2] + ", a/b: {kind: openai}} #!\n" + CHAT, "providers.a/b", "Rename it"
    ),
    "provider is text": Broken(HEAD + "providers:\n  local: vllm #!\n" + CHAT, "providers.local", "Indent its keys"),
    "upstream name with a space": Broken(
        _provider("models: {a: {model: 'b c'}}"), "providers.local.models.a.model", "Rename it"
    ),
    "reference name with a space": Broken(
        _provider("models: {'a b': {}}"), "providers.local.models.'a b'", "Rename it"
    ),
    "same_as is a list": Broken(
        _provider("models: {a: {same_as: [b]}}"), "providers.local.models.a.same_as", "in quotes"
    ),
    "attempt longer than the request": Broken(
        _provider("timeouts: {first_content: 11m}"), "providers.local.timeouts.first_content", "raise `timeouts.total`"
    ),
}

_GROUPS: dict[str, Broken] = {
    "no targets": Broken(f"{HEAD}{LOCAL}models:\n  chat: {{}} #!\n", "models.chat.targets", "Add `targets: ...`"),
    "empty targets": Broken(f"{HEAD}{LOCAL}models:\n  chat: {{targets: []}} #!\n", "models.chat.targets", "Add one"),
    "targets are text": Broken(
        f"{HEAD}{LOCAL}models:\n  chat: {{targets: local/a}} #!\n", "models.chat.targets", "- item"
    ),
    "group is null": Broken(f"{HEAD}{LOCAL}models:\n  chat: #!\n", "models.chat", "Indent its keys"),
    "group name with a space": Broken(f"{VALID[:-2]}, a b: {{targets: []}}}} #!\n", "models.'a b'", "Rename it"),
    "unknown provider": Broken(
        _target("{provider: locl, model_ref: a}"), "models.chat.targets[0].provider", "'local'?"
    ),
    "unknown provider in the shorthand": Broken(
        _target("{model: locla/a}"), "models.chat.targets[0].model", "'local'?"
    ),
    "provider far from any": Broken(_target("{model: zzzz/a}"), "models.chat.targets[0].model", "under `providers`"),
    "target is text": Broken(_target("local/a"), "models.chat.targets[0]", "Write {model: provider/model}"),
    "target without anything": Broken(
        _target("{weight: 1}"), "models.chat.targets[0]", "Write {model: provider/model}"
    ),
    "target without a reference": Broken(_target("{provider: local}"), "models.chat.targets[0]", "model_ref"),
    "both spellings": Broken(
        _target("{provider: local, model_ref: a, model: local/a}"), "models.chat.targets[0]", "mixture"
    ),
    "shorthand without a slash": Broken(_target("{model: small}"), "models.chat.targets[0]", "provider/model"),
    "shorthand without a model": Broken(_target("{model: local/}"), "models.chat.targets[0]", "provider/model"),
    "same target twice": Broken(
        _target("{model: local/a}").replace(" #!", "") + "      - {provider: local, model_ref: a} #!\n",
        "models.chat.targets[1]",
        "sum of their weights",
    ),
    "all weights 0": Broken(
        f"{HEAD}{LOCAL}models:\n  chat:\n    targets: #!\n      - {{model: local/a, weight: 0}}\n",
        "models.chat.targets",
        "above 0",
    ),
    "negative weight": Broken(
        _target("{model: local/a, weight: -1}"), "models.chat.targets[0].weight", "larger number"
    ),
    "endless weight": Broken(
        _target("{model: local/a, weight: .inf}"), "models.chat.targets[0].weight", "plain number"
    ),
    "weight is no number": Broken(
        _target("{model: local/a, weight: .nan}"), "models.chat.targets[0].weight", "plain number"
    ),
    "weight too large": Broken(
        _target("{model: local/a, weight: 1e10}"), "models.chat.targets[0].weight", "smaller number"
    ),
    "weight in per cent": Broken(
        _target("{model: local/a, weight: 60%}"), "models.chat.targets[0].weight", "Write digits"
    ),
    "weight is true": Broken(
        _target("{model: local/a, weight: true}"), "models.chat.targets[0].weight", "Write digits"
    ),
    "strategy": Broken(_group("strategy: weigted"), "models.chat.strategy", "Did you mean 'weighted'?"),
    "strategy of a later release": Broken(_group("strategy: quantum"), "models.chat.strategy", "Write weighted"),
    "on_all_unavailable": Broken(_group("on_all_unavailable: waits"), "models.chat.on_all_unavailable", "'wait'?"),
    "enabled is text": Broken(_group("enabled: on"), "models.chat.enabled", "Write true or false"),
    "same_model is text": Broken(_group("same_model: maybe"), "models.chat.same_model", "Write true or false"),
    "aliases are text": Broken(_group("aliases: x"), "models.chat.aliases", "[one, two]"),
    "alias with a space": Broken(_group("aliases: [a b]"), "models.chat.aliases[0]", "Rename it"),
    "alias is its group": Broken(_group("aliases: [chat]"), "models.chat.aliases[0]", "Rename or remove"),
    "alias twice": Broken(_group("aliases: [a, a]"), "models.chat.aliases[1]", "Rename or remove"),
    "alias of another group": Broken(
        f"{HEAD}{LOCAL}models:\n  one: {{aliases: [x], targets: [{{model: local/a}}]}}\n"
        "  two: {aliases: [x], targets: [{model: local/b}]} #!\n",
        "models.two.aliases[0]",
        "Rename or remove",
    ),
    "alias is a later group": Broken(
        f"{HEAD}{LOCAL}models:\n  one: {{aliases: [two], targets: [{{model: local/a}}]}} #!\n"
        "  two: {targets: [{model: local/b}]}\n",
        "models.one.aliases[0]",
        "Rename or remove",
    ),
}

_POLICY: dict[str, Broken] = {
    "longest pause below the first": Broken(_top("cooldown: {base: 2m, max: 1m}"), "cooldown.max", "Raise `max`"),
    "base above the default of max": Broken(_top("cooldown: {base: 6m}"), "cooldown.max", "lower `base`"),
    "no pause": Broken(_top("cooldown: {base: 0s}"), "cooldown.base", "250ms"),
    "negative time": Broken(_top("timeouts: {idle: -1}"), "timeouts.idle", "250ms"),
    "endless time": Broken(_top("timeouts: {idle: .inf}"), "timeouts.idle", "250ms"),
    "time is true": Broken(_top("timeouts: {idle: true}"), "timeouts.idle", "250ms"),
    "time is null": Broken(_top("timeouts: {idle: null}"), "timeouts.idle", "250ms"),
    "connect longer than the request": Broken(_top("timeouts: {connect: 20m}"), "timeouts.connect", "Lower it"),
    "idle longer than a stream": Broken(_top("timeouts: {idle: 2h}"), "timeouts.idle", "`timeouts.total_stream`"),
    "first content longer than the total": Broken(
        _top("timeouts: {first_content: 30s, total: 20s}"), "timeouts.first_content", "`timeouts.total`"
    ),
    "no attempt": Broken(_top("retry: {max_attempts: 0}"), "retry.max_attempts", "larger number"),
    "half an attempt": Broken(_top("retry: {max_attempts: 1.5}"), "retry.max_attempts", "Write digits"),
    "too many attempts": Broken(_top("retry: {max_attempts: 101}"), "retry.max_attempts", "smaller number"),
    "negative budget": Broken(_top("retry: {budget_base: -1}"), "retry.budget_base", "larger number"),
    "ratio above 1": Broken(_top("retry: {budget_ratio: 1.1}"), "retry.budget_ratio", "smaller number"),
    "ratio in per cent": Broken(_top("retry: {budget_ratio: 20%}"), "retry.budget_ratio", "Write digits"),
}

_BROKEN = {
    f"{family}: {name}": broken
    for family, cases in (
        ("syntax", _SYNTAX),
        ("required", _REQUIRED),
        ("auth", _AUTH),
        ("unknown key", _UNKNOWN),
        ("server", _SERVER),
        ("provider", _PROVIDERS),
        ("group", _GROUPS),
        ("policy", _POLICY),
    )
    for name, broken in cases.items()
}


@pytest.mark.case("T93")
@pytest.mark.bug("J-03")
@pytest.mark.parametrize("broken", _BROKEN.values(), ids=_BROKEN)
def test_a_broken_file_is_refused_with_path_line_and_fix(tmp_path: Path, broken: Broken) -> None:
    found = problem(tmp_path, broken.text)

    assert found.path == broken.path
    assert found.line == marked_line(broken.text)
    assert broken.fix in found.fix
    assert str(found).startswith(f"{tmp_path / NAME}:{found.line}:{found.column}: ")


def test_the_file_that_the_broken_ones_are_made_of_loads(tmp_path: Path) -> None:
    path = tmp_path / NAME
    path.write_text(VALID)

    loaded = load(path, environ={})

    assert set(loaded.snapshot.groups) == {"chat"}


@pytest.mark.case("T93")
def test_a_file_of_10_megabytes_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / NAME
    path.write_bytes(b"# filler\n" * (10 * 1024 * 1024 // 9))

    with pytest.raises(ConfigError) as raised:
        load(path, environ={})

    assert str(raised.value) == f"{path}: the file is larger than 1 MiB. Name a configuration file."


@pytest.mark.case("T93")
def test_all_problems_of_a_file_come_at_once_in_the_order_of_its_lines(tmp_path: Path) -> None:
    text = (
        "version: 1\n"
        "server: {listn: 127.0.0.1:1, drain: 11m}\n"
        "providers:\n"
        "  local: {kind: vllm, base_url: 'http://127.0.0.1/v1', api_key: '${NOT_SET}'}\n"
        "  far: {kind: vlm}\n"
        "models:\n"
        "  chat: {targets: [{model: locl/a, weight: 1}, {model: local/a, weight: -1}]}\n"
        "cooldown: {base: 5m, max: 1m}\n"
    )

    found = refused(tmp_path, text).problems

    assert [(each.path, each.line) for each in found] == [
        ("auth", 1),
        ("server.listn", 2),
        ("server.drain", 2),
        ("providers.local.api_key", 4),
        ("providers.far.kind", 5),
        ("models.chat.targets[0].model", 7),
        ("models.chat.targets[1].weight", 7),
        ("cooldown.max", 8),
    ]


@pytest.mark.case("T93")
def test_a_fault_is_named_once_and_not_again_by_what_follows_from_it(tmp_path: Path) -> None:
    text = f"{HEAD}providers:\n  local: {{kind: vlm}}\n{CHAT}"

    found = refused(tmp_path, text).problems

    assert [each.path for each in found] == ["providers.local.kind"]
