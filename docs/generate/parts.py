# SPDX-License-Identifier: GPL-2.0-only
"""What JSON Schemas are put together of."""


def number(text):
    """A count."""
    return {"description": text, "type": "integer", "minimum": 0}


def text_of(text, most):
    """A text of so many characters at most."""
    return {"description": text, "type": "string", "maxLength": most}


def truth(text):
    """Yes or no."""
    return {"description": text, "type": "boolean"}


def rate(text):
    """What happens in a second."""
    return {"description": f"{text} a second, between the two looks", "type": "number",
            "minimum": 0}


def whole(properties, text):
    """An object that has all of these, and nothing else."""
    return {"description": text, "type": "object", "properties": properties,
            "required": list(properties), "additionalProperties": False}


def real(text, *types):
    """A number with a fraction; @types: what else it may be."""
    return {"description": text, "type": ["number", *types] if types else "number"}


def array(items):
    """So many of them."""
    return {"type": "array", "items": items}


def maybe(schema, text):
    """That, or null."""
    return {"description": text, "anyOf": [{"type": "null"}, schema]}


def words(text):
    """Some text, or null."""
    return {"description": text, "type": ["string", "null"]}


def some(needed, more, text):
    """An object that has the first ones, may have the others, and nothing else."""
    return {"description": text, "type": "object", "properties": {**needed, **more},
            "required": list(needed), "additionalProperties": False}
