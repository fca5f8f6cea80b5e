// A shim's connection: numbered lines come in, counts of what is committed go back.
import { type Intake, NO_NUMBER, type Sender } from './intake.ts';
import type { Peer, Talk } from './peer.ts';
import { LINE_BYTES_MAX, type NumberedLine } from './protocol.ts';

const DIGITS_MAX = 15;
const ZERO = 48;
const NINE = 57;

interface TakerOptions {
  readonly peer: Peer;
  readonly intake: Intake;
  readonly producer: string;
  /** What comes before the first line: the producer may have left older ones on disk. */
  readonly before: () => Promise<void>;
  readonly onClosed: () => void;
}

export class LineTaker implements Talk, Sender {
  readonly #peer: Peer;
  readonly #intake: Intake;
  readonly #producer: string;
  readonly #before: () => Promise<void>;
  readonly #onClosed: () => void;
  /** The first lines, until it is their turn: no more than one read from the socket holds. */
  #held: NumberedLine[] | undefined = [];
  #received = 0;
  #committed = 0;
  #hasEnded = false;

  constructor({ peer, intake, producer, before, onClosed }: TakerOptions) {
    this.#peer = peer;
    this.#intake = intake;
    this.#producer = producer;
    this.#before = before;
    this.#onClosed = onClosed;
  }

  line(text: string | undefined): void {
    this.#received += 1;
    const line = numbered(this.#producer, text);
    if (this.#held === undefined) this.#add(line);
    else if (this.#held.push(line) === 1) void this.#begin();
  }

  #add(line: NumberedLine): void {
    this.#intake.add(line, this);
    if (!this.#intake.isFull || this.#peer.isPaused) return;
    this.#peer.pause();
    this.#intake.whenRoom(() => this.#peer.resume());
  }

  committed(count: number): void {
    this.#committed += count;
    this.#peer.writeLatest(`{"ack":${this.#committed}}\n`);
    this.#letGo();
  }

  ended(): void {
    this.#hasEnded = true;
    // It waits for the last count before it goes.
    this.#intake.hasten();
    this.#letGo();
  }

  closed(): void {
    this.#hasEnded = true;
    this.#onClosed();
  }

  /**
   * Only now: a shim says hello, completes its file and then sends, so that with its first line the
   * file is there to be found.
   */
  async #begin(): Promise<void> {
    this.#peer.pause();
    await this.#before();
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const line of held) this.#intake.add(line, this);
    if (this.#hasEnded) this.#intake.hasten();
    this.#intake.whenRoom(() => this.#peer.resume());
  }

  #letGo(): void {
    if (this.#hasEnded && this.#committed === this.#received) this.#peer.end();
  }
}

/** `SEQ<space>JSON`. What is none of that goes on, too: the ledger keeps it with the rejects. */
function numbered(producer: string, text: string | undefined): NumberedLine {
  if (text === undefined) {
    return { producer, seq: NO_NUMBER, line: `a line of more than ${LINE_BYTES_MAX} bytes` };
  }
  const space = text.indexOf(' ');
  let seq = 0;
  for (let at = 0; at < space; at++) {
    const code = text.charCodeAt(at);
    if (code < ZERO || code > NINE || at >= DIGITS_MAX) {
      return { producer, seq: NO_NUMBER, line: text };
    }
    seq = seq * 10 + code - ZERO;
  }
  if (space <= 0) return { producer, seq: NO_NUMBER, line: text };
  return { producer, seq, line: text.slice(space + 1) };
}
