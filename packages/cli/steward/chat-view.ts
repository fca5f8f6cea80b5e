// The chat with Steward on a terminal: takes what happens and what is typed, gives text and wishes.
import type { StewardAnswers } from '@subluminal/contracts';
import type { Ended, Entry } from '@subluminal/plane/approvals';
import { entryJson } from '../approvals/render-approval.ts';
import type { Colors } from '../terminal/io.ts';
import { harmless, harmlessLine, jsonText, plural, shortened } from '../terminal/text.ts';
import { changeText, type ShownChange } from './change-text.ts';

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
  /** All of a proposed change; undefined when it is not there any more. */
  readonly showChange: (id: string) => Promise<ShownChange | undefined>;
  /** Gives what came of it. */
  readonly decideChange: (view: ShownChange, verdict: 'approve' | 'reject') => Promise<string>;
  /** Why nobody here may decide; undefined when the person at this terminal may. */
  readonly forbidden: string | undefined;
  readonly end: (hasWorked: boolean) => void;
  /** One message, then the end. */
  readonly isSingle: boolean;
}

/** An answer that was typed for something else must not decide. */
const SETTLE_MS = 700;
const COMMANDS = 'Say what you need. /stop or Ctrl-C stops a task, /quit leaves.';
const MINUTE_MS = 60_000;
const ARGS_LENGTH_MAX = 100;
const RESULT_LENGTH_MAX = 160;
/** Of a change, before the person asks for all of it. */
const CHANGE_LINES_MAX = 120;
/** An answer to a question that has ended meanwhile is no message. */
const ANSWERS: ReadonlySet<string> = new Set([
  'y',
  'yes',
  'n',
  'no',
  'd',
  'details',
  'l',
  'later',
  'a',
]);
const OVER: ReadonlySet<Step['state']> = new Set(['done', 'refused', 'failed', 'unknown']);

/** What the person at the terminal is asked; an answer that is not listed means nothing. */
interface ChatQuestion {
  readonly id: string;
  readonly keys: string;
  readonly answers: ReadonlyMap<string, () => void>;
}

export class ChatView {
  readonly #ports: ChatPorts;
  readonly #waiting = new Map<string, Entry>();
  readonly #shownSteps = new Set<string>();
  #asked: (ChatQuestion & { readonly atMs: number }) | undefined;
  #runIds: ReadonlySet<string> = new Set();
  #changes: Updates['open_changes'] = [];
  readonly #seenChanges = new Set<string>();
  #mayDecide: boolean;
  readonly #ended = new Set<string>();
  /** Messages on their way, and tasks whose end was not seen yet. */
  readonly #open = new Set<string>();
  #sent = 0;
  #lastMessage = 0;
  #isIdle = true;
  /** The prompt is there, and nothing has come after it. */
  #isReady = true;
  #hasWorked = true;
  #isLeaving = false;
  /** A question has ended without the person, who may still answer it. */
  #isQuestionOver = false;
  /** Nothing was shown since the last message was sent. */
  #isSilent = false;

  constructor(ports: ChatPorts) {
    this.#ports = ports;
    this.#mayDecide = ports.forbidden === undefined;
  }

  /** The number of the last message that was shown. */
  get lastMessage(): number {
    return this.#lastMessage;
  }

  /** What was there before the chat began: messages up to this one, steps of these tasks, and changes. */
  skip(lastMessage: number, { tasks, open_changes }: Updates): void {
    this.#lastMessage = lastMessage;
    for (const { id, steps, state } of tasks) {
      if (state === 'running') continue;
      for (const { n } of steps) this.#shownSteps.add(`${id}-${n}`);
    }
    for (const { sha256 } of open_changes) this.#seenChanges.add(sha256);
    if (open_changes.length === 0) return;
    const count = plural(open_changes.length, 'change');
    this.#ports.note(`Still open from before: ${count}. See them with sub steward review.\n`);
  }

  greet(): void {
    this.#ports.note(`${this.#ports.colors.dim(COMMANDS)}\n`);
    this.prompt();
  }

  prompt(): void {
    if (!this.#ports.isSingle) this.#ports.note(this.#ports.colors.bold('> '));
  }

  line(text: string): void {
    this.#isLeaving = false;
    if (this.#asked !== undefined) return this.answer(text);
    if (text.trim() === '') return this.#isIdle ? this.prompt() : undefined;
    if (this.#isQuestionOver && ANSWERS.has(text.trim().toLowerCase())) {
      return this.#ports.note('That question is over, so this was not sent.\n');
    }
    this.#isQuestionOver = false;
    if (text.trim() === '/quit') return this.#ports.end(true);
    if (text.trim() === '/help') return this.greet();
    void this.#send(text);
  }

  /** What is typed beside a single message: it decides, or means nothing. */
  answer(text: string): void {
    if (this.#asked === undefined) return;
    const { keys, answers, atMs } = this.#asked;
    const act = answers.get(text.trim().toLowerCase());
    const isTooSoon = this.#ports.nowMs() - atMs < SETTLE_MS;
    if (act === undefined || isTooSoon) return this.#ports.note(keys);
    act();
  }

  /** Nobody types here any more: calls expire, and changes wait elsewhere. */
  inputEnded(): void {
    this.#mayDecide = false;
    this.#asked?.answers.get('l')?.();
  }

  async #send(text: string): Promise<void> {
    this.#isIdle = false;
    this.#isReady = false;
    this.#isSilent = true;
    const sending = `message ${++this.#sent}`;
    this.#open.add(sending);
    const taskId = await this.#ports.send(text);
    this.#open.delete(sending);
    if (taskId !== undefined && !this.#ended.has(taskId)) this.#open.add(taskId);
  }

  /** A while after a message was sent: a model may take its time. */
  stillWorks(): void {
    if (!this.#isSilent || this.#isIdle || this.#asked !== undefined) return;
    this.#isSilent = false;
    this.#ports.note(`${this.#ports.colors.dim('Steward works. Ctrl-C stops it.')}\n`);
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
    this.#goOn();
  }

  onEnd(ended: Ended): void {
    const id = ended.kind === 'request' ? ended.request.id : ended.id;
    this.#waiting.delete(id);
    if (this.#asked?.id !== id) return;
    this.#isQuestionOver = true;
    this.#ports.note('\nThis was decided elsewhere, or its time is over.\n');
    this.#close();
  }

  onUpdates({ run_id, sub_agent_runs, messages, tasks, open_changes, is_idle }: Updates): void {
    this.#runIds = new Set([...(run_id === null ? [] : [run_id]), ...sub_agent_runs]);
    this.#changes = open_changes;
    for (const task of tasks) this.#showSteps(task);
    const { colors } = this.#ports;
    for (const { n, role, text, task_id } of messages) {
      this.#lastMessage = Math.max(this.#lastMessage, n);
      if (role !== 'user' && task_id !== null) this.#endTask(task_id);
      if (role === 'assistant') this.#ports.say(`${shownText(text)}\n`);
      if (role === 'notice') this.#ports.note(`${colors.yellow(shownText(text))}\n`);
    }
    this.#isIdle = is_idle && this.#open.size === 0;
    this.#hasWorked = tasks.at(-1)?.state === 'done';
    this.#goOn();
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
      this.#isSilent = false;
      // A question stands on its line without an end.
      const lead = this.#asked === undefined ? '' : '\n';
      this.#ports.note(`${lead}${stepLine(step, this.#ports.colors)}\n`);
    }
  }

  /** Asks what is to be asked; then it is the person's turn, or the end of a single message. */
  #goOn(): void {
    while (this.#asked === undefined) if (!this.#askNext()) break;
    if (this.#asked !== undefined || !this.#isIdle || this.#isReady) return;
    this.#isReady = true;
    this.#isLeaving = false;
    if (this.#ports.isSingle) return this.#ports.end(this.#hasWorked);
    this.prompt();
  }

  /** Whether there was something; calls first, because a task waits for them. */
  #askNext(): boolean {
    const entry = [...this.#waiting.values()].find(({ request }) =>
      this.#runIds.has(request.call.run_id),
    );
    if (entry !== undefined) {
      this.#askCall(entry);
      return true;
    }
    const change = this.#changes.find(({ sha256 }) => !this.#seenChanges.has(sha256));
    if (change === undefined || this.#open.size > 0) return false;
    this.#seenChanges.add(change.sha256);
    if (this.#mayDecide) void this.#askChange(change.id);
    else this.#ports.note(`A change waits for you: sub steward review show ${change.id}\n`);
    return true;
  }

  #ask(question: ChatQuestion): void {
    this.#isReady = false;
    this.#asked = { ...question, atMs: this.#ports.nowMs() };
    this.#ports.note(question.keys);
  }

  #close(): void {
    this.#asked = undefined;
    this.#goOn();
  }

  #askCall(entry: Entry): void {
    const { note, render, nowMs, colors } = this.#ports;
    const { id, call, expires_at } = entry.request;
    const left = Math.max(1, Math.round((Date.parse(expires_at) - nowMs()) / MINUTE_MS));
    const minutes = plural(left, 'minute');
    if (!this.#mayDecide) {
      this.#waiting.delete(id);
      const how = `in a terminal, run \`sub approvals approve ${id}\` or \`sub approvals reject ${id}\``;
      const waits = `waits ${minutes} for a person`;
      return note(harmlessLine(`${call.server}.${call.tool} ${waits}: ${how}.`));
    }
    const keys = colors.bold('Allow this? y (yes), n (no), d (details): ');
    note(`\n${render(entry)}Steward waits for your answer, ${minutes} at most.\n`);
    const decide = (state: 'approved' | 'rejected') => () => {
      const trouble = this.#ports.decide(entry, state);
      if (trouble !== undefined) return note(`${harmlessLine(trouble)}${keys}`);
      this.#waiting.delete(id);
      this.#close();
    };
    const details = () => note(`${jsonText(entryJson(entry, false))}${keys}`);
    const [yes, no] = [decide('approved'), decide('rejected')];
    this.#ask({ id, keys, answers: answersOf({ y: yes, yes, n: no, no, d: details, details }) });
  }

  async #askChange(id: string): Promise<void> {
    const { note, colors, showChange, decideChange } = this.#ports;
    // What is typed until it is shown is no answer, and no message either.
    this.#ask({ id, keys: '', answers: new Map() });
    const view = await showChange(id);
    if (view === undefined || !this.#mayDecide) return this.#close();
    const lines = changeText(view, colors).trimEnd().split('\n');
    let isWhole = lines.length <= CHANGE_LINES_MAX;
    const rest = lines.length - CHANGE_LINES_MAX;
    const cut = isWhole ? '' : `… ${plural(rest, 'more line')}\n`;
    note(`\n${lines.slice(0, CHANGE_LINES_MAX).join('\n')}\n${cut}`);
    const all = isWhole ? '' : ', a (all of it)';
    const keys = colors.bold(`Apply this? y (yes), n (no), l (later)${all}: `);
    const decide = async (verdict: 'approve' | 'reject') => {
      this.#asked = { id, keys: '', answers: new Map(), atMs: 0 };
      note(harmlessLine(await decideChange(view, verdict)));
      this.#close();
    };
    const yes = () => {
      if (isWhole) return void decide('approve');
      note(`Not all of it was shown: a shows it.\n${keys}`);
    };
    const no = () => void decide('reject');
    const later = () => {
      note(`It stays open: sub steward review show ${id}\n`);
      this.#close();
    };
    const showAll = () => {
      isWhole = true;
      note(`${lines.slice(CHANGE_LINES_MAX).join('\n')}\n${keys}`);
    };
    const known = { y: yes, yes, n: no, no, l: later, later };
    this.#ask({ id, keys, answers: answersOf(all === '' ? known : { ...known, a: showAll }) });
  }
}

function answersOf(answers: { readonly [word: string]: () => void }): ChatQuestion['answers'] {
  return new Map(Object.entries(answers));
}

/** Line ends stay, everything else that a terminal would obey does not. */
function shownText(text: string): string {
  return text.split('\n').map(harmless).join('\n');
}

function stepLine({ server, tool, args, state, result }: Step, colors: Colors): string {
  const name = server === '' ? tool : `${server}.${tool}`;
  const given = shortened(harmless(JSON.stringify(args)), ARGS_LENGTH_MAX);
  const call = `${harmless(name)} ${given}`;
  const lines = (result ?? '').split('\n');
  const first = lines.find((line) => !line.startsWith('[EXTERNAL_CONTENT ')) ?? '';
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
