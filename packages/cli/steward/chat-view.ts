// The chat with Steward on a terminal: takes what happens and what is typed, gives text and wishes.
import type { StewardAnswers } from '@subluminal/contracts';
import type { Ended, Entry } from '@subluminal/plane/approvals';
import { entryJson } from '../approvals/render-approval.ts';
import type { Colors } from '../terminal/io.ts';
import { harmless, harmlessLine, jsonText, plural, shortened } from '../terminal/text.ts';

type Updates = StewardAnswers['updates'];
type Task = Updates['tasks'][number];
type Step = Task['steps'][number];

export interface ChatPorts {
  /** What Steward says. */
  readonly say: (text: string) => void;
  /** What happens meanwhile. */
  readonly note: (text: string) => void;
  readonly colors: Colors;
  readonly nowMs: () => number;
  /** The whole request, as `sub approvals show` prints it. */
  readonly render: (entry: Entry) => string;
  /** Gives the id of the task that the message became. */
  readonly send: (text: string) => Promise<string | undefined>;
  readonly stop: () => void;
  /** Gives why a verdict took no effect. */
  readonly decide: (entry: Entry, state: 'approved' | 'rejected') => string | undefined;
  /** Why nobody here may decide; undefined when the person at this terminal may. */
  readonly forbidden: string | undefined;
  readonly end: (hasWorked: boolean) => void;
  /** One message, then the end. */
  readonly isSingle: boolean;
}

/** An answer that was typed for something else must not decide. */
const SETTLE_MS = 700;
const MINUTE_MS = 60_000;
const ARGS_LENGTH_MAX = 100;
const RESULT_LENGTH_MAX = 160;
const OVER: ReadonlySet<Step['state']> = new Set(['done', 'refused', 'failed', 'unknown']);

export class ChatView {
  readonly #ports: ChatPorts;
  readonly #waiting = new Map<string, Entry>();
  readonly #shownSteps = new Set<string>();
  #asked: { readonly entry: Entry; readonly atMs: number } | undefined;
  #runIds: ReadonlySet<string> = new Set();
  readonly #ended = new Set<string>();
  /** Messages on their way, and tasks whose end was not seen yet. */
  readonly #open = new Set<string>();
  #lastMessage = 0;
  #isIdle = true;
  #isLeaving = false;

  constructor(ports: ChatPorts) {
    this.#ports = ports;
  }

  /** The number of the last message that was shown. */
  get lastMessage(): number {
    return this.#lastMessage;
  }

  /** Messages up to this one were seen before. */
  skipTo(n: number): void {
    this.#lastMessage = n;
  }

  /** Steps of these tasks were seen before. */
  skipSteps(tasks: readonly Task[]): void {
    for (const { id, steps } of tasks) {
      for (const { n } of steps) this.#shownSteps.add(`${id}-${n}`);
    }
  }

  prompt(): void {
    if (!this.#ports.isSingle) this.#ports.note(this.#ports.colors.bold('> '));
  }

  line(text: string): void {
    this.#isLeaving = false;
    if (this.#asked !== undefined) return this.answer(text);
    if (text.trim() === '') return this.#isIdle ? this.prompt() : undefined;
    if (text.trim() === '/quit') return this.#ports.end(true);
    void this.#send(text);
  }

  /** What is typed beside a single message: it decides, or means nothing. */
  answer(text: string): void {
    if (this.#asked !== undefined) this.#decide(this.#asked, text.trim().toLowerCase());
  }

  async #send(text: string): Promise<void> {
    this.#isIdle = false;
    const sending = `sending ${this.#open.size}`;
    this.#open.add(sending);
    const taskId = await this.#ports.send(text);
    this.#open.delete(sending);
    if (taskId !== undefined && !this.#ended.has(taskId)) this.#open.add(taskId);
  }

  /** Ctrl-C: stops what is under way; again, or when nothing is, leaves. */
  interrupt(): void {
    if (this.#isLeaving) return this.#ports.end(false);
    this.#isLeaving = true;
    if (this.#isIdle) return this.#ports.note('\nCtrl-C again leaves.\n');
    this.#ports.note('\nStopping the task. Ctrl-C again leaves.\n');
    this.#ports.stop();
  }

  onRequest(entry: Entry): void {
    this.#waiting.set(entry.request.id, entry);
    this.#askNext();
  }

  onEnd(ended: Ended): void {
    const id = ended.kind === 'request' ? ended.request.id : ended.id;
    this.#waiting.delete(id);
    if (this.#asked?.entry.request.id !== id) return;
    this.#asked = undefined;
    this.#askNext();
  }

  onUpdates({ run_id, sub_agent_runs, messages, tasks, is_idle }: Updates): void {
    this.#runIds = new Set([...(run_id === null ? [] : [run_id]), ...sub_agent_runs]);
    for (const task of tasks) this.#showSteps(task);
    const { colors } = this.#ports;
    for (const { n, role, text, task_id } of messages) {
      this.#lastMessage = Math.max(this.#lastMessage, n);
      if (role !== 'user' && task_id !== null) this.#endTask(task_id);
      if (role === 'assistant') this.#ports.say(`${shownText(text)}\n`);
      if (role === 'notice') this.#ports.note(`${colors.yellow(shownText(text))}\n`);
    }
    const wasIdle = this.#isIdle;
    this.#isIdle = is_idle && this.#open.size === 0;
    this.#askNext();
    if (!this.#isIdle || wasIdle) return;
    this.#isLeaving = false;
    if (this.#ports.isSingle) return this.#ports.end(tasks.at(-1)?.state === 'done');
    this.prompt();
  }

  #endTask(id: string): void {
    this.#ended.add(id);
    this.#open.delete(id);
  }

  #showSteps({ id, steps }: Task): void {
    for (const step of steps) {
      const key = `${id}-${step.n}`;
      if (!OVER.has(step.state) || this.#shownSteps.has(key)) continue;
      this.#shownSteps.add(key);
      this.#ports.note(`${stepLine(step, this.#ports.colors)}\n`);
    }
  }

  #askNext(): void {
    if (this.#asked !== undefined) return;
    const { note, render, forbidden, nowMs } = this.#ports;
    const entry = [...this.#waiting.values()].find(({ request }) =>
      this.#runIds.has(request.call.run_id),
    );
    if (entry === undefined) return;
    if (forbidden !== undefined) {
      this.#waiting.delete(entry.request.id);
      const { id, call, expires_at } = entry.request;
      const left = Math.max(1, Math.round((Date.parse(expires_at) - nowMs()) / MINUTE_MS));
      const how = `in a terminal, run \`sub approvals approve ${id}\` or \`sub approvals reject ${id}\``;
      const waits = `waits ${plural(left, 'minute')} for a person`;
      return note(harmlessLine(`${call.server}.${call.tool} ${waits}: ${how}.`));
    }
    this.#asked = { entry, atMs: nowMs() };
    note(`\n${render(entry)}${this.#keys()}`);
  }

  #decide({ entry, atMs }: { readonly entry: Entry; readonly atMs: number }, text: string): void {
    const { note, nowMs, decide } = this.#ports;
    if (nowMs() - atMs < SETTLE_MS) return note(this.#keys());
    if (text === 'd' || text === 'details') {
      return note(`${jsonText(entryJson(entry, false))}${this.#keys()}`);
    }
    const state = VERDICTS.get(text);
    if (state === undefined) return note(this.#keys());
    const trouble = decide(entry, state);
    if (trouble !== undefined) return note(`${harmlessLine(trouble)}${this.#keys()}`);
    this.#waiting.delete(entry.request.id);
    this.#asked = undefined;
    this.#askNext();
  }

  #keys(): string {
    return this.#ports.colors.bold('Allow this? y (yes), n (no), d (details): ');
  }
}

const VERDICTS: ReadonlyMap<string, 'approved' | 'rejected'> = new Map([
  ['y', 'approved'],
  ['yes', 'approved'],
  ['n', 'rejected'],
  ['no', 'rejected'],
] as const);

/** Line ends stay, everything else that a terminal would obey does not. */
function shownText(text: string): string {
  return text.split('\n').map(harmless).join('\n');
}

function stepLine({ server, tool, args, state, result }: Step, colors: Colors): string {
  const name = server === '' ? tool : `${server}.${tool}`;
  const given = shortened(harmless(JSON.stringify(args)), ARGS_LENGTH_MAX);
  const call = `${harmless(name)} ${given}`;
  const [first = ''] = (result ?? '').split('\n');
  const why = shortened(harmless(first), RESULT_LENGTH_MAX);
  switch (state) {
    case 'done':
      return colors.dim(`  ✓ ${call}`);
    case 'unknown':
      return colors.yellow(`  ? ${call}: ${why}`);
    default:
      return colors.red(`  ✗ ${call}: ${why}`);
  }
}
