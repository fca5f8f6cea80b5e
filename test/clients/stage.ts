// A user of their own for each test: a home, a project, and nothing of whoever runs the tests.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { bearing, until } from '../contract/proc.ts';
import { type Ended, ended, SUB } from '../e2e/sub.ts';

export type Env = { readonly [name: string]: string };

export interface Stage {
  readonly home: string;
  readonly project: string;
  /** The policy that stops writes with a hint. */
  readonly policy: string;
  /** Runs a command in the project, as the user would type it. */
  readonly run: (command: readonly string[], options?: CommandOptions) => Promise<Ended>;
  readonly sub: (...args: readonly string[]) => Promise<Ended>;
  /** The script of the command that `sub` runs. */
  readonly product: string;
  /** The calls in the ledger, the oldest first, once there are so many. */
  readonly calls: (count: number) => Promise<readonly LedgerCall[]>;
  /** Ends those processes of the user that have this word in their command, without a warning. */
  readonly kill: (word: string) => readonly number[];
  /** Resolves when nothing of the user runs any more but the daemon of the ledger. */
  readonly quiet: () => Promise<void>;
  readonly clear: () => void;
}

export interface CommandOptions {
  /** More variables. */
  readonly env?: Env;
  /** Ends the command as soon as it has said this. */
  readonly until?: string;
}

export interface LedgerCall {
  readonly run_id: string;
  readonly agent_id: string;
  readonly server_name: string;
  readonly tool_name: string;
  readonly decision: string;
  readonly rule_id: string | null;
  readonly status: string | null;
}

interface StageOptions {
  readonly binFolder: string;
  /** What the client needs besides. */
  readonly env: Env;
  /** The command of the product; that of the checkout unless given. */
  readonly sub?: string;
}

const COMMAND_MAX_MS = 90_000;
export const REASON = 'This project is read-only today.';
export const HINT = 'Put what you would have written into your answer instead.';
const POLICY = `policy_id: real-clients
version: "1"
mode: control
defaults: { decision_on_error: BLOCK }
selectors: {}
rules:
  - rule_id: no-writes
    kind: deny
    enabled: true
    severity: critical
    match: { tool_name: { glob: ["write_*"] } }
    effect:
      action: BLOCK
      reason_code: READ_ONLY
      message: ${REASON}
      hint: { hint_text: ${HINT}, hint_kind: SAFETY }
`;

export function setStage({ binFolder, env, sub: product = SUB }: StageOptions): Stage {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'sub-clients-')));
  const home = join(folder, 'home');
  // In the home, where the policy of a project is looked for.
  const project = join(home, 'project');
  const policy = join(folder, 'policy.yaml');
  mkdirSync(home);
  mkdirSync(project);
  writeFileSync(policy, POLICY);
  const own = {
    HOME: home,
    // Where it is found from HOME alone: Codex gives its servers almost no environment.
    SUB_HOME: join(home, '.subluminal'),
    PATH: [binFolder, dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter),
    LANG: 'C.UTF-8',
    ...env,
  };
  const run: Stage['run'] = (command, { env: more, until: words } = {}) =>
    runIn(command, { cwd: project, env: { ...own, ...more }, words });
  const sub = (...args: readonly string[]) => run([process.execPath, product, ...args]);
  return {
    home,
    project,
    policy,
    run,
    sub,
    product,
    calls: (count) => callsIn(sub, count),
    kill(word) {
      const pids = bearing([folder]).filter((pid) => commandOf(pid).split(' ').includes(word));
      for (const pid of pids) endOne(pid);
      return pids;
    },
    async quiet() {
      const left = () => bearing([folder]).filter((pid) => !commandOf(pid).includes('ledgerd'));
      await until(() => (left().length === 0 ? true : undefined), 'the last server to end').catch(
        (cause: unknown) => {
          throw new Error(`${String(cause)}; there is:\n${left().map(commandOf).join('\n')}`);
        },
      );
    },
    clear() {
      // A ledger that was started on the way knows nothing of the test but its folder.
      for (const pid of bearing([folder])) endOne(pid);
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

function endOne(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // Gone already, as it should be.
  }
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}

interface Where {
  readonly cwd: string;
  readonly env: Env;
  /** It is ended when it has said them. */
  readonly words: string | undefined;
}

function runIn(
  [program = '', ...args]: readonly string[],
  { cwd, env, words }: Where,
): Promise<Ended> {
  const child = spawn(program, args, {
    cwd,
    env,
    // Both clients wait for more of the task as long as their input is open.
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: COMMAND_MAX_MS,
    killSignal: 'SIGKILL',
  });
  let said = '';
  for (const output of words === undefined ? [] : [child.stdout, child.stderr]) {
    output.on('data', (text: Buffer | string) => {
      said += text.toString();
      if (words !== undefined && said.includes(words)) child.kill('SIGTERM');
    });
  }
  return ended(child);
}

/** A shim hands its last events over as it ends, which may be a moment after its agent. */
async function callsIn(sub: Stage['sub'], count: number): Promise<readonly LedgerCall[]> {
  let said = '';
  let found: readonly LedgerCall[] = [];
  let looking: Promise<void> | undefined;
  const look = async (): Promise<void> => {
    const { stdout, stderr } = await sub('query', '--json');
    said = stdout + stderr;
    const answer = stdout.startsWith('{')
      ? (JSON.parse(stdout) as { calls: LedgerCall[] })
      : undefined;
    found = answer?.calls.toReversed() ?? [];
  };
  await until(() => {
    looking ??= look().finally(() => {
      looking = undefined;
    });
    const isThere = found.length >= count && found.every(({ status }) => status !== null);
    return isThere ? true : undefined;
  }, `${count} calls in the ledger`).catch((cause: unknown) => {
    throw new Error(`${String(cause)}; it says:\n${said}`);
  });
  await looking;
  return found;
}
