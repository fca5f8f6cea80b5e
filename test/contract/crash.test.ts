// Kills the shim, the ledger or the server at random moments, and looks at what is left: nothing
// that runs, a ledger that verifies, and the decision of every call that was answered.
import type { ChildProcess } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { ensureBuilt, runSub, startSub } from '../e2e/sub.ts';
import { verifies } from '../requirements.ts';
import { bearing, noneBearing } from './proc.ts';

type Victim = 'shim' | 'ledger' | 'server' | 'nobody';

interface World {
  readonly folder: string;
  readonly env: { readonly [name: string]: string };
  /** Stands in the environment of everything but the daemon. */
  readonly mark: string;
  daemon: ChildProcess | undefined;
}

const ROUNDS = 8;
const CALLS = 60;
const WINDOW = 8;
const STEADY = fileURLToPath(new URL('servers/steady.mjs', import.meta.url));
/** Another seed is another test: `CRASH_SEED=7 npx vitest run test/contract/crash.test.ts`. */
const SEED = Number(process.env['CRASH_SEED'] ?? '20261116');
const VICTIMS: readonly Victim[] = ['shim', 'ledger', 'server', 'nobody'];
const POLICY = `
policy_id: crash
version: "1"
mode: guardrails
defaults: { decision_on_error: BLOCK }
selectors: {}
rules:
  - rule_id: no
    kind: deny
    enabled: true
    severity: warn
    match: { tool_name: { glob: ["no_*"] } }
    effect: { action: BLOCK }
`;

beforeAll(ensureBuilt);

/** Numbers that are the same for the same seed. */
function dice(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

async function startDaemon(world: World): Promise<void> {
  const daemon = startSub(['ledgerd', '--foreground'], { cwd: world.folder, env: world.env });
  world.daemon = daemon;
  if (daemon.stderr === null) throw new Error('the daemon has pipes');
  for await (const line of createInterface({ input: daemon.stderr })) {
    if (line.includes('serving')) break;
  }
  daemon.stderr.resume();
}

function exitOf(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) resolve();
    else child.once('exit', () => resolve());
  });
}

interface Round {
  readonly number: number;
  readonly victim: Victim;
  /** The victim dies when so many calls have been answered. */
  readonly afterAnswers: number;
}

/** One agent that keeps a few calls in flight; gives the numbers of those that were answered. */
async function play(world: World, round: Round): Promise<ReadonlySet<number>> {
  const shim = startShim(world);
  const over = exitOf(shim);
  const { stdin, stdout } = shim;
  if (stdin === null || stdout === null) throw new Error('the shim has pipes');
  stdin.on('error', () => undefined);
  const answered = new Set<number>();
  let sent = 0;
  const send = (): void => {
    if (sent >= CALLS) return;
    stdin.write(callLine(round.number, sent++));
  };
  for (let count = 0; count < WINDOW; count++) send();
  for await (const line of createInterface({ input: stdout })) {
    answered.add(idOf(line));
    if (answered.size === round.afterAnswers) kill(world, round, shim);
    if (answered.size === CALLS) stdin.end();
    send();
  }
  stdin.end();
  await over;
  return answered;
}

function startShim({ folder, env, mark }: World): ChildProcess {
  const [name = '', value = ''] = mark.split('=');
  const policy = ['--policy', join(folder, 'policy.yaml')];
  const shim = ['shim', '--server-name', 'steady', ...policy, '--', process.execPath, STEADY];
  return startSub(shim, { cwd: folder, env: { ...env, [name]: value } });
}

function callLine(round: number, number: number): string {
  const name = number % 7 === 3 ? 'no_way' : 'echo';
  const params = { name, arguments: { n: number, round } };
  return `${JSON.stringify({ jsonrpc: '2.0', id: number, method: 'tools/call', params })}\n`;
}

/** As canonical JSON has it: the keys in order, nothing between. */
function hashOf(round: number, number: number): string {
  return createHash('sha256').update(`{"n":${number},"round":${round}}`).digest('hex');
}

function idOf(line: string): number {
  const answer: unknown = JSON.parse(line);
  if (typeof answer !== 'object' || answer === null || !('id' in answer)) throw new Error(line);
  return Number(answer.id);
}

function kill(world: World, { victim }: Round, shim: ChildProcess): void {
  if (victim === 'shim') shim.kill('SIGKILL');
  if (victim === 'ledger') world.daemon?.kill('SIGKILL');
  if (victim !== 'server') return;
  const ours = bearing([world.mark]);
  const servers = bearing([STEADY]).filter((pid) => pid !== shim.pid && ours.includes(pid));
  expect(servers).not.toEqual([]);
  for (const pid of servers) process.kill(pid, 'SIGKILL');
}

interface Found {
  readonly calls: readonly { readonly args_hash: string; readonly decision: string | null }[];
}

/** What the ledger says of a run: the decisions by the hash of the arguments. */
async function decisions(world: World): Promise<ReadonlyMap<string, string | null>> {
  const asked = ['query', '--server', 'steady', '--limit', '10000', '--json'];
  const { code, stdout, stderr } = await runSub(asked, { cwd: world.folder, env: world.env });
  expect(stderr).toBe('');
  expect(code).toBe(0);
  const found = JSON.parse(stdout) as Found;
  return new Map(found.calls.map(({ args_hash, decision }) => [args_hash, decision]));
}

it(`loses no decision and leaves nothing behind, whoever dies (seed ${SEED})`, async () => {
  verifies('SL-11.4', 'T-I', 'T-I.3');
  const folder = mkdtempSync(join(tmpdir(), 'sub-crash-'));
  const env = { HOME: folder, SUB_HOME: join(folder, 'home'), SUB_GRACE_MS: '500' };
  const world: World = { folder, env, mark: `CRASH_MARK=${randomUUID()}`, daemon: undefined };
  writeFileSync(join(folder, 'policy.yaml'), POLICY);
  onTestFinished(async () => {
    world.daemon?.kill('SIGKILL');
    await runSub(['ledgerd', '--stop'], { cwd: folder, env });
    rmSync(folder, { recursive: true, force: true });
  });
  const roll = dice(SEED);
  for (let number = 0; number < ROUNDS; number++) {
    const victim = VICTIMS[number % VICTIMS.length] ?? 'nobody';
    const round = { number, victim, afterAnswers: 1 + roll(CALLS - WINDOW) };
    if (world.daemon === undefined || world.daemon.signalCode !== null) await startDaemon(world);
    const answered = await play(world, round);
    // The guard looks around for a moment longer than what it guards.
    await noneBearing([world.mark]);
    const known = await decisions(world);
    const missing = [...answered].filter((id) => !known.get(hashOf(number, id)));
    expect({ round, missing }).toEqual({ round, missing: [] });
    expect(answered.size).toBeGreaterThanOrEqual(round.afterAnswers);
    const verified = await runSub(['ledger', 'verify'], { cwd: folder, env });
    expect(verified).toMatchObject({ code: 0 });
  }
  const deep = await runSub(['ledger', 'verify', '--deep'], { cwd: folder, env });
  expect(deep).toMatchObject({ code: 0 });
}, 300_000);
