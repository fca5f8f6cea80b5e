// Serves a scripted model until it is stopped: `node tools/run.mjs test/steward/serve-scripted-model.ts SCRIPT.json [PORT]`.
// The file holds a list of turns, or one list by the name of a model: {"agent": [{"text": "Hello."}], "*": […]}.
import { readFileSync } from 'node:fs';
import { type Scripts, startScriptedModel } from './scripted-model.ts';

const [file, port = '0'] = process.argv.slice(2);
if (file === undefined) {
  process.stderr.write('Usage: serve-scripted-model.ts SCRIPT.json [PORT]\n');
  process.exit(2);
}
const scripts = JSON.parse(readFileSync(file, 'utf8')) as Scripts;
const { url } = await startScriptedModel(scripts, { port: Number(port) });
process.stdout.write(`${url}\n`);
