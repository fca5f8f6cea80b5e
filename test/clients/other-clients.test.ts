// Gemini CLI and Copilot CLI: one session of each, with a server, tools of its own and a hook of its user.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, expect, onTestFinished, type TestContext, test } from 'vitest';
import { filesystemServer } from '../bundled.ts';
import { ensureBuilt } from '../e2e/sub.ts';
import { binFolder, PINNED, type PinnedId } from './installed.ts';
import { type ModelServer, startModelServer } from './model-server.ts';
import { calls, type ToolCall, text } from './script.ts';
import { type Env, type Stage, setStage } from './stage.ts';

beforeAll(ensureBuilt);

const SECRET = 'hunter2-correct-horse';
const HINT = 'Take the names of the variables from .env.example.';
const DONE = 'That is all.';
const POLICY = `policy_id: never-env
version: "1"
mode: control
hint_delivery: tool_result
commands: { opaque: block }
rules:
  - { rule_id: never-env, kind: deny, match: { any_arg: { path_matches: [.env] } }, effect: { action: BLOCK, hint: { hint_text: ${HINT}, hint_kind: SAFETY } } }
`;

interface Session {
  readonly stage: Stage;
  readonly model: ModelServer;
  /** The user's own hook makes this file. */
  readonly marker: string;
  readonly write: (path: string, content: string) => string;
}

async function open(
  id: PinnedId,
  env: (modelUrl: string) => Env,
  skip: TestContext['skip'],
): Promise<Session> {
  const pinned = PINNED.find((one) => one.id === id);
  const bin = pinned && binFolder(pinned);
  if (bin === undefined) return skip(`${id} is not installed`);
  const model = await startModelServer();
  const stage = setStage({ binFolder: bin, env: env(model.url) });
  onTestFinished(async () => {
    stage.clear();
    await model.close();
  });
  const write = (path: string, content: string): string => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    return path;
  };
  write(join(stage.project, '.env'), `TOKEN=${SECRET}\n`);
  write(join(stage.project, 'src', 'main.ts'), 'export const answer = 42;\n');
  write(stage.policy, POLICY);
  return { stage, model, marker: join(stage.home, 'hook-of-the-user'), write };
}

/** What the model calls, what comes back of it, and what is on record. */
type Step = readonly [use: ToolCall, gives: string, record: string];

function play(model: ModelServer, steps: readonly Step[]): void {
  model.play([...steps.map(([use]) => calls(use)), text(DONE)]);
}

async function expectGoverned({ stage, model, marker }: Session, steps: readonly Step[]) {
  const seen = model.seen();
  expect(seen).toHaveLength(steps.length);
  for (const [at, [use, gives]] of steps.entries()) {
    expect(seen[at], JSON.stringify(use)).toContain(gives);
  }
  expect(model.requests().filter(({ bytes }) => bytes.includes(SECRET))).toEqual([]);
  expect(existsSync(marker)).toBe(true);
  const found = await stage.calls(steps.length);
  const records = found.map((one) => `${one.server_name} ${one.tool_name} ${one.decision}`);
  expect(records.toSorted()).toEqual(steps.map(([, , record]) => record).toSorted());
  expect(new Set(found.map(({ run_id }) => run_id)).size).toBe(1);
}

test('Gemini CLI keeps its hooks from `sub import --hooks` until `sub restore`', async ({
  skip,
}) => {
  const env = (url: string): Env => {
    return { GEMINI_API_KEY: 'fake', GOOGLE_GEMINI_BASE_URL: url, NO_PROXY: '127.0.0.1' };
  };
  const session = await open('gemini-cli', env, skip);
  const { stage, model, marker, write } = session;
  const settings = `{
  // mine
  "security": { "auth": { "selectedType": "gemini-api-key" } },
  "mcpServers": { "files": {"command": ${JSON.stringify(process.execPath)},
    "args": [${JSON.stringify(filesystemServer())}, "$HOME/project"]} },
  "hooks": { "BeforeTool": [ {"matcher": "run_shell_command", "hooks": [
    {"type": "command", "command": "touch ${marker}"}]} ] }
}\r\n`;
  const path = write(join(stage.home, '.gemini', 'settings.json'), settings);
  const at = (name: string) => join(stage.project, name);
  const shell = (command: string): ToolCall => ({ tool: 'run_shell_command', args: { command } });
  const read = (name: string): ToolCall => {
    return { tool: 'mcp_files_read_text_file', args: { path: at(name) } };
  };
  const steps: readonly Step[] = [
    [shell('cat .env'), HINT, 'gemini-cli run_shell_command REJECT_WITH_HINT'],
    [shell('cat src/main.ts'), 'answer = 42', 'gemini-cli run_shell_command ALLOW'],
    [
      { tool: 'grep_search', args: { pattern: 'TOKEN' } },
      HINT,
      'gemini-cli grep_search REJECT_WITH_HINT',
    ],
    [
      { tool: 'write_file', args: { file_path: 'src/new.ts', content: 'x' } },
      'new.ts',
      'gemini-cli write_file ALLOW',
    ],
    [read('src/main.ts'), 'answer = 42', 'files read_text_file ALLOW'],
    [read('.env'), HINT, 'files read_text_file REJECT_WITH_HINT'],
  ];
  play(model, steps);
  const options = ['--policy', stage.policy, '--hooks', '--yes'];
  const imported = await stage.sub('import', 'gemini', ...options);
  expect(imported, imported.stderr).toMatchObject({ code: 0 });
  const flags = ['--yolo', '--skip-trust', '-m', 'gemini-2.5-pro'];
  const command = ['gemini', '-p', 'Deploy it.', ...flags];
  const ended = await stage.sub('run', '--policy', stage.policy, '--', ...command);
  expect(ended, ended.stderr).toMatchObject({ code: 0 });
  expect(ended.stderr).not.toContain('Not seen by Subluminal');
  expect(ended.stdout).toContain(DONE);
  await expectGoverned(session, steps);
  const restored = await stage.sub('restore', 'gemini', '--yes');
  expect(restored, restored.stderr).toMatchObject({ code: 0 });
  expect(readFileSync(path, 'utf8')).toBe(settings);
});

test('Copilot CLI has its hooks for as long as `sub wrap` runs', async ({ skip }) => {
  const env = (url: string): Env => ({
    ...{ COPILOT_OFFLINE: 'true', COPILOT_AUTO_UPDATE: 'false', COPILOT_MODEL: 'claude-sonnet-4' },
    ...{ COPILOT_PROVIDER_BASE_URL: url, COPILOT_PROVIDER_TYPE: 'anthropic' },
    COPILOT_PROVIDER_API_KEY: 'fake',
  });
  const session = await open('copilot-cli', env, skip);
  const { stage, model, marker, write } = session;
  const servers = `{ "mcpServers": { "files": {"type": "local", "tools": ["*"],
  "command": ${JSON.stringify(process.execPath)},
  "args": [${JSON.stringify(filesystemServer())}, "$HOME/project"]} } }`;
  const path = write(join(stage.home, '.copilot', 'mcp-config.json'), servers);
  const hook = { type: 'command', bash: `touch ${marker}` };
  const mine = JSON.stringify({ version: 1, hooks: { preToolUse: [hook] } });
  write(join(stage.home, '.copilot', 'hooks', 'mine.json'), mine);
  const at = (name: string) => join(stage.project, name);
  const bash = (command: string): ToolCall => {
    return { tool: 'bash', args: { command, description: 'x' } };
  };
  const read = (name: string): ToolCall => {
    return { tool: 'files-read_text_file', args: { path: at(name) } };
  };
  const steps: readonly Step[] = [
    [bash('cat .env'), HINT, 'copilot-cli Bash REJECT_WITH_HINT'],
    [{ tool: 'view', args: { path: at('.env') } }, HINT, 'copilot-cli Read REJECT_WITH_HINT'],
    [{ tool: 'grep', args: { pattern: 'TOKEN' } }, HINT, 'copilot-cli Grep REJECT_WITH_HINT'],
    [{ tool: 'grep', args: { pattern: '4', paths: 'src' } }, 'main.ts', 'copilot-cli Grep ALLOW'],
    [bash('cat src/main.ts'), 'answer = 42', 'copilot-cli Bash ALLOW'],
    [
      { tool: 'create', args: { path: at('src/new.ts'), file_text: 'x' } },
      'new.ts',
      'copilot-cli Write ALLOW',
    ],
    [read('src/main.ts'), 'answer = 42', 'files read_text_file ALLOW'],
    [read('.env'), HINT, 'files read_text_file REJECT_WITH_HINT'],
  ];
  play(model, steps);
  const command = ['copilot', '-p', 'Deploy it.', '--allow-all-tools', '--no-color'];
  const ended = await stage.sub('wrap', '--policy', stage.policy, '--', ...command);
  expect(ended, ended.stderr).toMatchObject({ code: 0 });
  expect(ended.stdout).toContain(DONE);
  await expectGoverned(session, steps);
  expect(readFileSync(path, 'utf8')).toBe(servers);
});
