// `sub approvals watch` on a terminal: shows one request at a time, and a key always decides the request
// that is shown. Takes events and keys, returns text and verdicts.
import {
  type Ended,
  type Entry,
  type GrantWish,
  grantFor,
  grantWords,
} from '@subluminal/plane/approvals';
import type { Colors } from '../terminal/io.ts';
import { harmless, harmlessLine, plural } from '../terminal/text.ts';
import { endedText } from './render-approval.ts';

interface ViewPorts {
  readonly write: (text: string) => void;
  readonly nowMs: () => number;
  readonly colors: Colors;
  /** The whole request, as `show` prints it. */
  readonly render: (entry: Entry) => string;
  /** Applies a verdict; returns why that failed. */
  readonly decide: (entry: Entry, verdict: ViewVerdict) => string | undefined;
  /** Why the person at this terminal may not decide; undefined when they may. */
  readonly forbidden: string | undefined;
  readonly end: () => void;
}

interface ViewVerdict {
  readonly state: 'approved' | 'rejected';
  readonly wish?: GrantWish;
}

type Mode =
  | { readonly kind: 'choose' }
  | { readonly kind: 'grant' }
  | { readonly kind: 'confirm'; readonly wish: GrantWish };

/** A key that was meant for the last request must not decide about the next. */
const SETTLE_MS = 700;
const HALF_HOUR_MS = 1_800_000;
const INTERRUPT = '\u0003';
const END_OF_INPUT = '\u0004';

const EXACT = { kind: 'exact' } as const;
const ANY = { kind: 'any' } as const;
const HALF_HOUR = { kind: 'minutes', durationMs: HALF_HOUR_MS } as const;
const WISHES: readonly { readonly words: string; readonly wish: GrantWish }[] = [
  { words: 'this run, exactly these arguments', wish: { kind: 'run', args: EXACT } },
  { words: 'this run, any arguments', wish: { kind: 'run', args: ANY } },
  { words: '30 minutes, exactly these arguments', wish: { ...HALF_HOUR, args: EXACT } },
  { words: '30 minutes, any arguments', wish: { ...HALF_HOUR, args: ANY } },
  { words: 'always, exactly these arguments', wish: { kind: 'always', args: EXACT } },
];

export class WatchView {
  readonly #ports: ViewPorts;
  readonly #waiting = new Map<string, Entry>();
  #current: Entry | undefined;
  #mode: Mode = { kind: 'choose' };
  #shownAtMs = 0;

  constructor(ports: ViewPorts) {
    this.#ports = ports;
  }

  begin(): void {
    this.#ports.write('Waiting for calls that need approval; q ends.\n');
  }

  onRequest(entry: Entry): void {
    this.#waiting.set(entry.request.id, entry);
    if (this.#current === undefined) this.#showNext();
    else this.#ports.write(`${plural(this.#waiting.size - 1, 'more call')} waiting.\n`);
  }

  onEnd(ended: Ended): void {
    const id = ended.kind === 'request' ? ended.request.id : ended.id;
    this.#waiting.delete(id);
    this.#ports.write(endedText(ended));
    if (this.#current?.request.id === id) this.#leave();
  }

  /** What came from the keyboard at once. Several characters were pasted, and decide nothing. */
  key(text: string): void {
    if (text === 'q' || text === INTERRUPT || text === END_OF_INPUT) return this.#ports.end();
    const entry = this.#current;
    if (entry === undefined || text.length !== 1) return;
    if (this.#ports.nowMs() - this.#shownAtMs < SETTLE_MS) return;
    switch (this.#mode.kind) {
      case 'choose':
        return this.#choose(entry, text);
      case 'grant':
        return this.#chooseGrant(entry, text);
      case 'confirm':
        return this.#confirm(entry, this.#mode.wish, text);
    }
  }

  #choose(entry: Entry, text: string): void {
    if (text !== 'a' && text !== 'g' && text !== 'r') return;
    const { forbidden, write } = this.#ports;
    if (forbidden !== undefined) return write(`${forbidden}\n`);
    if (text === 'r') return this.#decide(entry, { state: 'rejected' });
    if (text === 'a') return this.#decide(entry, { state: 'approved' });
    this.#mode = { kind: 'grant' };
    const lines = WISHES.map(({ words }, index) => `  ${index + 1}  ${words}`);
    write(`Approve it, and grant it for:\n${lines.join('\n')}\n  any other key goes back\n`);
  }

  #chooseGrant(entry: Entry, text: string): void {
    const wish = WISHES[Number(text) - 1]?.wish;
    if (wish === undefined) return this.#goBack();
    const nowMs = this.#ports.nowMs();
    const giver = { id: entry.request.id, by: 'you', channel: 'terminal', nowMs };
    const grant = grantFor(entry.request, wish, giver);
    if (grant.kind === 'failure') {
      this.#ports.write(`${harmless(grant.message)}\n`);
      return this.#goBack();
    }
    this.#mode = { kind: 'confirm', wish };
    const lines = grantWords(grant).map((line) => `  ${harmless(line)}`);
    this.#ports.write(`${lines.join('\n')}\ny grants this, any other key goes back\n`);
  }

  #confirm(entry: Entry, wish: GrantWish, text: string): void {
    if (text !== 'y') return this.#goBack();
    this.#decide(entry, { state: 'approved', wish });
  }

  /** The end arrives as an event, as it does when another person decides first. */
  #decide(entry: Entry, verdict: ViewVerdict): void {
    const trouble = this.#ports.decide(entry, verdict);
    if (trouble === undefined) return;
    this.#ports.write(harmlessLine(trouble));
    this.#goBack();
  }

  #goBack(): void {
    this.#mode = { kind: 'choose' };
    this.#ports.write(this.#keys());
  }

  #leave(): void {
    this.#current = undefined;
    this.#mode = { kind: 'choose' };
    this.#showNext();
  }

  #showNext(): void {
    const [next] = this.#waiting.values();
    if (next === undefined) return;
    this.#current = next;
    this.#shownAtMs = this.#ports.nowMs();
    this.#ports.write(`\n${this.#ports.render(next)}${this.#keys()}`);
  }

  #keys(): string {
    return `${this.#ports.colors.bold('a approve   r reject   g grant   q quit')}\n`;
  }
}
