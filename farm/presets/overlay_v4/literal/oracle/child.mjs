// Runs one function of the workspace over inputs and says what came out. It knows no right answer.

import { readFileSync, writeSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { parse, stringify } = JSON;
const write = writeSync;
const { word, path, call, inputs } = parse(readFileSync(0, "utf8"));

const module = await import(pathToFileURL(path).href);
const said = [];
for (const input of inputs) {
  const output = module[call](input);
  said.push({ output, after: input });
}
write(1, `${word} ${stringify(said)}\n`);
