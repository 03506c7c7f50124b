// What is written, and when things go wrong; with ISOPROOF set to the program, that it judges what was written.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';

import { NOT_KNOWN, Recorder } from '../index.js';

let folder, path;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'isoproof-recorder-'));
  path = join(folder, 'history.jsonl');
});
afterEach(() => rmSync(folder, { recursive: true }));

const lines = () => readFileSync(path, 'utf8').trimEnd().split('\n').map((line) => JSON.parse(line));

/** The result of isoproof, or null where there is no program. */
function judged() {
  if (!process.env.ISOPROOF) return null;
  const done = spawnSync(process.env.ISOPROOF, ['check', '--json', path], { encoding: 'utf8' });
  return JSON.parse(done.stdout);
}

test('lines', () => {
  const recorder = new Recorder(path, { facts: { database: 'none' } });
  recorder.session(undefined, { node: 'n1' }).transaction((t) => {
    t.write('x', 1);
    t.read(['stock', 3], null);
    t.read('y', NOT_KNOWN);
    t.write('z', 2n ** 63n);
    t.write('q', 'a"\\ \u2028 text');
    t.readList('l', [1, 'a']);
  });
  recorder.close();
  const [header, line, end] = lines();
  assert.equal(header.finished, 'no');
  assert.equal(end.finished, 'yes');
  assert.deepEqual(line.ops.slice(0, 3), [['w', 'x', 1], ['r', 'stock/3', null], ['r', 'y', { none: true }]]);
  assert.match(readFileSync(path, 'utf8'), /\["w","z",9223372036854775808\]/);
  assert.match(readFileSync(path, 'utf8'), /"start":\d+,"end":\d+/);
  assert.deepEqual(line.ops.slice(4), [['w', 'q', 'a"\\ \u2028 text'], ['read-list', 'l', [1, 'a']]]);
  const result = judged();
  if (result) assert.equal(result.transactions, 1);
});

test('words and columns', () => {
  const recorder = new Recorder(path);
  recorder.session().transaction((t) => {
    t.write('x', 1);
    t.statement('INSERT  INTO\n city ...');
    t.insert(1, 10, { name: 'Ulm' }, 'city[id=1]');
  }, { name: 'found a city', isolation: 'serializable' });
  recorder.session().transaction((t) => t.readRows({ where: [['name', '=', 'Ulm']] }, [[1, 10]]));
  recorder.close();
  const [, text, names, first, second] = lines();
  assert.equal(text['statement.1'], 'INSERT INTO city ...');
  assert.deepEqual(names, { row_names: [[1, 'city[id=1]']] });
  assert.deepEqual([first.name, first.isolation, first.statements], ['found a city', 'serializable', [0, 1]]);
  assert.deepEqual(first.ops[1], ['insert', 1, 10, { name: 'Ulm' }]);
  assert.deepEqual(second.ops, [['rp', { where: [['name', '=', 'Ulm']] }, [[1, 10]]]]);
  assert.equal(second.name, undefined);
});

test('outcomes', async () => {
  const recorder = new Recorder(path), session = recorder.session();
  const lost = Object.assign(new Error('gone'), { code: 'ECONNRESET' });
  await assert.rejects(session.transaction(async (t) => {
    t.write('x', 1);
    throw lost;
  }), lost);
  assert.throws(() => session.transaction((t) => {
    t.aborted('40001');
    throw new Error('refused');
  }), /refused/);
  assert.equal(session.transaction(() => 7), 7);
  assert.equal(await session.transaction(async () => 8), 8);
  recorder.close();
  const [, unknown, aborted, committed] = lines();
  assert.deepEqual([unknown.status, unknown.error, unknown.end], ['unknown', 'ECONNRESET', undefined]);
  assert.deepEqual([aborted.status, aborted.error], ['aborted', '40001']);
  assert.equal(committed.status, 'committed');
});

test('one at a time', async () => {
  const recorder = new Recorder(path), session = recorder.session();
  let kept;
  const first = session.transaction((t) => {
    kept = t;
    return new Promise((resolve) => setImmediate(resolve));
  });
  assert.throws(() => session.transaction(() => {}), /one connection/);
  await first;
  assert.throws(() => kept.write('x', 1), /ended/);
  recorder.close();
  assert.throws(() => session.transaction(() => {}), /closed/);
});

test('many sessions', async () => {
  const recorder = new Recorder(path);
  const store = new Map();
  await Promise.all(Array.from({ length: 5 }, async () => {
    const session = recorder.session();
    for (let i = 0; i < 50; i++) {
      await session.transaction(async (t) => {
        await new Promise((resolve) => setImmediate(resolve));
        t.read('x', store.get('x') ?? null);
        store.set('x', t.unique());
        t.write('x', store.get('x'));
      });
    }
  }));
  recorder.close();
  const result = judged();
  if (result) assert.deepEqual([result.sessions, result.transactions, result.levels['strict-serializable']], [5, 250, 'satisfied']);
});

test('rows', () => {
  const recorder = new Recorder(path);
  recorder.session().transaction((t) => {
    t.insert(1, 10);
    t.update(2, null);
    t.readRows({ keys: [0, 9] }, [[1, 10]]);
    t.countRows({ values: [0, 5], modulo: [2, 1] }, 0);
    t.delete(3, false);
  });
  recorder.close();
  assert.deepEqual(lines()[1].ops[3], ['count', { values: [0, 5], mod: [2, 1] }, 0]);
  const result = judged();
  if (result) assert.equal(result.levels.serializable, 'satisfied');
});

test('files are left alone', () => {
  writeFileSync(path, 'precious\n');
  assert.throws(() => new Recorder(path), { code: 'EEXIST' });
  assert.equal(readFileSync(path, 'utf8'), 'precious\n');
});

test('killed', () => {
  const program = `import { Recorder } from ${JSON.stringify(new URL('../index.js', import.meta.url).href)};
    const session = new Recorder(${JSON.stringify(path)}).session();
    for (let i = 0; i < 100; i++) session.transaction((t) => t.write('x', t.unique()));
    process.kill(process.pid, 'SIGKILL');`;
  const done = spawnSync(process.execPath, ['--input-type=module', '-e', program]);
  assert.equal(done.signal, 'SIGKILL');
  assert.equal(lines().length, 101);
  assert.ok(existsSync(path));
});
