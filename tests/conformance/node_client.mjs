// Google's client library @google-cloud/tpu, over its REST transport, as a client of the simulator.
//
// usage: node node_client.mjs FOLDER_WITH_NODE_MODULES ENDPOINT TOKEN_FILE
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {join, resolve} from 'node:path';

const [folder, endpoint, tokenFile] = process.argv.slice(2);
const packages = createRequire(join(resolve(folder), 'node_modules', 'x.js'));
const {v2, protos} = packages('@google-cloud/tpu');

// What the REST transport asks of an auth client: the headers of a request.
const token = readFileSync(tokenFile, 'utf8').trim();
const auth = {
  universeDomain: 'googleapis.com',
  getRequestHeaders: async () => ({Authorization: `Bearer ${token}`}),
};
const {hostname, port} = new URL(endpoint);
const client = new v2.TpuClient({
  fallback: true,
  apiEndpoint: hostname,
  port: Number(port),
  protocol: 'http',
  auth,
  projectId: 'p',
});

const parent = 'projects/p/locations/us-central2-b';
const nodeNamed = id => `${parent}/nodes/${id}`;
const queuedNamed = id => `${parent}/queuedResources/${id}`;

// Codes as the library makes them of the HTTP status: 404, 409 and 400. It does not read the status
// in words, so ALREADY_EXISTS arrives as ABORTED, and FAILED_PRECONDITION as INVALID_ARGUMENT.
const codes = {NOT_FOUND: 5, ABORTED: 10, INVALID_ARGUMENT: 3};

/** Waits for the operation of a call; its result, in which the library gives enums as numbers. */
async function done(call) {
  const [operation] = await call;
  const [result] = await operation.promise();
  return result;
}
const {State} = protos.google.cloud.tpu.v2.Node;

/** An error with this code, whose text has `text`. */
function refused(call, code, text) {
  return assert.rejects(call, error => {
    assert.equal(error.code, codes[code], `${code} was expected: ${error.stack}`);
    assert.ok(error.message.includes(text), `"${text}" was expected in: ${error.message}`);
    return true;
  });
}

const node = extra => ({
  acceleratorType: 'v4-16',
  runtimeVersion: 'tpu-ubuntu2204-base',
  networkConfig: {enableExternalIps: true},
  schedulingConfig: {spot: true},
  labels: {team: 'red'},
  metadata: {greeting: 'hello'},
  ...extra,
});
const create = (id, extra) => client.createNode({parent, nodeId: id, node: node(extra)});

/** Waits, at most ten seconds, until a queued resource is ACTIVE. */
async function becomesActive(id) {
  let state = '';
  for (let i = 0; i < 100 && state !== 'ACTIVE'; ++i) {
    const [one] = await client.getQueuedResource({name: queuedNamed(id)});
    state = one.state.state;
    assert.notEqual(state, 'FAILED');
    if (state !== 'ACTIVE') await new Promise(wake => setTimeout(wake, 100));
  }
  assert.equal(state, 'ACTIVE');
}

const steps = {
  async 'a node is created'() {
    const made = await done(create('n1'));
    assert.equal(made.name, nodeNamed('n1'));
    assert.equal(made.state, State.READY);
    assert.equal(made.acceleratorType, 'v4-16');
    assert.equal(made.networkEndpoints.length, 2);
    assert.match(made.networkEndpoints[0].ipAddress, /^127\./);
  },
  async 'a name that exists is refused'() {
    await refused(create('n1'), 'ABORTED', `Resource '${nodeNamed('n1')}' already exists`);
  },
  async 'nodes are listed, page by page too'() {
    await done(create('n2'));
    const [all] = await client.listNodes({parent});
    assert.deepEqual(all.map(one => one.name).sort(), [nodeNamed('n1'), nodeNamed('n2')]);
    const paged = [];
    const pages = client.listNodesAsync({parent, pageSize: 1}, {autoPaginate: false});
    for await (const one of pages) paged.push(one.name);
    assert.deepEqual(paged.sort(), [nodeNamed('n1'), nodeNamed('n2')]);
    await done(client.deleteNode({name: nodeNamed('n2')}));
  },
  async 'a node is read'() {
    const [one] = await client.getNode({name: nodeNamed('n1')});
    assert.equal(one.health, 'HEALTHY');
    assert.equal(one.schedulingConfig.spot, true);
    assert.deepEqual(one.labels, {team: 'red'});
    assert.equal(one.metadata.greeting, 'hello');
    assert.ok(Number(one.id) > 0, 'a number as id');
    assert.ok(Number(one.createTime.seconds) > 0, 'a time of creation');
  },
  async 'labels are changed'() {
    const changed = await done(
      client.updateNode({
        node: {name: nodeNamed('n1'), labels: {team: 'blue'}},
        updateMask: {paths: ['labels']},
      })
    );
    assert.deepEqual(changed.labels, {team: 'blue'});
    const [one] = await client.getNode({name: nodeNamed('n1')});
    assert.deepEqual(one.labels, {team: 'blue'});
    assert.equal(one.metadata.greeting, 'hello', 'what the mask does not name stays');
  },
  async 'a node of one host is stopped and started'() {
    const name = nodeNamed('n3');
    await done(create('n3', {acceleratorType: 'v4-8', schedulingConfig: null}));
    assert.equal((await done(client.stopNode({name}))).state, State.STOPPED);
    assert.equal((await client.getNode({name}))[0].state, 'STOPPED');
    assert.equal((await done(client.startNode({name}))).state, State.READY);
    assert.equal((await client.getNode({name}))[0].state, 'READY');
    await done(client.deleteNode({name}));
  },
  async 'its hosts have keys'() {
    const [answer] = await client.getGuestAttributes({name: nodeNamed('n1'), queryPath: 'hostkeys/'});
    assert.equal(answer.guestAttributes.length, 2);
    const {items} = answer.guestAttributes[0].queryValue;
    assert.ok(items.some(item => item.key === 'ssh-ed25519'), JSON.stringify(items));
  },
  async 'a node is deleted'() {
    await done(client.deleteNode({name: nodeNamed('n1')}));
    await refused(client.getNode({name: nodeNamed('n1')}), 'NOT_FOUND', nodeNamed('n1'));
    await refused(client.deleteNode({name: nodeNamed('n1')}), 'NOT_FOUND', nodeNamed('n1'));
  },
  async 'a queued resource gives a node'() {
    const made = await done(
      client.createQueuedResource({
        parent,
        queuedResourceId: 'q1',
        queuedResource: {
          tpu: {nodeSpec: [{parent, nodeId: 'q1-node', node: node({schedulingConfig: null})}]},
          spot: {},
        },
      })
    );
    assert.equal(made.name, queuedNamed('q1'));
    const [all] = await client.listQueuedResources({parent});
    assert.deepEqual(all.map(one => one.name), [queuedNamed('q1')]);
  },
  async 'it becomes active'() {
    await becomesActive('q1');
    const [one] = await client.getNode({name: nodeNamed('q1-node')});
    assert.equal(one.state, 'READY');
    assert.equal(one.queuedResource.split('/').pop(), 'q1');
  },
  async 'its hosts are reset, and it stays active'() {
    const reset = await done(client.resetQueuedResource({name: queuedNamed('q1')}));
    assert.equal(reset.name, queuedNamed('q1'));
    await becomesActive('q1');
    await refused(client.resetQueuedResource({name: queuedNamed('none')}), 'NOT_FOUND', 'none');
  },
  async 'it is deleted, with its node, by force only'() {
    const name = queuedNamed('q1');
    await refused(client.deleteQueuedResource({name}), 'INVALID_ARGUMENT', 'set force to true');
    await done(client.deleteQueuedResource({name, force: true}));
    await refused(client.getQueuedResource({name}), 'NOT_FOUND', 'q1');
    await refused(client.getNode({name: nodeNamed('q1-node')}), 'NOT_FOUND', 'q1-node');
  },
  async 'a queued resource of several slices gives a node for each'() {
    const slices = {nodeCount: 3, nodeIdPrefix: 'part'};
    const nodeSpec = [{parent, multisliceParams: slices, node: node({schedulingConfig: null})}];
    await done(
      client.createQueuedResource({
        parent,
        queuedResourceId: 'q2',
        queuedResource: {tpu: {nodeSpec}, spot: {}},
      })
    );
    await becomesActive('q2');
    const [all] = await client.listNodes({parent});
    const names = ['part-0', 'part-1', 'part-2'].map(nodeNamed);
    assert.deepEqual(all.map(one => one.name).sort(), names);
    for (const one of all) {
      assert.equal(one.multisliceNode, true);
      assert.equal(one.queuedResource.split('/').pop(), 'q2');
    }
    await done(client.deleteQueuedResource({name: queuedNamed('q2'), force: true}));
    assert.deepEqual((await client.listNodes({parent}))[0], []);
  },
  async 'the catalogues are read'() {
    const [types] = await client.listAcceleratorTypes({parent});
    assert.ok(types.some(one => one.type === 'v4-16'), 'v4-16 is a type');
    const [type] = await client.getAcceleratorType({name: `${parent}/acceleratorTypes/v4-16`});
    assert.equal(type.type, 'v4-16');
    const [versions] = await client.listRuntimeVersions({parent});
    assert.ok(versions.some(one => one.version === 'tpu-ubuntu2204-base'));
    const places = [];
    const pages = client.listLocationsAsync({name: 'projects/p'}, {autoPaginate: false});
    for await (const one of pages) places.push(one.locationId);
    assert.ok(places.includes('us-central2-b'), places.join(' '));
  },
};

let failed = 0;
for (const [what, step] of Object.entries(steps)) {
  try {
    await step();
    console.log(`ok: ${what}`);
  } catch (error) {
    failed = 1;
    console.log(`FAILED: ${what}\n${error.stack}`);
  }
}
process.exit(failed);
