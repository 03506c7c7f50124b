// A client for isoproof: Turso (https://www.npmjs.com/package/@tursodatabase/database) with BEGIN CONCURRENT.
//
//     npm install @tursodatabase/database
//     isoproof test "--db=exec:node turso_client.mjs FILE"
//
// Turso lives within a process, so one process serves all sessions: requests say which session they are of, and so do
// the answers, in whatever order they come.  docs/exec.md is the protocol.
import { createInterface } from "node:readline";
import { connect } from "@tursodatabase/database";

const path = process.argv[2];
const sessions = new Map(); // number -> { database, table, open }

const isolations = [
  { name: "concurrent", level: "snapshot-isolation", default: true, note: "BEGIN CONCURRENT in the journal mode mvcc" },
  { name: "immediate", level: "serializable", note: "BEGIN IMMEDIATE: one writer at a time" },
];

async function all(session, sql, ...values) {
  const statement = session.database.prepare(sql);
  try {
    return await statement.raw().all(...values);
  } finally {
    statement.close();
  }
}

async function change(session, sql, ...values) {
  const statement = session.database.prepare(sql);
  try {
    return { affected: (await statement.run(...values)).changes };
  } finally {
    statement.close();
  }
}

// The condition of a predicate, and its bounds; without bounds it is the whole table.
function where(request) {
  if (request.keys) return [" WHERE k BETWEEN ? AND ?", request.keys];
  if (request.values) return [" WHERE v BETWEEN ? AND ?", request.values];
  return ["", []];
}

const operations = {
  async hello(session, request) {
    session.database = await connect(path);
    session.table = request.table;
    await all(session, "PRAGMA journal_mode = 'mvcc'");
    const [[version]] = await all(session, "SELECT sqlite_version()");
    return {
      isoproof: 1, one_process: true, database: `Turso (SQLite ${version})`,
      capabilities: ["registers", "lists", "rows", "concurrent"], isolations,
    };
  },
  async bye(session, request) {
    sessions.delete(request.session);
    await session.database.close();
    return {};
  },
  async setup(session) {
    const [[taken]] = await all(session, "SELECT count(*) FROM sqlite_schema WHERE name = ?", session.table);
    if (taken > 0) throw Object.assign(new Error(`there is a table ${session.table} already`), { kind: "constraint" });
    await session.database.exec(`CREATE TABLE ${session.table} (k INTEGER PRIMARY KEY, v INTEGER, l TEXT)`);
    return {};
  },
  async teardown(session) {
    await session.database.exec(`DROP TABLE ${session.table}`);
    return {};
  },
  async begin(session, request) {
    await session.database.exec(request.isolation === "immediate" ? "BEGIN IMMEDIATE" : "BEGIN CONCURRENT");
    session.open = true;
    return {};
  },
  async commit(session) {
    await session.database.exec("COMMIT");
    session.open = false;
    return {};
  },
  async abort(session) {
    if (session.open) await session.database.exec("ROLLBACK");
    session.open = false;
    return {};
  },
  async ping(session) {
    await all(session, "SELECT 1");
    return {};
  },
  async read(session, { key }) {
    const [row] = await all(session, `SELECT v FROM ${session.table} WHERE k = ?`, key);
    return { value: row ? row[0] : null };
  },
  write: (session, { key, value }) =>
    change(session, `INSERT INTO ${session.table} (k, v) VALUES (?, ?) ON CONFLICT (k) DO UPDATE SET v = excluded.v`,
           key, value),
  async "read-list"(session, { key }) {
    const [row] = await all(session, `SELECT l FROM ${session.table} WHERE k = ?`, key);
    return { list: row && row[0] ? row[0].split(",").map(Number) : null };
  },
  append: (session, { key, value }) =>
    change(session, `INSERT INTO ${session.table} (k, l) VALUES (?, ?)
                     ON CONFLICT (k) DO UPDATE SET l = coalesce(l || ',', '') || excluded.l`, key, String(value)),
  insert: (session, { key, value }) =>
    change(session, `INSERT INTO ${session.table} (k, v) VALUES (?, ?)`, key, value),
  update: (session, { key, value }) => change(session, `UPDATE ${session.table} SET v = ? WHERE k = ?`, value, key),
  delete: (session, { key }) => change(session, `DELETE FROM ${session.table} WHERE k = ?`, key),
  async predicate(session, request) {
    const [text, bounds] = where(request);
    const rows = await all(session, `SELECT k, v FROM ${session.table}${text}`, ...bounds);
    return { rows: rows.filter((row) => row[1] !== null) };
  },
  async count(session, request) {
    const [text, bounds] = where(request);
    return { count: (await all(session, `SELECT count(v) FROM ${session.table}${text}`, ...bounds))[0][0] };
  },
};

// The class of an error, and whether the transaction survived it.
function refusal(request, session, problem) {
  const text = String(problem.message ?? problem);
  let error = problem.kind ?? "statement";
  if (/conflict|busy|snapshot is stale/i.test(text)) error = "serialization";
  else if (/locked/i.test(text)) error = "busy";
  else if (/constraint|unique/i.test(text)) error = "constraint";
  // After an error the session rolls back by itself; a COMMIT that was refused has not happened.
  return { error, message: text, transaction: session?.open ? "aborted" : "active" };
}

async function answer(line) {
  const request = JSON.parse(line);
  if (!sessions.has(request.session)) sessions.set(request.session, { open: false });
  const session = sessions.get(request.session);
  let result;
  try {
    if (!Object.hasOwn(operations, request.op)) throw Object.assign(new Error("no such operation"), { kind: "client" });
    result = { ...(await operations[request.op](session, request)) };
    if (request.op !== "hello") result.ok = true;
  } catch (problem) {
    result = refusal(request, session, problem);
  }
  process.stdout.write(JSON.stringify({ session: request.session, ...result }) + "\n");
}

createInterface({ input: process.stdin }).on("line", answer).on("close", () => process.exit(0));
