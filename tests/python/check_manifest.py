"""Reads an InferenceService by KServe's and Kubernetes' own classes: check_manifest.py FILE

Fails where a field is none that they know.
"""

import re
import sys

import yaml

path = sys.argv[1]
del sys.argv[1:]  # KServe would read it.
from kserve import models  # noqa: E402
from kubernetes import client  # noqa: E402


def check(value, kind, place):
    """Whether `value` is what `kind` ("list[V1Container]") says, down to the leaves."""
    inner = re.fullmatch(r"list\[(.*)\]|dict\(str, (.*)\)", kind)
    if inner:
        for key in range(len(value)) if inner[1] else value:
            check(value[key], inner[1] or inner[2], f"{place}.{key}")
    elif known := getattr(models, kind, None) or getattr(client, kind, None):
        fields = {name: known.openapi_types[attribute]
                  for attribute, name in known.attribute_map.items()}
        for name, part in value.items():
            assert name in fields, f"{place}: {kind} has no field {name}"
            check(part, fields[name], f"{place}.{name}")


with open(path, encoding="utf-8") as file:
    check(yaml.safe_load(file), "V1beta1InferenceService", "")
