// The file pins.json: written by us alone, so whatever is odd in it makes it unreadable.
import { type Parsed, parseAs } from '@subluminal/contracts';
import { canonicalize } from '../../json/index.ts';
import type { Sha256 } from '../../ports.ts';
import { choice, closed, may, must } from '../../section-shape.ts';
import { type Pin, type PinStore, pinOf, type ServerPins } from './pin.ts';

export type OpenedPins =
  | { readonly ok: true; readonly store: PinStore }
  | { readonly ok: false; readonly code: 'SUB_PINS_UNREADABLE'; readonly message: string };

const FORMAT = 'subluminal-pins/1';
const LENGTH_MAX = 67_108_864;

const TIME = { kind: 'integer', min: 0 } as const;
const PIN = closed({
  hash: must({ kind: 'string', lengthMin: 64, lengthMax: 64, format: 'sha256' } as const),
  definition: may({ kind: 'json' } as const),
  seen_at_ms: must(TIME),
  accepted_at_ms: must({ kind: 'nullable', inner: TIME } as const),
});
/** Servers and pins are read one by one: what one check may look at is bounded. */
const RECORD = { kind: 'record', values: { ...closed({}), closed: false } } as const;
const SERVER = closed({ instructions: may({ ...closed({}), closed: false }), tools: must(RECORD) });
const FILE = closed({ format: must(choice(FORMAT)), servers: must(RECORD) });

type UnreadablePins = Extract<OpenedPins, { ok: false }>;

function unreadable(message: string): UnreadablePins {
  return { ok: false, code: 'SUB_PINS_UNREADABLE', message };
}

/** Reads the file. Each definition is held against its hash: a store that was edited is no proof. */
export function parsePins(text: string, sha256: Sha256): OpenedPins {
  if (text.length > LENGTH_MAX) return unreadable(`longer than ${LENGTH_MAX} characters`);
  // Also refuses repeated keys, of which two readers would take two different ones.
  const canonical = canonicalize(text);
  if (!canonical.ok) return unreadable(`${canonical.message}, at offset ${canonical.offset}`);
  const file = partOf(parseAs(FILE, JSON.parse(text)), 'the file');
  if ('code' in file) return file;
  const servers = new Map<string, ServerPins>();
  for (const [name, server] of Object.entries(file.servers)) {
    const pins = serverOf(server, sha256);
    if ('code' in pins) return pins;
    servers.set(name, pins);
  }
  return { ok: true, store: { servers } };
}

function partOf<T>(parsed: Parsed<T>, where: string): T | UnreadablePins {
  if (parsed.ok) return parsed.value;
  const expected = parsed.mismatches[0]?.expected ?? '';
  return unreadable(`${where} is not what Subluminal writes: expected ${expected}`);
}

function serverOf(value: unknown, sha256: Sha256): ServerPins | UnreadablePins {
  const server = partOf(parseAs(SERVER, value), 'a server');
  if ('code' in server) return server;
  const tools = new Map<string, Pin>();
  for (const [name, tool] of Object.entries(server.tools)) {
    const pin = pinAt(tool, sha256);
    if ('code' in pin) return pin;
    tools.set(name, pin);
  }
  const { instructions } = server;
  const pin = instructions === undefined ? undefined : pinAt(instructions, sha256);
  if (pin !== undefined && 'code' in pin) return pin;
  return { instructions: pin, tools };
}

function pinAt(value: unknown, sha256: Sha256): Pin | UnreadablePins {
  const written = partOf(parseAs(PIN, value), 'a pin');
  if ('code' in written) return written;
  const { hash, definition, seen_at_ms: seenAtMs, accepted_at_ms: acceptedAtMs } = written;
  if (definition === undefined) return { hash, seenAtMs, acceptedAtMs };
  const again = pinOf(definition, sha256);
  if (!again.ok || again.hash !== hash) return unreadable('a definition does not match its hash');
  return { hash, seenAtMs, acceptedAtMs, definition };
}

/** The file as text: a line for each pin, names in one order, so that a diff of it can be read. */
export function writePins(store: PinStore): string {
  const servers = sorted(store.servers).map(([name, { instructions, tools }]) => {
    const first =
      instructions === undefined ? '' : `      "instructions": ${pinText(instructions)},\n`;
    const lines = sorted(tools).map(([tool, pin]) => `        ${member(tool)}${pinText(pin)}`);
    return `    ${member(name)}{\n${first}      "tools": {\n${lines.join(',\n')}\n      }\n    }`;
  });
  return `{\n  "format": "${FORMAT}",\n  "servers": {\n${servers.join(',\n')}\n  }\n}\n`;
}

function member(name: string): string {
  return `${JSON.stringify(name)}: `;
}

function sorted<V>(entries: ReadonlyMap<string, V>): readonly [string, V][] {
  return [...entries].toSorted(([a], [b]) => (a < b ? -1 : Number(a > b)));
}

function pinText({ hash, definition, seenAtMs, acceptedAtMs }: Pin): string {
  const kept = definition === undefined ? {} : { definition };
  return JSON.stringify({ hash, seen_at_ms: seenAtMs, accepted_at_ms: acceptedAtMs, ...kept });
}
