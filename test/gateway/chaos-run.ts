// One run of chaos: clients that send turns, faults at moments that a seed chooses, and what must be true afterwards.
import { setTimeout as wait } from 'node:timers/promises';
import { seededRandom } from '../seeded-random.ts';
import { eventually, serveAt, testFolder } from './running-processes.ts';
import { type CountedCall, ScriptedUpstream, type UpstreamAct } from './scripted-upstream.ts';
import { firstKey, type ServedGateway } from './served-gateway.ts';

export type StoredRow = { readonly [column: string]: unknown };
export type Fault = 'gateway' | 'postgres' | 'backend' | 'upstream';

interface ChaosOptions {
  readonly seed: number;
  readonly turns: number;
  /** One gateway for each. */
  readonly homes: readonly string[];
  readonly database: string;
}

interface FaultActions {
  readonly postgres?: (awayMs: number) => Promise<void>;
  readonly backend?: () => Promise<void>;
}

/** A gateway from its start to its end. */
interface Incarnation {
  readonly process: ServedGateway;
  isKilled: boolean;
}

/** A turn as its client saw it. */
interface ClientTurn {
  readonly id: string;
  /** Its gateway was killed before the client had all that came. */
  readonly isHit: boolean;
  readonly hasLeft: boolean;
  /** None when the connection broke before one came. */
  readonly status?: number;
  /** The count of the answer, when all of it came. */
  readonly answer?: number;
}

const CLIENTS = 8;
const TURNS_BETWEEN_FAULTS = 20;
const AWAY_MS_MAX = 600;
const UNAVAILABLE = 503;
const AGAIN_MS = 200;
/** What a gateway says of an upstream. */
const UPSTREAM_STATUSES: ReadonlySet<number> = new Set([400, 429, 500, 502, 504]);

export class ChaosRun {
  readonly dir = testFolder();
  readonly #options: ChaosOptions;
  readonly #random: () => number;
  readonly #upstreams: readonly ScriptedUpstream[];
  readonly #gateways: (Incarnation | undefined)[];
  readonly #turns: ClientTurn[] = [];
  readonly #running = new Set<string>();
  readonly #restarts: Promise<void>[] = [];
  readonly #faults: Fault[] = [];
  #key = '';
  #sent = 0;

  private constructor(options: ChaosOptions, upstreams: readonly ScriptedUpstream[]) {
    this.#options = options;
    this.#random = seededRandom(options.seed);
    this.#upstreams = upstreams;
    this.#gateways = options.homes.map(() => undefined);
  }

  static async open(options: ChaosOptions): Promise<ChaosRun> {
    let count = 0;
    const nextCount = () => ++count;
    const upstreams = await Promise.all(
      ['one', 'two'].map((name) =>
        ScriptedUpstream.open({ nextCount, act: (id) => actFor(`${options.seed} ${name} ${id}`) }),
      ),
    );
    return new ChaosRun(options, upstreams);
  }

  get upstreams(): readonly string[] {
    return this.#upstreams.map(({ url }) => url);
  }

  /** At once, as a deployment does. */
  async start(): Promise<void> {
    await Promise.all(this.#gateways.map((_, slot) => this.#startGateway(slot)));
    const [first] = this.#gateways;
    if (first === undefined) throw new Error('no gateway');
    this.#key = await firstKey(first.process);
  }

  /** Sends all turns while faults happen, one after the other and again from the first. */
  async finish(faults: readonly Fault[], actions: FaultActions): Promise<void> {
    const clients = Promise.all(Array.from({ length: CLIENTS }, () => this.#client()));
    for (let place = 0; this.#turns.length < this.#options.turns; place++) {
      const next = this.#turns.length + 1 + Math.floor(this.#random() * TURNS_BETWEEN_FAULTS);
      await eventually(
        () => this.#turns.length,
        (ended) => ended >= Math.min(next, this.#options.turns),
      );
      const fault = faults[place % faults.length];
      if (fault === undefined || this.#turns.length >= this.#options.turns) break;
      this.#faults.push(fault);
      await this.#strike(fault, actions);
    }
    await clients;
    await Promise.all(this.#restarts);
  }

  async stop(): Promise<void> {
    await Promise.all(this.#gateways.map(async (gateway) => gateway?.process.kill('SIGTERM')));
  }

  async #strike(fault: Fault, actions: FaultActions): Promise<void> {
    const awayMs = Math.floor(this.#random() * AWAY_MS_MAX);
    switch (fault) {
      case 'gateway':
        return this.#killGateway(Math.floor(this.#random() * this.#gateways.length));
      case 'postgres':
        return actions.postgres?.(awayMs);
      case 'backend':
        return actions.backend?.();
      case 'upstream': {
        const upstream = this.#upstreams[Math.floor(this.#random() * this.#upstreams.length)];
        this.#doubtRunning();
        upstream?.kill();
        await wait(awayMs);
        this.#doubtRunning();
        return upstream?.listen();
      }
    }
  }

  /** What was written to a connection that is then cut may or may not have come. */
  #doubtRunning(): void {
    for (const call of this.#calls()) if (this.#running.has(call.id)) call.isUncertain = true;
  }

  async #killGateway(slot: number): Promise<void> {
    const gateway = this.#gateways[slot];
    if (gateway === undefined) return;
    gateway.isKilled = true;
    this.#gateways[slot] = undefined;
    await gateway.process.kill('SIGKILL');
    // Whoever runs it starts it again until it runs; the other one goes on meanwhile.
    this.#restarts.push(this.#startGateway(slot));
  }

  async #startGateway(slot: number): Promise<void> {
    const { homes, database } = this.#options;
    const place = { dir: this.dir, home: homes[slot] ?? '', database };
    const started = await eventually(
      () => serveAt(place),
      (gateway) => gateway !== undefined,
    );
    if (started !== undefined) this.#gateways[slot] = { process: started, isKilled: false };
  }

  async #client(): Promise<void> {
    while (this.#sent < this.#options.turns) {
      const place = this.#sent++;
      const living = () => this.#gateways.filter((gateway) => gateway !== undefined);
      const gateways = await eventually(living, ({ length }) => length > 0);
      const incarnation = gateways[place % gateways.length];
      if (incarnation === undefined) throw new Error('no gateway lives');
      const id = `turn-${this.#options.seed}-${place}`;
      this.#running.add(id);
      const turn = await this.#sendTurn(id, place, incarnation.process.url);
      this.#turns.push({ ...turn, isHit: incarnation.isKilled });
      this.#running.delete(id);
      // As clients do: it was told to come again in a moment.
      if (turn.status === UNAVAILABLE) await wait(AGAIN_MS);
    }
  }

  async #sendTurn(id: string, place: number, url: string): Promise<Omit<ClientTurn, 'isHit'>> {
    const isStream = place % 2 === 0;
    const hasLeft = place % 14 === 0;
    const turn = { id, hasLeft };
    try {
      const answer = await fetch(`${url}/v1/messages`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${this.#key}`,
          'x-aicg-session-id': id,
        },
        body: JSON.stringify({
          model: 'any',
          max_tokens: 100,
          stream: isStream,
          messages: [{ role: 'user', content: `my id is ${id}` }],
        }),
      });
      const { status } = answer;
      if (hasLeft) {
        await answer.body?.cancel();
        return { ...turn, status };
      }
      try {
        const count = wholeAnswer(await answer.text(), isStream);
        return { ...turn, status, ...(count !== undefined && { answer: count }) };
      } catch {
        return { ...turn, status };
      }
    } catch {
      return turn;
    }
  }

  #calls(): readonly CountedCall[] {
    return this.#upstreams.flatMap(({ calls }) => calls);
  }

  /** What is not as it must be, in words. */
  problems(costs: readonly StoredRow[], audited: readonly string[]): readonly string[] {
    const calls = this.#calls();
    const rows = costs.map((row) => ({
      id: String(row['session_id']),
      count: Number(row['input_tokens']),
      output: Number(row['output_tokens']),
      isSuccess: Boolean(row['is_success']),
      isTimeout: row['error_class'] === 'upstream_timeout',
      isCounted: Number(row['input_tokens']) > 1_000,
    }));
    const problems: string[] = [];
    const counted = new Map(calls.map((call) => [call.inputTokens, call]));
    const charged = rows.filter(({ isCounted }) => isCounted);
    for (const { id, count } of charged) {
      if (counted.get(count)?.id !== id) problems.push(`${id}: ${count} was never counted for it`);
      if (charged.filter((row) => row.count === count).length > 1)
        problems.push(`${id}: ${count} is there twice`);
    }
    for (const turn of this.#turns) {
      const audits = audited.filter((id) => id === turn.id).length;
      const own = rows.filter(({ id }) => id === turn.id);
      const its = calls.filter(({ id }) => id === turn.id);
      if (audits > 1) problems.push(`${turn.id}: ${audits} rows in the audit`);
      if (mustBeAudited(turn) && audits === 0) problems.push(`${turn.id}: answered without audit`);
      if (turn.answer !== undefined) {
        const paid = own.filter((row) => row.count === turn.answer && row.isSuccess);
        if (paid.length !== 1 || paid[0]?.output !== counted.get(turn.answer)?.outputTokens)
          problems.push(`${turn.id}: got ${turn.answer}, and has ${paid.length} cost rows`);
      }
      if (isCertain(turn, its)) {
        const lost = its
          .filter(isCharged)
          .filter(({ inputTokens }) => !own.some(({ count }) => count === inputTokens));
        // A gateway on a busy machine may see its own timeout before the answer.
        const early =
          own.filter(({ isTimeout }) => isTimeout).length -
          its.filter(({ act }) => act === 'hang').length;
        if (lost.length > Math.max(0, early))
          problems.push(`${turn.id}: lost ${lost.map(({ inputTokens }) => inputTokens).join()}`);
      }
    }
    return problems;
  }

  get wasHit(): boolean {
    const isHit = this.#turns.some((turn) => turn.isHit);
    return isHit && this.#turns.some(({ answer }) => answer !== undefined);
  }

  /** For people: how much was put to the test. */
  get figures(): string {
    const calls = this.#calls();
    const whole = this.#turns.filter(({ answer }) => answer !== undefined).length;
    const statuses = new Map<string, number>();
    for (const { status } of this.#turns) {
      const name = String(status ?? 'cut off');
      statuses.set(name, (statuses.get(name) ?? 0) + 1);
    }
    return JSON.stringify({
      seed: this.#options.seed,
      turns: this.#turns.length,
      whole,
      calls: calls.length,
      certain: this.#turns.filter((turn) =>
        isCertain(
          turn,
          calls.filter(({ id }) => id === turn.id),
        ),
      ).length,
      faults: this.#faults.length,
      statuses: Object.fromEntries(statuses),
    });
  }
}

function mustBeAudited({ status, answer, isHit, hasLeft }: ClientTurn): boolean {
  if (answer !== undefined) return true;
  if (status === undefined || hasLeft) return false;
  // A stream that broke off with its gateway was not answered.
  return status === 200 ? !isHit : UPSTREAM_STATUSES.has(status);
}

/** Its gateway lived, its client stayed, and its upstreams know what they sent. */
function isCertain({ isHit, hasLeft }: ClientTurn, calls: readonly CountedCall[]): boolean {
  return !isHit && !hasLeft && calls.every(({ isUncertain }) => !isUncertain);
}

/** A stream says what it costs at its beginning. */
function isCharged({ act, isStream }: CountedCall): boolean {
  return act === 'answer' || (act === 'cut' && isStream);
}

function wholeAnswer(text: string, isStream: boolean): number | undefined {
  const isWhole = isStream ? text.includes('event: message_stop') : text.endsWith('}');
  const [, count] = /answer (\d+)/.exec(text) ?? [];
  return isWhole && count !== undefined ? Number(count) : undefined;
}

const ACTS: readonly (readonly [UpstreamAct, number])[] = [
  ['answer', 0.74],
  ['fail', 0.8],
  ['limit', 0.84],
  ['refuse', 0.89],
  ['cut', 0.97],
  ['hang', 1],
];

function actFor(text: string): UpstreamAct {
  let hash = 2_166_136_261;
  for (const letter of text) hash = Math.imul(hash ^ letter.charCodeAt(0), 16_777_619);
  const share = seededRandom(hash)();
  return ACTS.find(([, until]) => share < until)?.[0] ?? 'answer';
}
