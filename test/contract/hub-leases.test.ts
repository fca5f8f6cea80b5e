// A budget of a run, and real shims that count it by leases of their hub.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ensureBuilt, SUB } from '../e2e/sub.ts';
import { type RealHub, realHub } from './hubs.ts';
import { bundle, call, ping } from './messages.ts';
import { endBearing } from './proc.ts';

beforeAll(ensureBuilt);

const SERVER = fileURLToPath(new URL('servers/echo-calls.mjs', import.meta.url));

const rule = (id: string, scope: string, limit: string, onExceed = 'BLOCK') => `
  - rule_id: ${id}
    kind: budget
    enabled: true
    severity: warn
    match: {}
    effect: { budget: { scope: ${scope}, ${limit}, on_exceed: ${onExceed} } }`;

interface Answer {
  readonly id: number;
  readonly result?: object;
  readonly error?: { readonly data: { readonly subluminal: { readonly reason_code: string } } };
}

class Lane {
  readonly shim: ChildProcess;
  passes = 0;
  /** Why calls were refused. */
  readonly refusals: string[] = [];
  readonly #waiting = new Map<number, (answer: Answer | undefined) => void>();
  #calls = 0;

  constructor(shim: ChildProcess) {
    this.shim = shim;
    if (shim.stdout === null) throw new Error('a shim has a stdout');
    createInterface({ input: shim.stdout }).on('line', (line) => {
      const answer = JSON.parse(line) as Answer;
      this.#waiting.get(answer.id)?.(answer);
    });
    shim.stdin?.on('error', () => undefined);
    shim.once('exit', () => {
      for (const over of this.#waiting.values()) over(undefined);
    });
  }

  /** Its server answers. */
  async begun(): Promise<void> {
    await this.#ask((id) => ping(id));
  }

  async #ask(line: (id: number) => string): Promise<Answer | undefined> {
    if (this.shim.exitCode !== null || this.shim.signalCode !== null) return undefined;
    const id = ++this.#calls;
    const answered = new Promise<Answer | undefined>((resolve) => this.#waiting.set(id, resolve));
    this.shim.stdin?.write(line(id));
    const answer = await answered;
    this.#waiting.delete(id);
    return answer;
  }

  /** Whether the call passes; undefined when the shim has ended. */
  async call(tool = 'do'): Promise<boolean | undefined> {
    const answer = await this.#ask((id) => call(id, tool));
    if (answer === undefined) return undefined;
    if (answer.result !== undefined) this.passes++;
    else this.refusals.push(answer.error?.data.subluminal.reason_code ?? 'none');
    return answer.result !== undefined;
  }

  /** Calls until a call is refused. */
  async exhaust(tool?: string): Promise<void> {
    while ((await this.call(tool)) === true);
  }

  async leave(): Promise<void> {
    const exited = once(this.shim, 'exit');
    this.shim.stdin?.end();
    await exited;
  }
}

interface Crew {
  readonly hub: RealHub['hub'];
  readonly lanes: readonly Lane[];
  readonly policyPath: string;
}

async function crewOf(count: number, policy: string): Promise<Crew> {
  const { env, hub } = await realHub();
  const home = mkdtempSync(join(tmpdir(), 'sub-leases-'));
  const policyPath = join(home, 'policy.yaml');
  writeFileSync(policyPath, policy);
  const mark = `LEASES_MARK=${home}`;
  onTestFinished(() => {
    endBearing([mark]);
    rmSync(home, { recursive: true, force: true });
  });
  const own = {
    HOME: home,
    SUB_HOME: join(home, 'home'),
    SUB_POLICY_RELOAD: 'any',
    LEASES_MARK: home,
    ...env,
  };
  const lanes = Array.from({ length: count }, (_, at) => {
    const flags = ['--server-name', `s${at}`, '--policy', policyPath];
    const sink = ['--events', 'off'];
    const words = [SUB, 'shim', ...flags, ...sink, '--', process.execPath, SERVER];
    const shim = spawn(process.execPath, words, {
      env: { PATH: process.env['PATH'] ?? '', ...own },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    return new Lane(shim);
  });
  return { hub, lanes, policyPath };
}

const passesOf = (lanes: readonly Lane[]) => lanes.reduce((sum, { passes }) => sum + passes, 0);
const reasonsOf = (lanes: readonly Lane[]) => new Set(lanes.flatMap(({ refusals }) => refusals));
const only = <T>(items: readonly T[], at: number): T => {
  const item = items[at];
  if (item === undefined) throw new Error('there is no such lane');
  return item;
};

describe('a budget of 200 calls', () => {
  const policy = bundle(rule('few', 'run', 'limit_calls: 200'));

  it('lets exactly 200 pass in a race of ten shims', async () => {
    const { lanes } = await crewOf(10, policy);
    await Promise.all(lanes.map((lane) => lane.begun()));
    await Promise.all(lanes.map((lane) => lane.exhaust()));
    expect(passesOf(lanes)).toBe(200);
    expect(lanes.filter(({ passes }) => passes > 0).length).toBeGreaterThan(1);
    expect(reasonsOf(lanes)).toEqual(new Set(['BUDGET_EXCEEDED']));
  });

  it('lets never more pass when one of them is killed', async () => {
    const { lanes } = await crewOf(4, policy);
    await Promise.all(lanes.map((lane) => lane.begun()));
    const killed = only(lanes, 0);
    const racing = lanes.map((lane) => lane.exhaust());
    while (killed.passes < 5 && (await killed.call()) === true);
    killed.shim.kill('SIGKILL');
    await Promise.all(racing);
    // A call that had passed when its shim was killed may have no answer.
    expect(passesOf(lanes)).toBeLessThanOrEqual(200);
    expect(reasonsOf(lanes)).toEqual(new Set(['BUDGET_EXCEEDED']));
  });

  it('waits for no shim that was stopped, and counts what that returns when it goes on', async () => {
    const { lanes } = await crewOf(2, policy);
    const [stopped, other] = [only(lanes, 0), only(lanes, 1)];
    expect(await other.call()).toBe(true);
    expect(await stopped.call()).toBe(true);
    stopped.shim.kill('SIGSTOP');
    await other.exhaust();
    expect(other.passes).toBeGreaterThan(100);
    expect(passesOf(lanes)).toBeLessThan(200);
    stopped.shim.kill('SIGCONT');
    await stopped.exhaust();
    await other.exhaust();
    expect(passesOf(lanes)).toBe(200);
  });

  it('has all that a shim has not used, once it leaves', async () => {
    const { lanes } = await crewOf(2, policy);
    const [leaving, staying] = [only(lanes, 0), only(lanes, 1)];
    expect(await leaving.call()).toBe(true);
    await leaving.leave();
    await staying.exhaust();
    expect(passesOf(lanes)).toBe(200);
  });

  it('is the same budget when it is raised while the calls come', async () => {
    const { lanes, policyPath } = await crewOf(3, policy);
    await Promise.all(lanes.map((lane) => lane.begun()));
    const racing = lanes.map((lane) => lane.exhaust());
    while (passesOf(lanes) < 50 && (await only(lanes, 0).call()) === true);
    writeFileSync(policyPath, bundle(rule('few', 'run', 'limit_calls: 260'), '2'));
    await Promise.all(racing);
    // Each shim takes the new policy when it notices it.
    await expect
      .poll(
        async () => {
          for (const lane of lanes) await lane.exhaust();
          return passesOf(lanes);
        },
        { timeout: 30_000 },
      )
      .toBe(260);
    for (const lane of lanes) await lane.exhaust();
    expect(passesOf(lanes)).toBe(260);
    expect(reasonsOf(lanes)).toEqual(new Set(['BUDGET_EXCEEDED']));
  });
});

it('two budgets of one policy are both exact, that of a tool across its servers', async () => {
  const rules = rule('all', 'run', 'limit_calls: 120') + rule('each', 'tool', 'limit_calls: 30');
  const { lanes } = await crewOf(3, bundle(rules));
  await Promise.all(lanes.map((lane) => lane.exhaust('one')));
  expect(passesOf(lanes)).toBe(30);
  // A call that one budget refuses still counts for the other.
  const refused = lanes.flatMap(({ refusals }) => refusals).length;
  expect(refused).toBe(3);
  for (const tool of ['two', 'three', 'four']) {
    await Promise.all(lanes.map((lane) => lane.exhaust(tool)));
  }
  expect(passesOf(lanes)).toBeLessThanOrEqual(120 - refused);
  expect(passesOf(lanes)).toBeGreaterThan(90);
});

it('a budget in cost units is exact', async () => {
  const limit = 'limit_cost_units: 90, cost_units_per_call: 3';
  const { lanes } = await crewOf(3, bundle(rule('few', 'run', limit)));
  await Promise.all(lanes.map((lane) => lane.exhaust()));
  expect(passesOf(lanes)).toBe(30);
});

it('a call that the hub decides gets what shims hold and do not use', async () => {
  const free = `
  - rule_id: asks
    kind: breaker
    enabled: true
    severity: warn
    match: { tool_name: { glob: [watched] } }
    effect: { breaker: { scope: run, error_threshold: 5, window_ms: 60000, on_trip: BLOCK } }`;
  const { lanes } = await crewOf(2, bundle(rule('few', 'run', 'limit_calls: 40') + free));
  const [leasing, asking] = [only(lanes, 0), only(lanes, 1)];
  expect(await leasing.call()).toBe(true);
  await asking.exhaust('watched');
  expect(passesOf(lanes)).toBe(40);
});

it('a run that one shim ends stops the others at once, whatever they hold', async () => {
  const rules = `
  - rule_id: enough
    kind: budget
    enabled: true
    severity: warn
    match: { tool_name: { glob: [last] } }
    effect: { budget: { scope: run, limit_calls: 0, on_exceed: TERMINATE_RUN } }`;
  const { lanes } = await crewOf(3, bundle(rule('few', 'run', 'limit_calls: 1000') + rules));
  for (const lane of lanes) expect(await lane.call()).toBe(true);
  const ended = lanes.map(({ shim }) => once(shim, 'exit'));
  expect(await only(lanes, 0).call('last')).toBe(false);
  await Promise.all(ended);
});
