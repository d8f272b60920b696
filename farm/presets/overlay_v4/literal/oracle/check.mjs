// The hidden check: three behaviours, each in a process of its own, outside the workspace.
//
// A process only computes: it gets inputs and returns outputs behind a random word of its own. What is right is known
// here alone. A behaviour counts when its process exits 0, says its word, and every output is right. A process that
// hangs, floods or dies by a signal makes the check incomplete; any other failure just doesn't count.

import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { lstatSync, mkdtempSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import * as module from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { erase } from "./erase.mjs";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const WORKSPACE = process.cwd();
const NONCE = process.env.FARM_NONCE;
const CHECK_MS = 5_000;
const OUTPUT_BYTES = 64_000;
const FILE_BYTES = 256_000;
const LEFT_OUT = new Set([".git"]);

const BEHAVIOURS = [
  {
    file: "auth.ts",
    call: "maySignIn",
    cases: [
      { input: { hasPass: true, isSuspended: false }, output: true },
      { input: { hasPass: true, isSuspended: true }, output: false },
      { input: { hasPass: false, isSuspended: false }, output: false },
      { input: { hasPass: false, isSuspended: true }, output: false },
    ],
  },
  {
    file: "billing.ts",
    call: "totalPrice",
    cases: [
      { input: [], output: 0 },
      { input: [0], output: 0 },
      { input: [7], output: 7 },
      { input: [0, 19, 0], output: 19 },
      { input: [3, 3, 3, 3], output: 12 },
      { input: [1000, 250, 64, 5], output: 1319 },
    ],
  },
  {
    file: "notifications.ts",
    call: "recipients",
    cases: [
      { input: [], output: [] },
      { input: ["z@a.test", "b@a.test", "a@a.test"], output: ["z@a.test", "b@a.test", "a@a.test"] },
      { input: ["m@a.test", "m@a.test", "m@a.test"], output: ["m@a.test"] },
      {
        input: ["q@a.test", "c@a.test", "q@a.test", "a@a.test", "c@a.test"],
        output: ["q@a.test", "c@a.test", "a@a.test"],
      },
    ],
  },
];

class Incomplete extends Error {}

function regular(name) {
  const path = join(WORKSPACE, name);
  let status;
  try {
    status = lstatSync(path);
  } catch {
    throw new Incomplete(`${name} is missing`);
  }
  if (!status.isFile()) throw new Incomplete(`${name} is not a regular file`);
  if (status.size > FILE_BYTES) throw new Incomplete(`${name} is above ${FILE_BYTES} bytes`);
  return readFileSync(path);
}

function checkFrozen(names) {
  for (const name of names) {
    const mine = readFileSync(join(HERE, "frozen", name));
    if (!mine.equals(regular(`tests/${name}`))) {
      throw new Incomplete(`tests/${name} is not as it was given`);
    }
  }
}

function* files(folder, prefix = "") {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (prefix === "" && LEFT_OUT.has(entry.name)) continue;
    if (entry.isDirectory()) yield* files(join(folder, entry.name), `${prefix}${entry.name}/`);
    else yield `${prefix}${entry.name}`;
  }
}

// The workspace's own text as a JavaScript module; null when it is no TypeScript that can be read.
function javascript(text) {
  if (typeof module.stripTypeScriptTypes === "function") {
    for (const mode of ["strip", "transform"]) {
      try {
        return module.stripTypeScriptTypes(text, { mode });
      } catch {
        continue;
      }
    }
    return null;
  }
  return erase(text);
}

function build() {
  const folder = mkdtempSync(join(tmpdir(), "check-"));
  mkdirSync(join(folder, "src"));
  writeFileSync(join(folder, "package.json"), '{"type": "module"}\n');
  for (const { file } of BEHAVIOURS) {
    const code = javascript(regular(`src/${file}`).toString("utf8"));
    if (code === null) continue;
    const local = code.replace(/(\bfrom\s*|\bimport\s*\(?\s*)(["'])(\.\/[\w-]+)(?:\.ts|\.js)?\2/g, "$1$2$3.js$2");
    writeFileSync(join(folder, "src", file.replace(/\.ts$/, ".js")), local);
  }
  return folder;
}

function run(folder, behaviour) {
  const word = randomBytes(16).toString("hex");
  const request = JSON.stringify({
    word,
    path: join(folder, "src", behaviour.file.replace(/\.ts$/, ".js")),
    call: behaviour.call,
    inputs: behaviour.cases.map((one) => one.input),
  });
  const done = spawnSync(process.execPath, [join(HERE, "child.mjs")], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, TMPDIR: folder },
    input: request,
    timeout: CHECK_MS,
    killSignal: "SIGKILL",
    maxBuffer: OUTPUT_BYTES,
  });
  if (done.error) throw new Incomplete(`the check of src/${behaviour.file}: ${done.error.code ?? done.error.message}`);
  if (done.signal) throw new Incomplete(`the check of src/${behaviour.file} was killed by ${done.signal}`);
  if (done.stdout.length + done.stderr.length > OUTPUT_BYTES) {
    throw new Incomplete(`the check of src/${behaviour.file} wrote more than ${OUTPUT_BYTES} bytes`);
  }
  return { word, done };
}

function isRight(folder, behaviour) {
  const { word, done } = run(folder, behaviour);
  const lines = done.stdout.toString("utf8").split("\n").filter((line) => line.startsWith(`${word} `));
  if (done.status !== 0 || lines.length !== 1) {
    checkErased(folder, behaviour);
    return false;
  }
  let said;
  try {
    said = JSON.parse(lines[0].slice(word.length + 1));
  } catch {
    return false;
  }
  const expected = behaviour.cases.map((one) => ({ output: one.output, after: one.input }));
  return isDeepStrictEqual(said, expected);
}

// With our own eraser, JavaScript that doesn't parse may be the eraser's limit: then nobody knows.
function checkErased(folder, behaviour) {
  if (typeof module.stripTypeScriptTypes === "function") return;
  const path = join(folder, "src", behaviour.file.replace(/\.ts$/, ".js"));
  const parsed = spawnSync(process.execPath, ["--check", path], { timeout: CHECK_MS, killSignal: "SIGKILL" });
  if (parsed.status !== 0) {
    throw new Incomplete(`node ${process.version} can't read the types of src/${behaviour.file}; use 22.13 or newer`);
  }
}

function find() {
  const frozen = readdirSync(join(HERE, "frozen"));
  checkFrozen(frozen);
  const folder = build();
  const known = new Set(["README.md", ...frozen.map((name) => `tests/${name}`), ...BEHAVIOURS.map(({ file }) => `src/${file}`)]);
  const foreign = [...files(WORKSPACE)].filter((path) => !known.has(path)).sort();
  const right = foreign.length > 0 ? [] : BEHAVIOURS.filter((behaviour) => isRight(folder, behaviour));
  checkFrozen(frozen);
  const wrong = BEHAVIOURS.filter((behaviour) => !right.includes(behaviour)).map(({ file }) => `src/${file}`);
  const finding = { correct: wrong.length === 0, numbers: { correct_target_behaviors: right.length } };
  if (foreign.length > 0) finding.error = `the workspace holds a file that doesn't belong: ${foreign[0].slice(0, 200)}`;
  else if (wrong.length > 0) finding.error = `wrong behaviour: ${wrong.join(", ")}`;
  return finding;
}

function finding() {
  try {
    return find();
  } catch (error) {
    if (!(error instanceof Incomplete)) throw error;
    return { correct: null, problem: error.message.slice(0, 1000) };
  }
}

process.stdout.write(`FARM-FINDING ${NONCE} ${JSON.stringify(finding())}\n`);
