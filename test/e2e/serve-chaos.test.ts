// `sub serve`, its server and the network on both sides of it are cut and killed at moments that a seed chooses: no call
// is executed twice, none stays without an answer, streams are resumed, and the ledger has all that was executed.
// `CHAOS_CALLS=2000 CHAOS_SEEDS=1,2,3` makes it longer.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { bearing, isRunning, noneBearing, until } from '../contract/proc.ts';
import { seededRandom } from '../seeded-random.ts';
import {
  type ChaosClient,
  ModernCaller,
  type Outcome,
  type Place,
  ResumingCaller,
  SdkCaller,
} from './chaos-clients.ts';
import { ChaosServe } from './chaos-serve.ts';
import { ShakyServer } from './shaky-server.ts';
import { ensureBuilt, ROOT } from './sub.ts';

type Fault = 'cut_client' | 'cut_server' | 'kill_server' | 'kill_serve' | 'drain_serve';

/** A call as its client saw it. */
interface SeenCall {
  readonly n: number;
  readonly client: string;
  readonly outcome: Outcome;
  /** What happened while it ran. */
  readonly faults: readonly Fault[];
}

const CALLS = Number(process.env['CHAOS_CALLS'] ?? 70);
const SEEDS = (process.env['CHAOS_SEEDS'] ?? '1').split(',').map(Number);
const CALLS_BETWEEN_FAULTS = 8;
const WAIT_MS_MAX = 60;
const TIMEOUT_MS = 120_000 + CALLS * 500;
const COUNTING_SERVER = [process.execPath, `${ROOT}test/e2e/counting-server.mjs`];
/** What ends a connection, or the session behind it. */
const BREAKING: ReadonlySet<Fault> = new Set(['cut_client', 'kill_serve', 'drain_serve']);
/** Names the server that failed, or says that the address stops. */
const TELLING = /\bshaky\b|stops/;

beforeAll(() => ensureBuilt());

interface ChaosOptions {
  readonly serve: ChaosServe;
  readonly random: () => number;
  /** How often each call was executed. */
  readonly executed: () => ReadonlyMap<number, number>;
  readonly faults: readonly Fault[];
  readonly strikeServer: (fault: 'cut_server' | 'kill_server') => Promise<void>;
}

class ServeChaosRun {
  readonly calls: SeenCall[] = [];
  readonly problems: string[] = [];
  readonly resuming: ResumingCaller;
  readonly #sdks: readonly SdkCaller[];
  readonly #options: ChaosOptions;
  readonly #clients: readonly (readonly [string, ChaosClient])[];
  readonly #faults: Fault[] = [];
  readonly #running = new Map<number, Promise<unknown>>();
  #isStriking = false;
  /** New calls wait for it. */
  #calm: Promise<unknown> = Promise.resolve();
  #sent = 0;

  constructor(options: ChaosOptions) {
    this.#options = options;
    const { front, path } = options.serve;
    const place: Place = { port: front.port, path };
    this.resuming = new ResumingCaller(place);
    this.#sdks = [new SdkCaller(place), new SdkCaller(place)];
    const modern = new ModernCaller(place);
    this.#clients = [
      ...[modern, modern].map((client) => ['modern', client] as const),
      ...[this.resuming, this.resuming].map((client) => ['resuming', client] as const),
      ...this.#sdks.map((client) => ['sdk', client] as const),
    ];
  }

  async close(): Promise<void> {
    await Promise.all(this.#sdks.map((sdk) => sdk.close()));
  }

  /** Sends all calls, six at a time, while faults happen. */
  async finish(): Promise<void> {
    const callers = Promise.all(this.#clients.map((one) => this.#call(one)));
    const { random, faults, executed } = this.#options;
    const isOver = () => this.calls.length >= CALLS;
    for (let place = 0; !isOver(); place++) {
      const next = this.calls.length + 1 + Math.floor(random() * CALLS_BETWEEN_FAULTS);
      await until(() => this.calls.length >= next || isOver() || undefined, 'the next fault');
      // While a call is being executed, wherever there is still one.
      const before = executed().size;
      await until(() => executed().size > before || isOver() || undefined, 'a call');
      const fault = faults[place % faults.length];
      if (fault === undefined || isOver()) break;
      this.#faults.push(fault);
      this.#isStriking = true;
      await this.#strike(fault);
      this.#isStriking = false;
    }
    await callers;
  }

  get figures(): string {
    const kinds = this.calls.map(({ client, outcome }) => `${client} ${outcome.kind}`);
    const counts = [...new Set(kinds.toSorted())].map((kind) => {
      return `${kind}: ${kinds.filter((one) => one === kind).length}`;
    });
    return `${counts.join(', ')}; faults: ${this.#faults.join(' ')}`;
  }

  async #call([name, client]: readonly [string, ChaosClient]): Promise<void> {
    const { serve, random } = this.#options;
    for (let n = this.#sent++; n < CALLS; n = this.#sent++) {
      await this.#calm;
      const from = this.#faults.length - (this.#isStriking ? 1 : 0);
      const called = client.call({ n, waitMs: random() * WAIT_MS_MAX });
      this.#running.set(n, called);
      const outcome = await called;
      this.#running.delete(n);
      this.calls.push({ n, client: name, outcome, faults: this.#faults.slice(from) });
      if (outcome.kind !== 'result') await serve.ready;
    }
  }

  async #strike(fault: Fault): Promise<void> {
    const { serve, strikeServer } = this.#options;
    switch (fault) {
      case 'cut_client':
        serve.front.cut();
        // The SDK forgets where it was when its connection breaks again before the next event.
        this.#calm = Promise.all(this.#running.values());
        await this.#calm;
        return;
      case 'kill_serve':
        return this.#expectGone(() => serve.restart('SIGKILL'));
      case 'drain_serve':
        return this.#expectGone(() => this.#drain());
      default:
        return strikeServer(fault);
    }
  }

  /** Calls that were executed get their answers before it ends. */
  async #drain(): Promise<void> {
    const { serve, executed } = this.#options;
    const begun = [...this.#running.keys()].filter((n) => executed().has(n));
    const { code, stderr } = await serve.restart('SIGTERM');
    if (code !== 0) this.problems.push(`drained with ${code}: ${stderr}`);
    for (const n of begun) {
      const call = this.calls.find((one) => one.n === n);
      if (call === undefined) this.problems.push(`call ${n} outlived the drain`);
      else if (call.outcome.kind === 'broken') {
        this.problems.push(`call ${n} was broken by the drain: ${JSON.stringify(call)}`);
      }
    }
  }

  /** Clients find their sessions gone, and begin others. */
  async #expectGone(restart: () => Promise<unknown>): Promise<void> {
    const before = this.#sdks.map(({ isConnected, sessionsLost }) =>
      isConnected ? sessionsLost : -1,
    );
    await restart();
    await Promise.all(this.#sdks.map((sdk) => sdk.ping()));
    const hasOutlived = this.#sdks.some(({ sessionsLost }, at) => sessionsLost === before[at]);
    if (hasOutlived) this.problems.push('a session outlived its process');
  }
}

/** What must be true of every run. */
async function expectSound(run: ServeChaosRun, { serve, executed }: ChaosOptions): Promise<void> {
  const counts = executed();
  const { calls, problems, figures } = run;
  for (const { n, client, outcome, faults } of calls) {
    const times = counts.get(n) ?? 0;
    const about = `${client} call ${n} (${faults.join(' ')}), executed ${times}: ${JSON.stringify(outcome)}`;
    if (times > 1) problems.push(`executed twice: ${about}`);
    if (outcome.kind === 'result' && (times !== 1 || outcome.text !== `done ${n}`)) {
      problems.push(`answered wrongly: ${about}`);
    }
    if (outcome.kind === 'broken' && !faults.some((fault) => BREAKING.has(fault))) {
      problems.push(`broken without a reason: ${about}`);
    }
    if (outcome.kind === 'broken' && /^not resumed|timed out/.test(outcome.message)) {
      problems.push(`no answer, and its session lives: ${about}`);
    }
    if (outcome.kind === 'error' && !TELLING.test(outcome.message)) {
      problems.push(`an error that does not tell its cause: ${about}`);
    }
  }
  expect(problems, figures).toEqual([]);
  expect(calls, figures).toHaveLength(CALLS);
  const answered = calls.filter(({ outcome }) => outcome.kind === 'result');
  expect(answered.length, figures).toBeGreaterThan(CALLS / 3);
  expect(await serve.stop('SIGTERM')).toMatchObject({ code: 0 });
  await expectRecorded(serve, counts);
  await serve.sub('ledgerd', '--stop');
  await noneBearing([serve.folder]);
}

async function expectRecorded(
  serve: ChaosServe,
  executed: ReadonlyMap<number, number>,
): Promise<void> {
  const { stdout } = await serve.sub('query', '--args', '--json', '--limit', '10000');
  const rows = (JSON.parse(stdout) as { calls: { args_preview: string }[] }).calls;
  const recorded = rows.map(({ args_preview: args }) => (JSON.parse(args) as { n: number }).n);
  expect([...executed.keys()].filter((n) => !recorded.includes(n))).toEqual([]);
  expect(recorded).toHaveLength(new Set(recorded).size);
  expect(await serve.sub('ledger', 'verify')).toMatchObject({ code: 0 });
}

test.each(SEEDS)(
  'a server over HTTP: every call ends, and is executed and recorded once at most (seed %i)',
  { timeout: TIMEOUT_MS },
  async (seed) => {
    const random = seededRandom(seed);
    const server = await ShakyServer.open(random);
    onTestFinished(() => server.close());
    const serve = await ChaosServe.open(() => ({ url: server.url }));
    onTestFinished(() => serve.close());
    const options: ChaosOptions = {
      serve,
      random,
      executed: () => server.executed,
      faults: [
        'cut_client',
        'cut_server',
        'kill_serve',
        'kill_server',
        'cut_client',
        'drain_serve',
      ],
      strikeServer: async (fault) => {
        if (fault === 'cut_server') return server.front.cut();
        await server.kill();
        await server.start();
      },
    };
    const run = new ServeChaosRun(options);
    onTestFinished(() => run.close());
    await run.finish();
    expect(server.resumed).toBeGreaterThan(0);
    await expectResumed(run, server, serve);
    await expectSound(run, options);
  },
);

/** Both connections are cut in the middle of a call, and its answer comes by two resumed streams. */
async function expectResumed(
  { resuming }: ServeChaosRun,
  server: ShakyServer,
  serve: ChaosServe,
): Promise<void> {
  let release = (): void => {};
  server.holdAnswers(new Promise((resolve) => (release = resolve)));
  const before = [server.resumed, resuming.resumed] as const;
  const event = new Promise<void>((resolve) => {
    resuming.onEvent = resolve;
  });
  const n = CALLS;
  const call = resuming.call({ n, waitMs: 0 });
  await event;
  server.front.cut();
  serve.front.cut();
  await until(() => (server.resumed > before[0] ? true : undefined), 'the stream to go on');
  release();
  expect(await call).toEqual({ kind: 'result', text: `done ${n}` });
  expect(resuming.resumed).toBeGreaterThan(before[1]);
  expect(server.executed.get(n)).toBe(1);
}

test.each(SEEDS)(
  'a server on stdio: every call ends, and is executed and recorded once at most (seed %i)',
  { timeout: TIMEOUT_MS },
  async (seed) => {
    const random = seededRandom(seed);
    const serve = await ChaosServe.open((folder) => ({
      command: [...COUNTING_SERVER, join(folder, 'executed')],
    }));
    onTestFinished(() => serve.close());
    const file = join(serve.folder, 'executed');
    const counting = () => bearing([file]).filter((pid) => pid !== serve.pid);
    const options: ChaosOptions = {
      serve,
      random,
      executed: () => countLines(file),
      faults: ['cut_client', 'kill_server', 'kill_serve', 'cut_client', 'drain_serve'],
      strikeServer: async () => {
        const servers = counting();
        const killed = servers[Math.floor(random() * servers.length)];
        if (killed === undefined) return;
        process.kill(killed, 'SIGKILL');
        await until(() => (isRunning(killed) ? undefined : true), 'the server to end');
      },
    };
    const run = new ServeChaosRun(options);
    onTestFinished(() => run.close());
    await run.finish();
    await expectSound(run, options);
  },
);

/** Each line is one execution; the last one may be on its way. */
function countLines(file: string): ReadonlyMap<number, number> {
  const counts = new Map<number, number>();
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];
  for (const n of lines.map(Number)) counts.set(n, (counts.get(n) ?? 0) + 1);
  return counts;
}
