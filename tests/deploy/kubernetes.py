#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kubernetes.py REPOSITORY PROGRAM: the manifests of deploy/kubernetes are what a cluster takes, and fit together.

kubernetes.py --fields REPOSITORY: prints tests/deploy/kubernetes.fields again, out of the published schemas
that come with the Python package kubernetes-validate. Where that is there the manifests are held against the
schemas themselves too, where kubectl is there they are put together by it."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

try:
    import yaml
except ImportError:
    print("skip: Debian package python3-yaml is not here")
    sys.exit(77)

VERSIONS = ["1.25", "1.29", "1.33"]  # of the published schemas, the last is that of kubernetes.fields
LAYERS = ["install", "run", "standby", "sync", "reindex"]
faults = []


def fault(where, text):
    faults.append(f"{where}: {text}")


def documents(folder):
    """(path, document) of every manifest that is a resource or a patch."""
    for at, _, names in sorted(os.walk(folder)):
        for name in sorted(n for n in names if n.endswith(".yaml") and n != "kustomization.yaml"):
            path = os.path.join(at, name)
            with open(path, encoding="utf-8") as file:
                for document in yaml.safe_load_all(file):
                    yield os.path.relpath(path, folder), document


def kind_of(value):
    for known, name in ((bool, "boolean"), (int, "integer"), (str, "string")):
        if isinstance(value, known):
            return name
    return "null"


def known_types(path):
    """{type: {field: type}}; of a type that no manifest uses nothing is known."""
    with open(path, encoding="utf-8") as file:
        lines = [line.split() for line in file if not line.startswith("#")]
    return {words[0]: dict(word.split("=") for word in words[1:]) for words in lines}


def check_type(path, value, name, types):
    """Holds a value against a type: a list's is []x, that of an object of any names is {}x."""
    if isinstance(value, list) and name.startswith("[]"):
        for entry in value:
            check_type(path, entry, name[2:], types)
    elif isinstance(value, dict) and name.startswith("{}"):
        for entry in value.values():
            check_type(path, entry, name[2:], types)
    elif isinstance(value, dict) and name in types:
        for key, below in value.items():
            if key in types[name]:
                check_type(f"{path}.{key}", below, types[name][key], types)
            else:
                fault(path, f"{name} has no field {key}")
    elif isinstance(value, (list, dict)) or kind_of(value) not in name.split("|"):
        fault(path, f"is not of type {name}, or that is not in kubernetes.fields")


# --- what the schemas say --------------------------------------------------------------------


def name_of(schema, definitions):
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        if "properties" in definitions[name]:
            return ".".join(name.split(".")[-2:])
        return name_of(definitions[name], definitions)
    if "oneOf" in schema:
        return "|".join(name_of(s, definitions) for s in schema["oneOf"])
    types = schema.get("type", "object")
    (name,) = {t for t in ([types] if isinstance(types, str) else types) if t != "null"} or {"object"}
    if name == "array":
        return "[]" + name_of(schema["items"], definitions)
    if "additionalProperties" in schema and schema["additionalProperties"]:
        return "{}" + name_of(schema["additionalProperties"], definitions)
    return name


def describe(value, schema, definitions, out):
    """Notes the types that a value has and all fields of each."""
    if isinstance(value, list):
        for entry in value:
            describe(entry, schema["items"], definitions, out)
    if not isinstance(value, dict):
        return
    name = name_of(schema, definitions)
    if "$ref" in schema:
        schema = definitions[schema["$ref"].rsplit("/", 1)[1]]
    if "properties" in schema:
        out[name] = {key: name_of(s, definitions) for key, s in schema["properties"].items()}
    for key, below in value.items():
        describe(below, schema.get("properties", {}).get(key) or schema["additionalProperties"], definitions, out)


def print_fields(root):
    import importlib.resources
    import json

    schemas = importlib.resources.files("kubernetes_validate") / "kubernetes-json-schema"
    definitions = json.loads((schemas / f"v{VERSIONS[-1]}.0-local-strict" / "_definitions.json").read_text())["$defs"]
    out = {}
    for _, document in documents(os.path.join(root, "deploy/kubernetes")):
        suffix = "." + document["apiVersion"].replace("/", ".").replace(".k8s.io", "") + "." + document["kind"]
        (name,) = [n for n in definitions if n.endswith(suffix if "/" in document["apiVersion"] else ".core" + suffix)]
        describe(document, {"$ref": "/" + name}, definitions, out)
    print(f"# The types of Kubernetes {VERSIONS[-1]} that deploy/kubernetes uses, with all of their fields, by the published")
    print("# schemas: tests/deploy/kubernetes.py --fields.")
    for name, known in sorted(out.items()):
        print(name, *(f"{key}={types}" for key, types in sorted(known.items())))


def check_published(path, documents_of):
    try:
        import kubernetes_validate
    except ImportError:
        return 0
    for version in VERSIONS:
        for document in documents_of:
            try:
                kubernetes_validate.validate(document, version, strict=True)
            except Exception as error:  # its own classes differ from release to release
                fault(path, f"Kubernetes {version}: {getattr(error, 'message', error)}")
    return len(VERSIONS)


# --- what they have to be --------------------------------------------------------------------


def pod_of(document):
    if document["kind"] == "CronJob":
        return document["spec"]["jobTemplate"]["spec"]["template"]
    return document["spec"]["template"]


def check_pod(path, template, image, fields_of_image):
    spec = template["spec"]
    (container,) = spec["containers"]
    env = {e["name"]: e["value"] for e in container["env"]}
    mounts = {m["name"]: m for m in container["volumeMounts"]}
    volumes = {v["name"]: v for v in spec["volumes"]}
    must = {
        "runs as the image's account": str(spec["securityContext"]["runAsUser"]) == image["USER"].split(":", maxsplit=1)[0],
        "its files belong to that account's group": str(spec["securityContext"]["fsGroup"]) == image["USER"].split(":")[1],
        "not as root": spec["securityContext"]["runAsNonRoot"] is True,
        "seccomp": spec["securityContext"]["seccompProfile"]["type"] == "RuntimeDefault",
        "no more privileges": container["securityContext"]["allowPrivilegeEscalation"] is False,
        "no capabilities": container["securityContext"]["capabilities"] == {"drop": ["ALL"]},
        "root is read only": container["securityContext"]["readOnlyRootFilesystem"] is True,
        "no token": spec["automountServiceAccountToken"] is False,
        "memory is limited": "memory" in container["resources"]["limits"],
        "state on its volume": env["STATE_DIRECTORY"] == mounts["state"]["mountPath"] == fields_of_image["STATE_DIRECTORY"],
        "secrets are files": env["CREDENTIALS_DIRECTORY"] == mounts["secrets"]["mountPath"]
        and volumes["secrets"]["secret"]["secretName"] == "rowferry" and not any("valueFrom" in e for e in container["env"]),
        "others do not read them": volumes["secrets"]["secret"]["defaultMode"] == 0o440,
        "configuration": volumes["config"]["configMap"]["name"] == "rowferry" and mounts["config"]["mountPath"] == "/etc/rowferry",
        "every volume is mounted": set(mounts) - set(volumes) <= {"state"} and set(volumes) <= set(mounts),
    }
    for text, holds in must.items():
        if not holds:
            fault(path, f"not so: {text}")
    return container, env


def check_run(path, document, container, env):
    spec = document["spec"]
    port = env["ROWFERRY_LISTEN"].rsplit(":", 1)[1]
    must = {
        "one replica": spec["replicas"] == 1,
        "labels": spec["selector"]["matchLabels"] == spec["template"]["metadata"]["labels"],
        "a volume of its own": [v["metadata"]["name"] for v in spec["volumeClaimTemplates"]] == ["state"],
        "port": container["ports"] == [{"name": "http", "containerPort": int(port)}],
        "alive": container["livenessProbe"]["httpGet"] == {"path": "/healthz", "port": "http"},
        "ready": container["readinessProbe"]["httpGet"] == {"path": "/readyz", "port": "http"},
        "time to stop": spec["template"]["spec"]["terminationGracePeriodSeconds"] > 5,
    }
    for text, holds in must.items():
        if not holds:
            fault(path, f"not so: {text}")


def check_jobs(path, document):
    spec = document["spec"]
    if document["kind"] == "CronJob":
        if spec["concurrencyPolicy"] != "Forbid":
            fault(path, "two syncs at a time")
        spec = spec["jobTemplate"]["spec"]
    if spec["backoffLimit"] != 0 or spec["template"]["spec"]["restartPolicy"] != "Never":
        fault(path, "what failed is tried again at once")


def check_command(path, program, args):
    said = subprocess.run([program, *args, "--help"], capture_output=True, text=True, check=False)
    if said.returncode != 0:
        fault(path, f"rowferry {' '.join(args)}: {said.stderr.strip()}")


def check_manifest(path, document, program, image, fields_of_image):
    if document["kind"] in ("StatefulSet", "CronJob", "Job"):
        container, env = check_pod(path, pod_of(document), image, fields_of_image)
        check_command(path, program, container["args"])
        if document["kind"] == "StatefulSet":
            check_run(path, document, container, env)
        else:
            check_jobs(path, document)


def check_configuration(folder, program, scratch):
    """The program takes it, and nothing is there to connect to."""
    path = os.path.join(folder, "common/rowferry.json")
    with open(path, encoding="utf-8") as file:
        text = file.read().replace("db.internal", "127.0.0.1:1")
    copy = os.path.join(scratch, "rowferry.json")
    with open(copy, "w", encoding="utf-8") as file:
        file.write(text)
    said = subprocess.run([program, "-c", copy, "status"], capture_output=True, text=True, check=False,
                          env={**os.environ, "STATE_DIRECTORY": scratch})
    if said.returncode != 0:
        fault("common/rowferry.json", f"exit code {said.returncode}: {said.stderr.strip()}")
    for name in re.findall(r'"credential": "([^"]*)"', text):
        if f"--from-file={name}" not in text:
            fault("common/rowferry.json", f"does not say where {name} comes from")


def put_together(folder):
    """What kubectl makes of each layer; nothing where it is not there."""
    if not shutil.which("kubectl"):
        return
    for layer in LAYERS:
        said = subprocess.run(["kubectl", "kustomize", os.path.join(folder, layer)], capture_output=True, text=True, check=False)
        if said.returncode != 0:
            fault(layer, said.stderr.strip())
            continue
        yield layer, list(yaml.safe_load_all(said.stdout))


def check_together(layer, made):
    kinds = {d["kind"]: d for d in made}
    wanted = {"run": "StatefulSet", "standby": "StatefulSet", "sync": "CronJob"}.get(layer, "Job")
    if not {wanted, "ConfigMap", "NetworkPolicy", "ServiceAccount"} <= set(kinds):
        fault(layer, f"only {sorted(kinds)}")
        return
    template = pod_of(kinds[wanted])
    config = next(v for v in template["spec"]["volumes"] if v["name"] == "config")
    if config["configMap"]["name"] != kinds["ConfigMap"]["metadata"]["name"]:
        fault(layer, "names another configuration")
    if not kinds["NetworkPolicy"]["spec"]["podSelector"]["matchLabels"].items() <= template["metadata"]["labels"].items():
        fault(layer, "the network policy is for other pods")
    if layer == "standby":
        spec = kinds["StatefulSet"]["spec"]
        if spec["replicas"] != 2 or template["spec"]["containers"][0]["args"] != ["run", "--wait"]:
            fault(layer, "is no standby")


def image_of(root):
    """The last of each instruction of the Dockerfile, and its ENV."""
    with open(os.path.join(root, "deploy/container/Dockerfile"), encoding="utf-8") as file:
        text = re.sub(r"\\\n", " ", file.read())
    lines = [line.split(None, 1) for line in text.splitlines() if line and not line.startswith("#")]
    image = {words[0]: words[1].strip() for words in lines}
    return image, dict(pair.split("=", 1) for pair in image["ENV"].split())


def main():
    if sys.argv[1] == "--fields":
        print_fields(sys.argv[2])
        return 0
    root, program = sys.argv[1:3]
    folder = os.path.join(root, "deploy/kubernetes")
    types = known_types(os.path.join(root, "tests/deploy/kubernetes.fields"))
    image, fields_of_image = image_of(root)
    count = 0
    for path, document in documents(folder):
        count += 1
        check_type(path, document, document["apiVersion"].split("/")[-1] + "." + document["kind"], types)
        if not path.startswith("standby/statefulset"):  # a patch
            check_published(path, [document])
            try:
                check_manifest(path, document, program, image, fields_of_image)
            except KeyError as error:
                fault(path, f"lacks {error}")
    with tempfile.TemporaryDirectory() as scratch:
        check_configuration(folder, program, scratch)
    layers = 0
    versions = 0
    for layer, made in put_together(folder):
        layers += 1
        check_together(layer, made)
        versions = check_published(layer, made)
    for text in faults:
        print(text)
    print(f"kubernetes: {count} manifests, {layers} layers put together, {versions} published versions, {len(faults)} faults")
    return 1 if faults or count < 10 else 0


sys.exit(main())
