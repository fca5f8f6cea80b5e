// Holds ARCHITECTURE.md to the code: the files that run for one allowed call are the ones that it lists.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { expect, onTestFinished, test, vi } from 'vitest';
import { ROOT } from './sub.ts';

/** Fewer files make a call easier to follow: it should go down. */
const FILES_MAX = 38;
/** Timers run meanwhile as well, but none of them half as often. */
const CALLS = 40;
const WAIT = { timeout: 30_000, interval: 20 };
const SCRIPT = 'shim-with-map.mjs';
const PROBE = new URL('call-path-probe.mjs', import.meta.url).href;
const SERVER = fileURLToPath(new URL('small-server.mjs', import.meta.url));
// CommonJS packages in the bundle call require() for Node's own modules, which ESM lacks.
const BANNER = `import { createRequire as requireFrom } from 'node:module';
const require = requireFrom(import.meta.url);`;
const LISTED = /<!-- call path -->\n(.*?)<!-- end of call path -->/s;

const POLICY = join(ROOT, 'examples/policies/starter.yaml');

test('ARCHITECTURE.md lists the files that run for one allowed call', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sub-call-path-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const map = await bundleShim(join(folder, SCRIPT));
  const shim = startShim(folder);
  onTestFinished(() => void shim.kill('SIGKILL'));
  const answers = createInterface({ input: shim.stdout ?? process.stdin })[Symbol.asyncIterator]();
  const ask = async (id: number, method: string, params: object): Promise<unknown> => {
    shim.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    return (await answers.next()).value;
  };
  const clientInfo = { name: 'test', version: '1' };
  const opening = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
  await ask(1, 'initialize', opening);
  await ask(2, 'tools/list', {});
  // The first call of a tool does what is done once, such as showing its name.
  const call = { name: 'echo', arguments: { message: 'hello' } };
  await ask(3, 'tools/call', call);
  await eventsOf(folder, 1);
  await takeCounts(shim, folder, 1);
  for (let round = 1; round <= CALLS; round++) await ask(3 + round, 'tools/call', call);
  await eventsOf(folder, 1 + CALLS);
  const counts = await takeCounts(shim, folder, 2);
  const offsets = counts.filter(([, count]) => count >= CALLS / 2).map(([offset]) => offset);
  const files = filesAt(readFileSync(join(folder, SCRIPT), 'utf8'), map, offsets);
  const listed = LISTED.exec(readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8'))?.[1] ?? '';
  const named = [...listed.matchAll(/`(packages\/[^`]+)`/g)].map(([, name]) => name);
  expect(new Set(named)).toEqual(files);
  expect(files.size).toBeLessThanOrEqual(FILES_MAX);
});

/** Writes the shim as one script, and gives the map back to its sources. */
async function bundleShim(path: string): Promise<SourceMap> {
  const { outputFiles } = await build({
    entryPoints: [join(ROOT, 'packages/cli/entry/shim.ts')],
    outfile: path,
    absWorkingDir: ROOT,
    bundle: true,
    write: false,
    sourcemap: 'external',
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    logLevel: 'silent',
    banner: { js: BANNER },
  });
  const [map, script] = outputFiles;
  writeFileSync(path, script?.text ?? '');
  const payload: unknown = JSON.parse(map?.text ?? '');
  if (!isPayload(payload)) throw new Error('esbuild gave no source map');
  return new SourceMap(payload);
}

function startShim(folder: string): ChildProcess {
  const flags = ['--server-name', 'small', '--policy', POLICY];
  const events = ['--events', `file:${join(folder, 'events.jsonl')}`, '--profile', 'production'];
  const server = ['--', process.execPath, SERVER];
  const argv = ['--import', PROBE, join(folder, SCRIPT), 'shim', ...flags, ...events, ...server];
  const env = { CALL_PATH_OUT: join(folder, 'taken'), CALL_PATH_SCRIPT: SCRIPT };
  return spawn(process.execPath, argv, {
    cwd: folder,
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { PATH: process.env['PATH'], HOME: folder, SUB_HOME: join(folder, 'home'), ...env },
  });
}

/** Waits until so many calls are on record with their ends. */
async function eventsOf(folder: string, calls: number): Promise<void> {
  const path = join(folder, 'events.jsonl');
  await vi.waitFor(() => {
    const ends = readFileSync(path, 'utf8').match(/"type":"tool_call_end"/g) ?? [];
    expect(ends).toHaveLength(calls);
  }, WAIT);
}

/** The functions that have run since the last time, by their places, and how often. */
async function takeCounts(shim: ChildProcess, folder: string, take: number) {
  const path = join(folder, `taken.${take}`);
  shim.kill('SIGUSR2');
  await vi.waitFor(() => expect(existsSync(path)).toBe(true), WAIT);
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines.map((line) => line.split(' ').map(Number) as [number, number]);
}

/** The source files of the functions that start at these places of a script. */
function filesAt(script: string, map: SourceMap, offsets: readonly number[]): Set<string> {
  const files = new Set<string>();
  const lines = script.split('\n');
  const starts: number[] = [];
  let at = 0;
  for (const line of lines) {
    starts.push(at);
    at += line.length + 1;
  }
  for (const offset of offsets) {
    const line = starts.findLastIndex((start) => start <= offset);
    const entry = map.findEntry(line, offset - (starts[line] ?? 0));
    const source = 'originalSource' in entry ? entry.originalSource : '';
    const [path] = /packages\/.*/.exec(source) ?? [];
    if (path !== undefined && !source.includes('node_modules')) files.add(path);
  }
  return files;
}

function isPayload(value: unknown): value is ConstructorParameters<typeof SourceMap>[0] {
  return typeof value === 'object' && value !== null && 'mappings' in value;
}
