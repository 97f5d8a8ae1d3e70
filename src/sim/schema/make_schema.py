#!/usr/bin/env python3
"""Writes tpu_api.json, the schema of the Cloud TPU API: names and types, no prose.

    make_schema.py tpu-v2.discovery.json tpu-v2alpha1.discovery.json > tpu_api.json

The arguments are the discovery documents of tpu.googleapis.com. What they lack is in the tables
below, from google/cloud/tpu/v2/cloud_tpu.proto of github.com/googleapis/googleapis. Of v1, the
methods that the simulator answers are listed here (from the client library of gcloud 528).

A field is written "TYPE[] FLAGS": "[]" is a list, "{}" a map, "out" is output only, "v2alpha1" a
version that alone has it, and "|tier" a oneof group of which one field may be set. A value of an
enum is "NAME" or "NAME=NUMBER" (else one more than the value before), with "/v2" for a version.
"""

import json
import sys

# Numbers that do not follow the value before.
NUMBERS = {
    'AcceleratorConfig.Type': {'V2': 2, 'V3': 4, 'V4': 7, 'V5LITE_POD': 9},
    'Node.State': {'STOPPED': 8},
    'Node.Health': {'TIMEOUT': 3},
}
ONEOFS = {
    'NodeSpec': {'name_strategy': ['nodeId', 'multisliceParams', 'multiNodeParams']},
    'QueuedResource': {'resource': ['tpu'], 'tier': ['spot', 'guaranteed', 'bestEffort']},
    'QueueingPolicy': {'start_timing_constraints': [
        'validUntilDuration', 'validUntilTime', 'validAfterDuration', 'validAfterTime',
        'validInterval']},
}
# Set by the server, although not marked so in every version.
OUTPUT_ONLY = {'Node': ['health'], 'FailedData': ['error']}
# The proto's full names of messages and enums that lie in others, after "google.cloud.tpu.VERSION".
NESTED = {
    'Tpu': 'QueuedResource', 'NodeSpec': 'QueuedResource.Tpu', 'Spot': 'QueuedResource',
    'MultisliceParams': 'QueuedResource.Tpu.NodeSpec',
    'MultiNodeParams': 'QueuedResource.Tpu.NodeSpec', 'BestEffort': 'QueuedResource',
    'Guaranteed': 'QueuedResource', 'QueueingPolicy': 'QueuedResource',
}
FORMATS = {'int32': 'int32', 'int64': 'int64', 'google-datetime': 'time',
           'google-duration': 'duration', 'google-fieldmask': 'mask'}
V1 = {
    'locations.get': ('GET', 'Location', ''),
    'locations.list': ('GET', 'ListLocationsResponse',
                       'extraLocationTypes[] filter pageSize pageToken'),
    'acceleratorTypes.get': ('GET', 'AcceleratorType', ''),
    'acceleratorTypes.list': ('GET', 'ListAcceleratorTypesResponse',
                              'filter orderBy pageSize pageToken'),
    'tensorflowVersions.get': ('GET', 'TensorFlowVersion', ''),
    'tensorflowVersions.list': ('GET', 'ListTensorFlowVersionsResponse',
                                'filter orderBy pageSize pageToken'),
    'operations.get': ('GET', 'Operation', ''),
    'operations.list': ('GET', 'ListOperationsResponse', 'filter pageSize pageToken'),
    'operations.delete': ('DELETE', 'Empty', ''),
    'operations.cancel': ('POST', 'Empty', ''),
}
V1_MESSAGES = {
    'AcceleratorType': {'name': 'string', 'type': 'string'},
    'TensorFlowVersion': {'name': 'string', 'version': 'string'},
    'ListTensorFlowVersionsResponse': {
        'tensorflowVersions': 'TensorFlowVersion[]', 'nextPageToken': 'string',
        'unreachable': 'string[]'},
}
V1_SHARED = ['Location', 'ListLocationsResponse', 'ListAcceleratorTypesResponse', 'Operation',
             'ListOperationsResponse', 'Status', 'Empty', 'OperationMetadata']


def scalar(message, name, spec, enums, version):
    if '$ref' in spec:
        return spec['$ref']
    if 'enum' in spec:
        enum = message + '.' + name[0].upper() + name[1:]
        enums.setdefault(enum, {})[version] = spec['enum']
        return enum
    if spec['type'] in ('any', 'object'):
        return 'any'
    return FORMATS.get(spec.get('format'), {'boolean': 'bool'}.get(spec['type'], spec['type']))


def field(message, name, spec, enums, version):
    if spec.get('type') == 'array':
        return scalar(message, name, spec['items'], enums, version) + '[]'
    values = spec.get('additionalProperties')
    if values is not None and values.get('type') == 'string':
        return 'string{}'
    return scalar(message, name, spec, enums, version)


def methods_of(resource):
    for name, method in resource.get('methods', {}).items():
        yield '.'.join(method['id'].split('.')[-2:]), method
    for inner in resource.get('resources', {}).values():
        yield from methods_of(inner)


def only(versions, has):
    return '' if set(versions) == set(has) else ' ' + ' '.join(sorted(versions))


def join_fields(by_version, groups, has):
    """{version: {name: type}} as {name: "type flags"}."""
    joined = {}
    for name in sorted({name for fields in by_version.values() for name in fields}):
        versions = [v for v in has if name in by_version[v]]
        kinds = {by_version[v][name] for v in versions}
        out = any(kind.endswith(' out') for kind in kinds)
        kinds = {kind.removesuffix(' out') for kind in kinds}
        assert len(kinds) == 1, (name, kinds)
        text = kinds.pop() + (' out' if out else '') + only(versions, has)
        for group, members in groups.items():
            text += ' |' + group if name in members else ''
        joined[name] = text
    return joined


def join_enum(enum, by_version):
    values, number = [], -1
    order = max(by_version.values(), key=len)
    assert all(v in order for values_of in by_version.values() for v in values_of), enum
    for name in order:
        known = NUMBERS.get(enum, {}).get(name)
        text = name if known is None else '%s=%d' % (name, known)
        number = number + 1 if known is None else known
        versions = [v for v in by_version if name in by_version[v]]
        values.append(text + only(versions, by_version).replace(' ', '/', 1).replace(' ', '/'))
    return ' '.join(values)


def main():
    documents = {}
    for path in sys.argv[1:]:
        with open(path, encoding='utf-8') as file:
            document = json.load(file)
        documents[document['version']] = document
    messages, enums, methods = {}, {}, {}
    for version, document in documents.items():
        for message, schema in document['schemas'].items():
            fields = messages.setdefault(message, {}).setdefault(version, {})
            for name, spec in schema.get('properties', {}).items():
                fields[name] = field(message, name, spec, enums, version)
                if spec.get('readOnly') or name in OUTPUT_ONLY.get(message, []):
                    fields[name] += ' out'
        for name, method in methods_of(document):
            query = {k: scalar(name, k, q, {}, version) + ('[]' if q.get('repeated') else '')
                     for k, q in method['parameters'].items() if q['location'] == 'query'}
            methods.setdefault(name, {})[version] = {
                'http': method['httpMethod'], 'body': method.get('request', {}).get('$ref', ''),
                'reply': method['response']['$ref'], 'query': query}
    for name, (http, reply, query) in V1.items():
        names = {'pageSize': 'int32', 'extraLocationTypes[]': 'string[]'}
        methods.setdefault(name, {})['v1'] = {
            'http': http, 'body': '', 'reply': reply,
            'query': {q.removesuffix('[]'): names.get(q, 'string') for q in query.split()}}
    for message, fields in V1_MESSAGES.items():
        messages.setdefault(message, {})['v1'] = fields
    for message in V1_SHARED:
        messages[message]['v1'] = messages[message]['v2']

    result = {
        'revisions': {v: d['revision'] for v, d in documents.items()},
        'parameters': ' '.join(sorted(documents['v2']['parameters'])),
        'enums': {e: join_enum(e, by) for e, by in sorted(enums.items())},
        'messages': {}, 'methods': {}}
    for message, by_version in sorted(messages.items()):
        entry = join_fields(by_version, ONEOFS.get(message, {}), list(by_version))
        if message in NESTED:
            entry['@of'] = NESTED[message]
        result['messages'][message] = entry
    for name, by_version in sorted(methods.items()):
        first = next(iter(by_version.values()))
        queries = {v: m['query'] for v, m in by_version.items()}
        result['methods'][name] = {
            '@in': ' '.join(sorted(by_version)), '@http': first['http'],
            '@body': first['body'] or 'Empty', '@reply': first['reply'],
            **join_fields(queries, {}, list(by_version))}

    lines = json.dumps(result, indent=1).replace('\n   ', ' ').replace('\n  }', ' }')
    print(lines)


main()
