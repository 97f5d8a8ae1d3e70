#!/usr/bin/env python3
"""Writes side_services.json beside this script: the services beside Cloud TPU, in the form of
discovery.json, with the methods that jobman or its simulator knows and the messages of these.

    make_side_data.py GOOGLE_CLOUD_SDK

The argument is the folder of an installed Google Cloud CLI. It has BigQuery's discovery document
whole. Of the others it has client libraries that Google generates from the documents: they keep
methods, paths, parameters, fields, types and enums, and lose `readOnly` and the formats of times;
some are of an older document. DOCUMENTED adds what the documents say beyond them, where it matters
here. STS is in neither, and written out below.
"""

import collections
import importlib
import json
import os
import sys

from make_data import bare, methods_of, write

# From the documents in googleapiclient/discovery_cache/documents/ of the repository
# googleapis/google-api-python-client, read by hand:
# iamcredentials.v1.json (commit 0278ed53, revision 20230120), monitoring.v3.json and
# serviceusage.v1beta1.json (commit 00fb49d8), oslogin.v1.json (commit 046b03f8, revision 20220205),
# sts.v1.json (commit 01a75094, revision 20240619).
TIME = {'format': 'google-datetime'}
DURATION = {'format': 'google-duration'}
READ_ONLY = {'readOnly': True}
TEXT = {'type': 'string'}
OPAQUE = {'type': 'object'}  # nothing here looks into it
DOCUMENTED = {
    'oslogin.v1': {
        'SshPublicKey.fingerprint': READ_ONLY, 'SshPublicKey.name': READ_ONLY,
        'PosixAccount.accountId': READ_ONLY, 'PosixAccount.name': READ_ONLY},
    'iamcredentials.v1': {
        'GenerateAccessTokenRequest.lifetime': DURATION,
        'GenerateAccessTokenResponse.expireTime': TIME},
    'monitoring.v3': {
        'query.aggregation.alignmentPeriod': DURATION, 'query.interval.startTime': TIME,
        'query.interval.endTime': TIME, 'TimeInterval.startTime': TIME,
        'TimeInterval.endTime': TIME},
    'serviceusage.v1beta1': {
        'ConsumerQuotaLimit.supportedLocations': {'type': 'array', 'items': TEXT},
        'ConsumerQuotaMetric.descendantConsumerQuotaLimits': {
            'type': 'array', 'items': {'$ref': 'ConsumerQuotaLimit'}},
        'QuotaBucket.producerQuotaPolicy': OPAQUE, 'QuotaBucket.rolloutInfo': OPAQUE,
        'QuotaOverride.adminOverrideAncestor': TEXT},
}

# Of the older APIs: a field is shown although it is 0, false or empty.
OLDER = {'shows_defaults': True}
GENERATED = {
    'compute.v1': (['compute.globalOperations.get', 'compute.globalOperations.wait',
                    'compute.projects.get', 'compute.projects.setCommonInstanceMetadata',
                    'compute.regions.get'], OLDER),
    'iamcredentials.v1': (['iamcredentials.projects.serviceAccounts.generateAccessToken'], {}),
    'monitoring.v3': (['monitoring.projects.timeSeries.list'], {}),
    'oslogin.v1': (['oslogin.users.getLoginProfile', 'oslogin.users.importSshPublicKey'], {}),
    'serviceusage.v1beta1': (['serviceusage.services.consumerQuotaMetrics.list'], {}),
    'storage.v1': (['storage.buckets.get', 'storage.buckets.getStorageLayout',
                    'storage.buckets.list'], OLDER),
}
BIGQUERY = ['bigquery.jobs.getQueryResults', 'bigquery.jobs.query']

EXCHANGE = 'GoogleIdentityStsV1ExchangeToken'
STS = {
    'source': 'sts.v1.json of googleapis/google-api-python-client, commit 01a75094',
    'revision': '20240619', 'root': 'https://sts.googleapis.com',
    'methods': {'sts.token': {'http': 'POST', 'path': '/v1/token', 'query': {},
                              'request': EXCHANGE + 'Request',
                              'response': EXCHANGE + 'Response'}},
    'messages': {
        EXCHANGE + 'Request': {name: TEXT for name in (
            'audience', 'grantType', 'options', 'requestedTokenType', 'scope', 'subjectToken',
            'subjectTokenType')},
        EXCHANGE + 'Response': {
            'access_token': TEXT, 'expires_in': {'format': 'int32', 'type': 'integer'},
            'issued_token_type': TEXT, 'token_type': TEXT}},
}


class Generated:
    """One of the client libraries, read back into the terms of a discovery document."""

    def __init__(self, key):
        self.key = key
        name, version = key.split('.')
        module = f'googlecloudsdk.generated_clients.apis.{name}.{version}.{name}_{version}'
        self.library = importlib.import_module(module + '_messages')
        client = importlib.import_module(module + '_client')
        self.client = next(one for one in vars(client).values() if hasattr(one, 'BASE_URL'))
        https, empty, host, path = self.client.BASE_URL.split('/', 3)
        self.root, self.path = f'{https}//{host}', '/' + path
        self.found = {}

    def spec(self, field, at=''):
        """The type of a field, without whether it is a list."""
        kind, variant = type(field).__name__, str(field.variant)
        if kind == 'EnumField':
            words = sorted(field.type, key=lambda word: word.number)
            spec = {'type': 'string', 'enum': [self.word(field.type, word.name) for word in words]}
        elif kind == 'MessageField':
            spec = self.message(field.type)
        elif kind == 'IntegerField' and variant.endswith('32'):
            spec = {'type': 'integer', 'format': variant.lower()}
        elif kind == 'IntegerField':
            spec = {'type': 'string', 'format': variant.lower()}
        else:
            spec = dict({'FloatField': {'type': 'number', 'format': 'double'},
                         'BooleanField': {'type': 'boolean'},
                         'BytesField': {'type': 'string', 'format': 'byte'},
                         'DateTimeField': {'type': 'string', 'format': 'date-time'},
                         'DateField': {'type': 'string', 'format': 'date'},
                         'StringField': TEXT}[kind])
        spec.update(DOCUMENTED.get(self.key, {}).get(at, {}))
        return spec

    @staticmethod
    def word(enum, name):
        from apitools.base.py import encoding
        return encoding.GetCustomJsonEnumMapping(enum, python_name=name) or name

    @staticmethod
    def json_name(message, field):
        from apitools.base.py import encoding
        return encoding.GetCustomJsonFieldMapping(message, python_name=field.name) or field.name

    def message(self, message):
        fields = {field.name: field for field in message.all_fields()}
        if message.__module__.startswith('apitools'):
            return {'type': 'object', 'additionalProperties': {'type': 'any'}}
        if list(fields) == ['additionalProperties']:
            value = fields['additionalProperties'].type.field_by_name('value')
            return {'type': 'object', 'additionalProperties': self.listed(value)}
        name = message.definition_name().removeprefix(self.library.package + '.')
        if name not in self.found:
            self.found[name] = None  # a message may have itself
            self.found[name] = {
                self.json_name(message, field): self.listed(
                    field, f'{name}.{self.json_name(message, field)}')
                for field in fields.values()}
            for at, spec in DOCUMENTED.get(self.key, {}).items():
                if at.startswith(name + '.'):
                    self.found[name].setdefault(at.removeprefix(name + '.'), spec)
        return {'$ref': name}

    def listed(self, field, at=''):
        spec = self.spec(field, at)
        return {'type': 'array', 'items': spec} if field.repeated else spec

    def query(self, message, names):
        query = {}
        for name in names:
            field = message.field_by_name(name)
            shown = self.json_name(message, field)
            query[shown] = self.spec(field, 'query.' + shown)
            if field.repeated:
                query[shown]['repeated'] = True
        return query

    def method(self, info):
        request = getattr(self.library, info.request_type_name)
        body = ''
        if info.request_field == '<request>':
            body = self.message(request)['$ref']
        elif info.request_field:
            body = self.message(request.field_by_name(info.request_field).type)['$ref']
        path = self.path + (info.flat_path or info.relative_path)
        return {'http': info.http_method, 'path': path,
                'query': self.query(request, info.query_params), 'request': body,
                'response': self.message(getattr(self.library, info.response_type_name))['$ref']}

    def infos(self):
        for service in vars(self.client).values():
            for method in vars(service).values() if isinstance(service, type) else ():
                config = getattr(method, 'method_config', None)
                if config:
                    yield config()

    def document(self, wanted, more, release):
        methods = {info.method_id: self.method(info) for info in self.infos()
                   if info.method_id in wanted}
        assert sorted(methods) == wanted, (self.key, sorted(methods))
        standard = self.library.StandardQueryParameters
        # The last two are of the library, not of the documents.
        names = [field.name for field in standard.all_fields()
                 if field.name not in ('trace', 'pp')]
        source = f'generated client of Google Cloud CLI {release}'
        return {'source': source, 'root': self.root, 'methods': methods, 'messages': self.found,
                'parameters': self.query(standard, names), **more}


def reached(messages, names):
    """These messages and all that they refer to."""
    queue, kept = collections.deque(names), {}
    while queue:
        name = queue.popleft()
        if name in kept or not name:
            continue
        kept[name] = messages[name]
        queue.extend(references(messages[name]))
    return kept


def references(spec):
    for key, value in spec.items():
        if key == '$ref':
            yield value
        elif isinstance(value, dict):
            yield from references(value)


def bigquery(sdk, release):
    path = os.path.join(sdk, 'platform/bq/discovery_next/bigquery.json')
    with open(path, encoding='utf-8') as file:
        whole = json.load(file)
    methods = {name: method for name, method in methods_of(whole) if name in BIGQUERY}
    for method in methods.values():
        method['path'] = '/' + whole['servicePath'] + method['path'].removeprefix('/')
    messages = {name: {field: bare(spec) for field, spec in message.get('properties', {}).items()}
                for name, message in whole['schemas'].items()}
    ends = [method[end] for method in methods.values() for end in ('request', 'response')]
    return {'source': f'discovery document in Google Cloud CLI {release}',
            'revision': whole['revision'], 'root': whole['rootUrl'].rstrip('/'),
            'methods': methods,
            'messages': reached(messages, ends),
            'parameters': {name: bare(spec) for name, spec in whole['parameters'].items()}, **OLDER}


def main():
    sdk = sys.argv[1]
    sys.path[:0] = [os.path.join(sdk, 'lib'), os.path.join(sdk, 'lib/third_party')]
    with open(os.path.join(sdk, 'VERSION'), encoding='utf-8') as file:
        release = file.read().strip()
    documents = {key: Generated(key).document(wanted, more, release)
                 for key, (wanted, more) in GENERATED.items()}
    documents['bigquery.v2'] = bigquery(sdk, release)
    # Every document of this kind has the same ones.
    documents['sts.v1'] = {**STS, 'parameters': documents['iamcredentials.v1']['parameters']}
    write('side_services.json', documents, 3)


if __name__ == '__main__':
    main()
