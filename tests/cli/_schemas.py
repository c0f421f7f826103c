"""Documents of --json against the schemas in configs/schemas, made strict: a member that no schema names is an error."""
import json

import jsonschema
import referencing
from _rlgo import SOURCE

FOLDER = SOURCE / "configs/schemas"


def strict(schema, top=True):
    """Objects with named members have no others. The envelope is open, as every document adds to it."""
    if isinstance(schema, list):
        return [strict(part, False) for part in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {key: part if key == "$defs" else strict(part, False) for key, part in schema.items() if key != "$defs"}
    if "$defs" in schema:
        closed["$defs"] = {name: part if name == "envelope" else strict(part, False) for name, part in schema["$defs"].items()}
    if isinstance(schema.get("properties"), dict) and ("type" in schema or top) and "additionalProperties" not in schema:
        closed["unevaluatedProperties"] = False
    return closed


def schemas():
    return {path.name: json.loads(path.read_text()) for path in sorted(FOLDER.glob("*.json"))}


def validator(name):
    all_ = {key: strict(schema) for key, schema in schemas().items()}
    registry = referencing.Registry().with_resources((key, referencing.Resource.from_contents(schema)) for key, schema in all_.items())
    return jsonschema.Draft202012Validator(all_[name], registry=registry)


def check(document, kind):
    """Fails where the document is not as the schema of its kind says, version included; returns it."""
    errors = [f"{'/'.join(map(str, e.absolute_path))}: {e.message[:300]}" for e in validator(f"{kind}.json").iter_errors(document)]
    assert not errors, "\n".join(errors)
    return document


def read(path, kind):
    return check(json.loads(path.read_text()), kind)
