// Whole uses of a tool by the real Claude Code: from one request to the scripted model to the next.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startModelServer } from '../../test/clients/model-server.ts';
import { REAL_CLIENTS } from '../../test/clients/real-client.ts';
import { turnsIn } from '../../test/clients/scene.ts';
import { calls, text } from '../../test/clients/script.ts';
import { type Stage, setStage } from '../../test/clients/stage.ts';
import { percentile } from '../measure.ts';
import { NODE, SUB } from '../stdio/ways.ts';
import { EMPTY, type HookUnderTest, SUB_HOOK, TOOL_HOOKS } from './hook-lanes.ts';

const USES = 30;
/** The first ones load what the others find. */
const SKIPPED = 5;

export const NO_HOOKS = 'no hooks';

export const STARTER = fileURLToPath(
  new URL('../../examples/policies/starter.yaml', import.meta.url),
);

export interface ClientLane {
  readonly name: string;
  /** The hook at each event, in the client's settings. */
  readonly handler?: object;
  /** What starts the client. */
  readonly runner?: readonly string[];
}

export interface ClientTiming {
  readonly name: string;
  readonly p50Ms: number;
}

/** `sub run` gives hooks over HTTP; as processes they come from settings, as `sub import` leaves them. */
export function lanesOf(empty: HookUnderTest, env: NodeJS.ProcessEnv): readonly ClientLane[] {
  const home = `SUB_HOME=${env['SUB_HOME']}`;
  const runner = (...flags: readonly string[]) => {
    return ['env', home, NODE, SUB, 'run', '--quiet', ...flags, '--policy', STARTER, '--'];
  };
  const hook = `'${NODE}' '${SUB.replace(/mjs$/, 'cjs')}' hook claude-code`;
  return [
    { name: NO_HOOKS },
    { name: `http, ${EMPTY}`, handler: { type: 'http', url: empty.url } },
    { name: `http, ${SUB_HOOK}`, runner: runner() },
    { name: `command, ${EMPTY}`, handler: { type: 'command', command: empty.command } },
    {
      name: `command, ${SUB_HOOK}`,
      handler: { type: 'command', command: hook },
      runner: runner('--no-hooks'),
    },
  ];
}

/** Undefined without Claude Code; `npm run test:clients` installs it. */
export async function timeClient(
  lanes: readonly ClientLane[],
  sessions: number,
): Promise<readonly ClientTiming[] | undefined> {
  const client = REAL_CLIENTS.find(({ id }) => id === 'claude-code');
  if (client?.binFolder === undefined) return undefined;
  const model = await startModelServer();
  const stage = setStage({ binFolder: client.binFolder, env: client.env(model.url) });
  try {
    const files = writeFiles(stage);
    const script = [
      ...files.map((file) => calls({ tool: 'Read', args: { file_path: file } })),
      text('That is all.'),
    ];
    const tookMs = new Map(lanes.map(({ name }) => [name, [] as number[]]));
    for (let session = 0; session < sessions; session += 1) {
      for (const lane of lanes) {
        const { name } = lane;
        model.play(script);
        await runOnce(stage, lane);
        tookMs.get(name)?.push(...gapsMs(turnsIn(model.requests()).map(({ atMs }) => atMs)));
      }
    }
    return [...tookMs].map(([name, all]) => {
      return { name, p50Ms: percentile(Float64Array.from(all).toSorted(), 50) };
    });
  } finally {
    stage.clear();
    await model.close();
  }
}

function writeFiles({ project }: Stage): readonly string[] {
  mkdirSync(join(project, 'src'));
  return Array.from({ length: USES }, (_, index) => {
    const file = join(project, 'src', `file-${index}.ts`);
    writeFileSync(file, `export const value = ${index};\n`);
    return file;
  });
}

async function runOnce(stage: Stage, { handler, runner = [] }: ClientLane): Promise<void> {
  const group = [{ matcher: '*', hooks: [handler] }];
  const hooks = Object.fromEntries(TOOL_HOOKS.map((event) => [event, group]));
  const settings = JSON.stringify({ hooks, allowedHttpHookUrls: ['http://127.0.0.1:*'] });
  const client = ['claude', '-p', 'Read them.', '--allowedTools', 'Read'];
  const given = handler === undefined ? [] : ['--settings', settings];
  const { code, stdout, stderr } = await stage.run([...runner, ...client, ...given]);
  if (code !== 0 || !stdout.includes('That is all.')) throw new Error(stdout + stderr);
}

function gapsMs(atMs: readonly number[]): readonly number[] {
  const gaps = atMs.slice(1).map((at, index) => at - (atMs[index] ?? at));
  return gaps.slice(SKIPPED);
}
