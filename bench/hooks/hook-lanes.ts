// The hooks that are compared, called as a client calls them: over a connection that stays open, or as a
// process that a shell starts.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { isObject } from '@subluminal/contracts';
import type { AsyncContestant } from '../measure.ts';
import { NODE } from '../stdio/ways.ts';

const FOLDER = fileURLToPath(new URL('.', import.meta.url));

/** The contestants. */
export const [EMPTY, SUB_HOOK] = ['empty hook', 'sub'] as const;

export interface HookUnderTest {
  readonly url: string;
  readonly token: string;
  readonly command: string;
  stop(): Promise<void>;
}

/** Where the client works, and what it has in its environment: the same for all. */
export interface HookPlace {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
}

/** The hooks that `sub run` puts around one use of a tool: before it, after it, and before the model sees it. */
export const TOOL_HOOKS = ['PreToolUse', 'PostToolUse', 'PostToolBatch'] as const;

/** What a client tells by them. */
export function toolUse(index: number, cwd: string): readonly string[] {
  const session = {
    session_id: 'a3b1c2d4-0000-4000-8000-000000000001',
    transcript_path: join(cwd, 'transcript.jsonl'),
    cwd,
    prompt_id: 'a3b1c2d4-0000-4000-8000-000000000002',
    permission_mode: 'default',
  };
  const filePath = join(cwd, 'src', `file-${index % 100}.ts`);
  const use = {
    tool_name: 'Read',
    tool_input: { file_path: filePath },
    tool_use_id: `toolu_${index}`,
  };
  const content = 'export const value = 1;\n'.repeat(100);
  const file = { filePath, content, numLines: 101, startLine: 1, totalLines: 101 };
  const told = {
    PreToolUse: use,
    PostToolUse: { ...use, tool_response: { type: 'text', file }, duration_ms: 3 },
    PostToolBatch: { tool_calls: [{ ...use, tool_response: content }] },
  };
  return TOOL_HOOKS.map((name) =>
    JSON.stringify({ ...session, hook_event_name: name, ...told[name] }),
  );
}

/** Something that a process tells in its first line, and that ends with its input. */
async function started(
  command: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<{ readonly line: string; readonly stop: () => Promise<void> }> {
  const [file = '', ...args] = command;
  const child = spawn(file, args, { env, stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const first = await Promise.race([lines.next(), once(child, 'exit')]);
  if (Array.isArray(first)) throw new Error(`${command.join(' ')} ended at once`);
  const line = String(first.value);
  const exited = once(child, 'exit');
  const stop = async (): Promise<void> => {
    child.stdin.end();
    await exited;
  };
  return { line, stop };
}

export async function emptyHook({ env }: HookPlace): Promise<HookUnderTest> {
  const server = await started([NODE, join(FOLDER, 'empty-server.mjs')], env);
  const command = `'${NODE}' '${join(FOLDER, 'empty-command.mjs')}'`;
  return { url: server.line, token: '', command, stop: server.stop };
}

/** What `sub run` has given to the client that this process is. */
export function givenHook(settingsText: string, env: NodeJS.ProcessEnv): HookUnderTest {
  const settings: unknown = JSON.parse(settingsText);
  const [post, process] = ['PreToolUse', 'SessionStart'].map((event) => handlerOf(settings, event));
  return {
    url: String(post?.['url']),
    token: String(env['SUB_HOOK_TOKEN']),
    command: String(process?.['command']),
    stop: () => Promise.resolve(),
  };
}

function handlerOf(settings: unknown, event: string): { readonly [key: string]: unknown } {
  const hooks = isObject(settings) && isObject(settings['hooks']) ? settings['hooks'] : {};
  const groups: unknown = hooks[event];
  const group: unknown = Array.isArray(groups) ? groups.at(-1) : undefined;
  const handlers: unknown = isObject(group) ? group['hooks'] : undefined;
  const handler: unknown = Array.isArray(handlers) ? handlers.at(-1) : undefined;
  if (!isObject(handler)) throw new Error(`sub run has given no hook for ${event}`);
  return handler;
}

export function httpLane(name: string, hook: HookUnderTest, { cwd }: HookPlace): AsyncContestant {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const post = (body: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const headers = {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        authorization: `Bearer ${hook.token}`,
      };
      const sent = request(hook.url, { method: 'POST', agent, headers }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
        });
        response.once('end', () => resolve(`${response.statusCode} ${text}`));
      });
      sent.once('error', reject).end(body);
    });
  return { name, run: (index) => allHooks(index, cwd, post) };
}

export function commandLane(
  name: string,
  command: string,
  { env, cwd }: HookPlace,
): AsyncContestant {
  const start = (body: string): Promise<string> => {
    const child = spawn('/bin/sh', ['-c', command], { env, cwd, stdio: ['pipe', 'pipe', 'pipe'] });
    child.stdin.on('error', () => undefined).end(body);
    return outputOf(child);
  };
  return { name, run: (index) => allHooks(index, cwd, start) };
}

async function outputOf(child: ChildProcess): Promise<string> {
  let stdout = '';
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    stdout += chunk;
  });
  child.stderr?.resume();
  await once(child, 'close');
  return `${child.exitCode === 0 ? 200 : child.exitCode} ${stdout}`;
}

let uses = 0;

/** All of them must be let through: a refusal would be quicker. */
async function allHooks(
  _index: number,
  cwd: string,
  ask: (body: string) => Promise<string>,
): Promise<void> {
  uses += 1;
  for (const body of toolUse(uses, cwd)) {
    const answer = await ask(body);
    if (answer !== '200 {}' && answer !== '200 ') throw new Error(`a hook answered ${answer}`);
  }
}
