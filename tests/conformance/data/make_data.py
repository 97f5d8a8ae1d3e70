#!/usr/bin/env python3
"""Writes the data of conformance_discovery and conformance_beside_gcloud beside this script.

    make_data.py tpu-v2.discovery.json tpu-v2alpha1.discovery.json FOLDER

The first two are the discovery documents of tpu.googleapis.com. FOLDER has recordings of gcloud
against a server on loopback, one JSON file per command: {argv, requests: [{method, path, body,
reply_code, reply}]}. Only gcloud's side of them is authentic.

discovery.json is the documents without their prose; gcloud_requests.json what gcloud sent, for
commands that succeed (numbers below 50); recorded_replies.json the different replies of v2 and
v2alpha1.
"""

import json
import os
import shlex
import sys

KEPT = ('type', 'format', 'enum', 'readOnly', '$ref', 'items', 'additionalProperties', 'repeated')
HERE = os.path.dirname(os.path.abspath(__file__))


def bare(spec):
    """A field, parameter or item without its prose."""
    kept = {key: spec[key] for key in KEPT if key in spec}
    for inner in ('items', 'additionalProperties'):
        if inner in kept:
            kept[inner] = bare(kept[inner])
    return kept


def methods_of(resource):
    for method in resource.get('methods', {}).values():
        query = {name: bare(spec) for name, spec in method['parameters'].items()
                 if spec['location'] == 'query'}
        yield method['id'], {
            'http': method['httpMethod'], 'path': '/' + method['flatPath'], 'query': query,
            'request': method.get('request', {}).get('$ref', ''),
            'response': method.get('response', {}).get('$ref', '')}
    for inner in resource.get('resources', {}).values():
        yield from methods_of(inner)


def document(path):
    with open(path, encoding='utf-8') as file:
        whole = json.load(file)
    return whole['version'], {
        'revision': whole['revision'],
        'parameters': {name: bare(spec) for name, spec in whole['parameters'].items()},
        'methods': dict(methods_of(whole)),
        'messages': {name: {field: bare(spec) for field, spec in
                            message.get('properties', {}).items()}
                     for name, message in whole['schemas'].items()}}


def recordings(folder):
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), encoding='utf-8') as file:
            yield name.removesuffix('.json'), json.load(file)


def text(value, depth):
    """JSON with one line for each value at this depth."""
    if depth == 0 or not value or not isinstance(value, (dict, list)):
        return json.dumps(value, sort_keys=True, ensure_ascii=False)
    if isinstance(value, list):
        return '[\n' + ',\n'.join(text(item, depth - 1) for item in value) + '\n]'
    lines = (json.dumps(key) + ': ' + text(item, depth - 1) for key, item in sorted(value.items()))
    return '{\n' + ',\n'.join(lines) + '\n}'


def write(name, value, depth):
    with open(os.path.join(HERE, name), 'w', encoding='utf-8') as file:
        file.write(text(value, depth) + '\n')


def main():
    *documents, folder = sys.argv[1:]
    write('discovery.json', dict(document(path) for path in documents), 3)
    sent, replies = {}, {}
    for name, recording in recordings(folder):
        for request in recording['requests']:
            call = {key: request[key] for key in ('method', 'path', 'body')}
            argv = shlex.join(recording['argv'])
            calls = sent.setdefault(name, {'argv': argv, 'requests': []})['requests']
            if call not in calls:
                calls.append(call)
            if request['path'].startswith('/v2'):
                reply = {'method': request['method'], 'path': request['path'],
                         'status': request['reply_code'], 'reply': request['reply']}
                replies.setdefault(json.dumps(reply['reply'], sort_keys=True), reply)
    write('gcloud_requests.json', {name: one for name, one in sent.items() if name[:2] < '50'}, 3)
    write('recorded_replies.json', list(replies.values()), 1)


if __name__ == '__main__':
    main()
