// A host of a session that comes to a bad end, as a process of its own.
//   node crash.mjs TASK
// TASK is JSON: { home, cwd, how }.
import { writeSync } from 'node:fs';
import { loadConfig } from '../../../../stores/config/index.ts';
import { planWrap } from '../plan-wrap.ts';
import { wrapSession } from '../wrap-session.ts';

interface Task {
  readonly home: string;
  readonly cwd: string;
  readonly how: 'throws' | 'rejects' | 'exits';
}

const { home, cwd, how } = JSON.parse(process.argv[2] ?? '{}') as Task;
const env = { HOME: home, PATH: process.env['PATH'] };
const loaded = await loadConfig({ env, flags: {}, cwd });
if (!loaded.ok) throw new Error('no configuration');
const run = {
  command: [process.execPath],
  env,
  cwd,
  config: loaded.config,
  paths: loaded.paths,
  snapshot: null,
  policySources: [],
  policyHashes: [],
  told: {},
  identity: {},
  meta: {},
  events: {},
  isTerminal: false,
  tell: (text: string) => void writeSync(2, `${text}\n`),
};
const options = {
  run,
  configPath: `${home}/mcp.json`,
  restores: true,
  isStrict: false,
  own: { runtime: process.execPath, script: process.argv[1] },
};
const plan = await planWrap(options);
if (plan.kind === 'failure') throw new Error(plan.message);
const session = wrapSession(plan, options);
const problem = await session.begin({ runId: 'run-1', env: { ...env, SUB_RUN_ID: 'run-1' } });
if (problem !== undefined) throw new Error(problem.message);
writeSync(1, 'begun\n');
process.stdin.once('data', () => {
  if (how === 'exits') process.exit(9);
  if (how === 'throws') throw new Error('a defect');
  void Promise.reject(new Error('a defect'));
});
