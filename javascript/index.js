// Histories from application code: what each transaction read and wrote, and how it ended, as the JSON lines that
// `isoproof check` judges.
//
// A line is written when a transaction has ended, by one call, so that a program that is killed loses no whole line.  A
// session is one connection, and its transactions come one after the other.
import { closeSync, fstatSync, ftruncateSync, openSync, writeSync } from 'node:fs';

/** The value of a read whose answer never came. */
export const NOT_KNOWN = Symbol('not known');

// More statements are not told apart: texts with values in them instead of parameters.
const STATEMENTS = 1000;

const LARGEST = 2n ** 64n - 1n, SMALLEST = -(2n ** 63n);

/** A number that JSON.stringify would round stands for itself as text between these marks, which are taken out. */
const exact = (digits) => `\u0000${digits}\u0000`;

/** A key or a value as the format has it; whatever has no form of its own is kept as text. */
function scalar(value) {
  if (value === null || value === undefined) return null;
  if (value === NOT_KNOWN) return { none: true };
  switch (typeof value) {
    case 'string':
      return value.replaceAll('\u0000', '\uFFFD');
    case 'number':
      return Number.isSafeInteger(value) ? value : { symbol: String(value) };
    case 'bigint':
      return value >= SMALLEST && value <= LARGEST ? exact(value.toString()) : { symbol: value.toString() };
    case 'boolean':
      return { symbol: String(value) };
    default:
      return Array.isArray(value) ? value.join('/') : value instanceof Date ? value.toISOString() : String(value);
  }
}

const text = (line) => JSON.stringify(line).replaceAll(/"\\u0000(-?\d+)\\u0000"/g, '$1') + '\n';

/** Nanoseconds on a clock that never goes back, which processes of one machine share. */
const now = () => exact(process.hrtime.bigint().toString());

/** A transaction that is being recorded; Session.transaction hands it over. */
export class Transaction {
  #operations = [];
  #statements = []; // the numbers of those that did the operations; 0: not said
  #statement = 0;
  #status = null;
  #error = null;
  #start = now();
  #session;
  #name;
  #isolation;

  constructor(session, { name = null, isolation = null } = {}) {
    [this.#session, this.#name, this.#isolation] = [session, name, isolation];
  }

  /** It read this value; null where the key had none yet. */
  read(key, value) { this.#add('r', key, scalar(value)); }
  /** It wrote this value.  Values that are different for every write of a key tell most (`unique`). */
  write(key, value) { this.#add('w', key, scalar(value)); }
  /** It appended an element to a list. */
  append(key, element) { this.#add('append', key, scalar(element)); }
  /** It read a list. */
  readList(key, elements) { this.#add('read-list', key, elements === null ? null : Array.from(elements, scalar)); }
  /** It added an element to a set. */
  add(key, element) { this.#add('add', key, scalar(element)); }
  /** It read a set. */
  readSet(key, elements) { this.#add('read-set', key, elements === null ? null : Array.from(elements, scalar)); }
  /** It changed a counter. */
  increment(key, by = 1) { this.#add('inc', key, by); }
  /** It read a counter. */
  readCounter(key, value) { this.#add('read-counter', key, value); }

  // Rows of a table, whose keys and values are integers.  Columns are what predicates ask for: { city: 'Ulm' }.

  /** It made a row; `name` is what people call it: 'booking[id=7]'. */
  insert(key, value, columns, name) {
    if (name !== undefined) this.#session.recorder.nameRow(key, name);
    this.#add('insert', key, value, columns);
  }
  /** It changed a row; null: it found none. */
  update(key, value, columns) { this.#add(value === null ? 'missed-update' : 'update', key, value, columns); }
  /** It made or changed a row. */
  upsert(key, value, columns) { this.#add('upsert', key, value, columns); }
  /** It removed a row, or found none. */
  delete(key, found = true) { this.#add(found ? 'delete' : 'missed-delete', key, null); }
  /** It read the rows that a predicate picks: pairs of key and value. */
  readRows(predicate, rows) { this.#note(['rp', conditions(predicate), Array.from(rows)]); }
  /** It counted the rows that a predicate picks. */
  countRows(predicate, number) { this.#note(['count', conditions(predicate), number]); }

  /** A number that no other transaction of this recorder gets, to be written as a value. */
  unique() { return this.#session.recorder.unique(); }

  /** What is recorded from here on was done by this statement; witnesses show it. */
  statement(text) { this.#statement = this.#session.recorder.statement(text); }

  /** It is certain that it was rolled back. */
  aborted(error = null) { [this.#status, this.#error] = ['aborted', error]; }
  /** Nobody can tell whether it was committed. */
  unknown(error = null) { [this.#status, this.#error] = ['unknown', error]; }

  /** The line of it.  `problem` is what the work threw, if it did. */
  end(problem) {
    const status = this.#status ?? (problem === undefined ? 'committed' : 'unknown');
    const error = this.#error ?? (problem === undefined ? null : problem?.code ?? problem?.name ?? String(problem));
    const line = { session: scalar(this.#session.name), status, start: this.#start };
    if (status !== 'unknown') line.end = now();
    if (this.#session.node !== null) line.node = scalar(this.#session.node);
    if (error !== null) line.error = scalar(error);
    if (this.#name !== null) line.name = scalar(this.#name);
    if (this.#isolation !== null) line.isolation = this.#isolation;
    if (this.#statements.some((number) => number > 0)) line.statements = this.#statements;
    line.ops = this.#operations;
    this.#operations = null;
    return line;
  }

  #add(name, key, value, columns) {
    this.#note(columns ? [name, scalar(key), value, columns] : [name, scalar(key), value]);
  }

  #note(operation) {
    if (this.#operations === null) throw new Error('the transaction has ended');
    this.#operations.push(operation);
    this.#statements.push(this.#statement);
  }
}

function conditions({ keys, values, modulo, where } = {}) {
  return { ...(keys && { keys }), ...(values && { values }), ...(modulo && { mod: modulo }), ...(where && { where }) };
}

const isPromise = (value) => typeof value?.then === 'function';

/** One connection; comes from Recorder.session. */
export class Session {
  #busy = false;

  constructor(recorder, name, node) {
    [this.recorder, this.name, this.node] = [recorder, name, node];
  }

  /**
   * Records a transaction from the call of `work` to its end, and returns what `work` returns (or the promise of it).
   *
   * Where `work` comes to its end, the transaction counts as committed; where it throws, as *unknown*: the commit may
   * have reached the server before the connection broke.  `t.aborted()` says that it was certainly rolled back.
   * `options`: { name: 'place order' }, which of the application's transactions it is, and { isolation: 'serializable' },
   * the level that this one is held to, where transactions have levels of their own.
   */
  transaction(work, options) {
    if (this.#busy) throw new Error(`session ${this.name} has a transaction already; a session is one connection`);
    this.#busy = true;
    const t = new Transaction(this, options);
    const end = (problem) => {
      this.#busy = false;
      this.recorder.line(t.end(problem));
    };
    const fail = (problem) => {
      end(problem ?? new Error('no reason'));
      throw problem;
    };
    let done;
    try {
      done = work(t);
    } catch (problem) {
      return fail(problem);
    }
    if (isPromise(done)) return Promise.resolve(done).then((value) => (end(undefined), value), fail);
    end(undefined);
    return done;
  }
}

/** Writes a history.  A file that exists is left alone (EEXIST), unless `append` continues it. */
export class Recorder {
  #file;
  #next;
  #sessions = 0;
  #events = 0;
  #statements = new Map();

  /** `facts` go into the header: { database: 'PostgreSQL 15', isolation: 'repeatable read' }. */
  constructor(path, { append = false, firstValue = 1, facts = {} } = {}) {
    this.#file = openSync(path, append ? 'a' : 'ax');
    this.#next = firstValue;
    this.line({ isoproof: 1, initial: null, ...facts, finished: 'no' });
  }

  /** A new session; by default it is named by a number of its own.  `node` is the server it talks to. */
  session(name = this.#sessions++, { node = null } = {}) {
    return new Session(this, name, node);
  }

  /** A number that was not handed out before. */
  unique() {
    return this.#next++;
  }

  /** Says what people call a row: 'bookings[id=7]'. */
  nameRow(key, name) {
    this.line({ row_names: [[key, name]] });
  }

  /** The number of a statement; its text goes into the history when it is first met. */
  statement(text) {
    const known = this.#statements.get(text);
    if (known !== undefined || this.#statements.size >= STATEMENTS) return known ?? 0;
    const number = this.#statements.size + 1;
    this.line({ isoproof: 1, initial: null, [`statement.${number}`]: text.trim().replaceAll(/\s+/g, ' ') });
    this.#statements.set(text, number);
    return number;
  }

  /** Notes what happened beside the transactions, such as a server that was killed. */
  event(what) {
    this.line({ isoproof: 1, initial: null, [`event.${++this.#events}`]: `${process.hrtime.bigint()} ${what}` });
  }

  /** Ends the history.  One that was not closed is judged all the same, with a notice. */
  close() {
    if (this.#file === null) return;
    this.line({ isoproof: 1, initial: null, finished: 'yes' });
    closeSync(this.#file);
    this.#file = null;
  }

  /** Appends a line, whole or not at all. */
  line(line) {
    if (this.#file === null) throw new Error('the recorder is closed');
    const data = Buffer.from(text(line));
    let done = writeSync(this.#file, data);
    while (done < data.length) {
      try {
        done += writeSync(this.#file, data, done);
      } catch (problem) {
        // A full disk: nothing of the line is better than a part of it.
        ftruncateSync(this.#file, fstatSync(this.#file).size - done);
        throw problem;
      }
    }
  }
}
