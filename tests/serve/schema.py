"""The part of JSON Schema that the description of the server uses, checked word by word."""

from typing import Any

KINDS: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
}


Schema = dict[str, Any]


def is_of_kind(value: object, kind: str) -> bool:
    """Return whether a value is of a type of JSON Schema; true and false are no numbers."""
    return isinstance(value, KINDS[kind]) and (kind == "boolean" or not isinstance(value, bool))


def find_faults(value: Any, schema: Schema, spec: Schema, at: str = "") -> list[str]:
    """Return where a value differs from a schema of the description."""
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        return find_faults(value, spec["components"]["schemas"][name], spec, at)
    if "oneOf" in schema:
        fits = [not find_faults(value, one, spec, at) for one in schema["oneOf"]]
        return [] if any(fits) else [f"{at}: fits none of {len(fits)}"]
    kind: str = schema["type"]
    if not is_of_kind(value, kind):
        return [f"{at}: {value!r} is no {kind}"]
    if isinstance(value, list):
        parts = [find_faults(one, schema["items"], spec, f"{at}[]") for one in value]
        return [fault for part in parts for fault in part]
    if isinstance(value, dict):
        return find_faults_of_object(value, schema, spec, at)
    return [] if value in schema.get("enum", [value]) else [f"{at}: {value!r}"]


def find_faults_of_object(value: Schema, schema: Schema, spec: Schema, at: str) -> list[str]:
    """Return which properties lack, are not described, or differ from their schema."""
    known = schema.get("properties", {})
    faults = [f"{at}.{name} lacks" for name in schema.get("required", []) if name not in value]
    if schema.get("additionalProperties") is False:
        faults += [f"{at}.{name} is not described" for name in value if name not in known]
    for name in value.keys() & known.keys():
        faults += find_faults(value[name], known[name], spec, f"{at}.{name}")
    return faults
