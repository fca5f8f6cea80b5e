// Asks the person at the terminal. A secret is not shown while it is typed, and never an argument; no
// answer means no.

import { type Failure, failure } from '@subluminal/contracts';
import { isTooShortToRedact, VALUE_BYTES_MAX } from '@subluminal/plane/vault';
import { badUsage } from '../input/command.ts';
import type { Io } from '../terminal/io.ts';
import { harmless } from '../terminal/text.ts';

export interface Person {
  /** One line that is not echoed. */
  readonly hidden: (question: string) => Promise<Exclude<Typed, { kind: 'interrupted' }>>;
  readonly agrees: (question: string) => Promise<boolean>;
  /** One line that everybody may see; empty at the end of the input. */
  readonly shown: (question: string) => Promise<string>;
  /** An input that is still read would keep the process. */
  readonly close: () => Promise<void>;
}

/** More than a line: it was pasted, and only its first line would have been taken. */
type Typed =
  | { readonly kind: 'line'; readonly text: string }
  | { readonly kind: 'lines' }
  /** The end of the input. */
  | { readonly kind: 'nothing' }
  /** Ctrl-C, which a raw terminal hands over as a byte. */
  | { readonly kind: 'interrupted' };

/** What a terminal can do besides giving bytes. */
interface RawInput {
  readonly setRawMode: (isRaw: boolean) => unknown;
}

const NOTHING = { kind: 'nothing' } as const;

type Next = () => Promise<Uint8Array | undefined>;

const BYTES_MAX = 65_536;
const ANSWER_LENGTH_MAX = 1_024;
const SHOWN_LENGTH_MAX = 16_384;
const [INTERRUPT, END, LINE_FEED, RETURN, ESCAPE] = [0x03, 0x04, 0x0a, 0x0d, 0x1b];
const ERASERS: ReadonlySet<number> = new Set([0x08, 0x7f]);
const FIRST_VISIBLE = 0x20;

/** Undefined without a terminal. */
export function personAt(io: Io): Person | undefined {
  const { stdin, err } = io;
  if (!io.stdinIsTerminal || !err.isTerminal || !isRawInput(stdin)) return undefined;
  // One reader for all questions: leaving it would close the terminal for the next one.
  let reader: AsyncIterator<Uint8Array> | undefined;
  const next: Next = async () => {
    reader ??= stdin[Symbol.asyncIterator]();
    const result = await reader.next();
    return result.done === true ? undefined : result.value;
  };
  return {
    hidden: async (question) => {
      // First: characters that are typed ahead must not be echoed either.
      stdin.setRawMode(true);
      err.write(question);
      let typed: Typed = NOTHING;
      try {
        typed = await hiddenLine(next);
      } finally {
        stdin.setRawMode(false);
        err.write('\n');
      }
      if (typed.kind !== 'interrupted') return typed;
      err.write('sub: nothing was changed.\n');
      process.kill(process.pid, 'SIGINT');
      return NOTHING;
    },
    agrees: async (question) => {
      err.write(`${question} [y/N] `);
      return /^\s*y(?:es)?\s*$/i.test(await shownLine(next));
    },
    shown: async (question) => {
      err.write(question);
      return shownLine(next, SHOWN_LENGTH_MAX);
    },
    close: async () => {
      await reader?.return?.();
    },
  };
}

function isRawInput(input: object): input is RawInput {
  return 'setRawMode' in input && typeof input.setRawMode === 'function';
}

async function hiddenLine(next: Next): Promise<Typed> {
  const bytes: number[] = [];
  for (let chunk = await next(); chunk !== undefined; chunk = await next()) {
    for (const [at, byte] of chunk.entries()) {
      if (byte === INTERRUPT) return { kind: 'interrupted' };
      if (byte === END) return NOTHING;
      if (byte === RETURN || byte === LINE_FEED) {
        const rest = chunk.subarray(at + 1);
        const isAll = rest.every((one) => one === RETURN || one === LINE_FEED);
        return isAll ? lineOf(bytes) : { kind: 'lines' };
      }
      // Arrow keys and the like are no part of a secret, and leave no trace on the screen.
      if (byte === ESCAPE) break;
      if (ERASERS.has(byte)) eraseLast(bytes);
      else if (byte >= FIRST_VISIBLE) bytes.push(byte);
      if (bytes.length > BYTES_MAX) return { kind: 'lines' };
    }
  }
  return NOTHING;
}

/** A whole character, which may be several bytes of UTF-8. */
function eraseLast(bytes: number[]): void {
  let last = bytes.pop();
  while (last !== undefined && (last & 0xc0) === 0x80) last = bytes.pop();
}

function lineOf(bytes: number[]): Typed {
  const line = Buffer.from(bytes);
  bytes.fill(0);
  const text = line.toString('utf8');
  line.fill(0);
  return { kind: 'line', text };
}

async function shownLine(next: Next, lengthMax = ANSWER_LENGTH_MAX): Promise<string> {
  let text = '';
  while (!text.includes('\n') && text.length <= lengthMax) {
    const chunk = await next();
    if (chunk === undefined) break;
    text += Buffer.from(chunk).toString('latin1');
  }
  return text.split('\n', 1)[0] ?? '';
}

interface SecretValue {
  readonly kind: 'value';
  readonly text: string;
}

/** The value of the secret `name`: typed by the person, or from standard input. */
export async function readValue(
  io: Io,
  person: Person | undefined,
  name: string,
): Promise<SecretValue | Failure> {
  if (!io.stdinIsTerminal) return fromInput(io);
  if (person === undefined) {
    return badUsage('not a terminal, cannot ask.', 'Give the value on standard input.');
  }
  const typed = await person.hidden(`Value of ${harmless(name)} (not shown): `);
  switch (typed.kind) {
    case 'line':
      return { kind: 'value', text: typed.text };
    case 'lines': {
      const fix = 'Give it by standard input: `sub secrets add NAME < FILE`.';
      return badUsage('the value has several lines, or is too long.', fix);
    }
    case 'nothing':
      return badUsage('no value was given.', 'Nothing was changed.');
  }
}

async function fromInput({ stdin }: Io): Promise<SecretValue | Failure> {
  const chunks: Buffer[] = [];
  let total = 0;
  for await (const chunk of stdin) {
    total += chunk.length;
    // The newline that is cut may be two bytes more.
    if (total > VALUE_BYTES_MAX + 2) {
      const fix = `Give at most ${VALUE_BYTES_MAX} bytes.`;
      return failure('SUB_SECRET_UNUSABLE', 'the value is too long.', fix);
    }
    chunks.push(Buffer.from(chunk));
  }
  const bytes = Buffer.concat(chunks, total);
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return { kind: 'value', text: text.replace(/\r?\n$/, '') };
  } catch {
    return failure('SUB_SECRET_UNUSABLE', 'the value is not valid UTF-8.', 'Give text.');
  } finally {
    for (const chunk of [...chunks, bytes]) chunk.fill(0);
  }
}

/** It is stored, but a binding that redacts it, as all do by default, would be refused. */
export function warnShort(io: Io, name: string, value: string): void {
  if (!isTooShortToRedact(value)) return;
  const what = `\`${harmless(name)}\` is too short to be told from other text`;
  const how = 'Servers get it only by a binding with `redact = false`. Better use a longer one.';
  io.err.write(`sub: ${what}. ${how}\n`);
}
