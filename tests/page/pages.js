// Every kind of page, made by the program: reports of each kind of anomaly and verdict, runs, and what `serve` shows.
"use strict";

const { execFileSync, spawn } = require("child_process");
const path = require("path");
const fs = require("fs");

const root = path.join(__dirname, "../..");
const EXAMPLES = [
  "lost-update.txt",
  "write-skew.txt",
  "long-fork.txt",
  "fractured-read.txt",
  "aborted-read.txt",
  "causality-violation.txt",
  "non-repeatable-read.txt",
  "serializable.txt",
  "list-append.edn",
  "recorded-run.jsonl",
];

// Runs the program; a verdict is no failure.
function call(program, args) {
  try {
    execFileSync(program, args, { stdio: ["ignore", "ignore", "pipe"] });
  } catch (error) {
    if (![1, 3].includes(error.status)) throw error;
  }
}

const lines = (objects) => objects.map((one) => JSON.stringify(one)).join("\n") + "\n";

// A cycle of many transactions, each of which misses what the next one wrote.
function longCycle(length) {
  const head = { isoproof: 1, initial: 0 };
  const txns = Array.from({ length }, (_, at) => ({
    session: at,
    status: "committed",
    start: at,
    end: 1000 + at,
    ops: [
      ["r", `account-${at}`, 0],
      ["w", `account-${(at + 1) % length}`, at + 1],
    ],
  }));
  return lines([head, ...txns]);
}

// A name and a file for each page.
function makePages(program, work) {
  const pages = [];
  const page = (name, args) => {
    const file = path.join(work, `page-${name}.html`);
    call(program, ["check", "-q", `--html=${file}`, ...args]);
    pages.push([name, file]);
  };
  for (const name of EXAMPLES) page(name.split(".")[0], [path.join(root, "examples/histories", name)]);
  page("models", ["--model=strict-serializable", "--workload=auto", path.join(root, "examples/histories/write-skew.edn")]);
  page("models-lists", ["--workload=auto", path.join(root, "examples/histories/list-append.edn")]);
  const cycle = path.join(work, "cycle.jsonl");
  fs.writeFileSync(cycle, longCycle(20));
  page("long-cycle", [cycle]);
  const simulated = path.join(work, "simulated.jsonl");
  const simulate = ["gen", "-q", "--simulate", "--seed=4", "--level=si", "--bug=lost-update", "--sessions=6"];
  call(program, [...simulate, "--transactions=3000", "--operations=2-4", "--keys=40", "-o", simulated]);
  page("simulated", [simulated]);
  pages.push(["undecided", undecidedPage(program, work)]);
  for (const [name, args] of Object.entries(RUNS)) pages.push([name, runPage(program, work, args)]);
  return pages;
}

// A result as it is saved when a limit was reached.
function undecidedPage(program, work) {
  const result = path.join(work, "undecided.json"),
    file = path.join(work, "page-undecided.html");
  const counts = { sessions: 24, transactions: 100000, operations: 800000, committed: 99000, aborted: 900, unknown: 100 };
  const verdict = { verdict: "unknown", levels: { causal: "satisfied", serializable: "unknown" }, asked: ["serializable"] };
  const reason = { unknown_reason: "the time limit was reached", strongest: ["causal"], weakest_violated: [], anomalies: [] };
  fs.writeFileSync(result, lines([{ schema: 1, file: "large.jsonl", format: "jsonl", ...counts, ...verdict, ...reason }]));
  call(program, ["report", "-q", `--html=${file}`, result]);
  return file;
}

// Runs of the program itself: a very short one, one with many aborts, one that breaks its promise.
const RUNS = {
  "run-short": ["--db=sim:", "--time=0.2"],
  "run-aborts": ["--db=sqlite:", "--time=2"],
  "run-violated": ["--db=sim:?level=snapshot-isolation&bugs=lost-update&rate=0.01", "--time=1", "--expect=snapshot-isolation"],
};

function runPage(program, work, args) {
  const directory = path.join(work, "runs");
  call(program, ["test", "-q", "--seed=7", `--directory=${directory}`, ...args]);
  return path.join(fs.realpathSync(path.join(directory, "latest")), "report.html");
}

// Serves a directory until `stop` is called.
function serve(program, directory) {
  fs.mkdirSync(directory, { recursive: true });
  const child = spawn(program, ["serve", "--port=0", "-q", directory], { stdio: ["ignore", "pipe", "ignore"] });
  const url = new Promise((done, fail) => {
    child.stdout.once("data", (data) => done(String(data).trim()));
    child.once("error", fail);
  });
  const stop = () => child.kill("SIGINT");
  // Whatever goes wrong, it must not outlive the tests.
  process.on("exit", stop);
  return { url, stop };
}

// The directory of the runs above with one that was interrupted, and one without runs.
function makeServed(program, work) {
  const runs = path.join(work, "runs"),
    stopped = path.join(runs, "20200101-000000"),
    none = path.join(work, "no-runs");
  fs.mkdirSync(stopped, { recursive: true });
  fs.writeFileSync(
    path.join(stopped, "history.jsonl"),
    lines([{ isoproof: 1, database: "PostgreSQL 15.18", workload: "bank", started: "2020-01-01T00:00:00Z" }])
  );
  return [serve(program, runs), serve(program, none)];
}

module.exports = { makePages, makeServed, serve };
