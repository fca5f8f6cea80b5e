// The value of a secret as it comes in: typed unseen, or from standard input. Never an argument.

import { type Failure, failure } from '@subluminal/contracts';
import { isTooShortToRedact, VALUE_BYTES_MAX } from '@subluminal/plane/vault';
import type { Io } from '../terminal/io.ts';
import { harmless } from '../terminal/text.ts';
import type { Person } from './person.ts';

interface Value {
  readonly kind: 'value';
  readonly text: string;
}

interface Wanted {
  readonly io: Io;
  readonly person: Person | undefined;
  readonly name: string;
}

export async function readValue({ io, person, name }: Wanted): Promise<Value | Failure> {
  if (!io.stdinIsTerminal) return fromInput(io);
  if (person === undefined) {
    return failure('SUB_USAGE', 'there is nobody to ask.', 'Give the value by standard input.');
  }
  const typed = await person.hidden(`Value of ${harmless(name)} (not shown): `);
  switch (typed.kind) {
    case 'line':
      return { kind: 'value', text: typed.text };
    case 'lines': {
      const fix = 'Give it by standard input: `sub secrets add NAME < FILE`.';
      return failure('SUB_USAGE', 'the value has several lines, or is too long.', fix);
    }
    case 'nothing':
      return failure('SUB_USAGE', 'no value was given.', 'Nothing was changed.');
  }
}

async function fromInput({ stdin }: Io): Promise<Value | Failure> {
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
