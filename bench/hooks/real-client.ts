// Whole uses of a tool by the real Claude Code: from one request to the scripted model to the next.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startModelServer } from '../../test/clients/model-server.ts';
import { REAL_CLIENTS } from '../../test/clients/real-client.ts';
import { turnsIn } from '../../test/clients/scene.ts';
import { calls, text } from '../../test/clients/script.ts';
import { type Stage, setStage } from '../../test/clients/stage.ts';
import { percentile } from '../measure.ts';
import { type HookUnderTest, TOOL_HOOKS } from './hook-lanes.ts';

const USES = 30;
/** The first ones load what the others find. */
const SKIPPED = 5;

export const NO_HOOKS = 'no hooks';

export interface ClientLane {
  readonly name: string;
  readonly handler?: object;
}

export interface ClientTiming {
  readonly name: string;
  readonly p50Ms: number;
}

export function lanesOf(empty: HookUnderTest, sub: HookUnderTest): readonly ClientLane[] {
  const http = ({ url, token }: HookUnderTest): object => ({
    type: 'http',
    url,
    headers: { Authorization: `Bearer ${token}` },
  });
  const command = (hook: HookUnderTest): object => ({ type: 'command', command: hook.command });
  return [
    { name: NO_HOOKS },
    { name: 'http, empty hook', handler: http(empty) },
    { name: 'http, sub', handler: http(sub) },
    { name: 'command, empty hook', handler: command(empty) },
    { name: 'command, sub', handler: command(sub) },
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
      for (const { name, handler } of lanes) {
        model.play(script);
        await runOnce(stage, handler);
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

async function runOnce(stage: Stage, handler: object | undefined): Promise<void> {
  const group = [{ matcher: '*', hooks: [handler] }];
  const events = handler === undefined ? [] : TOOL_HOOKS;
  const hooks = Object.fromEntries(events.map((event) => [event, group]));
  const settings = JSON.stringify({ hooks, allowedHttpHookUrls: ['http://127.0.0.1:*'] });
  const command = ['claude', '-p', 'Read them.', '--allowedTools', 'Read', '--settings', settings];
  const { code, stdout, stderr } = await stage.run(command);
  if (code !== 0 || !stdout.includes('That is all.')) throw new Error(stdout + stderr);
}

function gapsMs(atMs: readonly number[]): readonly number[] {
  const gaps = atMs.slice(1).map((at, index) => at - (atMs[index] ?? at));
  return gaps.slice(SKIPPED);
}
