// The file pins.json: written by us alone, so whatever is odd in it makes it unreadable.
import { check, isObject, type Shape } from '@subluminal/contracts';
import { canonicalize } from '../../json/index.ts';
import type { Sha256 } from '../../ports.ts';
import { isJson, type Pin, type PinStore, pinOf, type ServerPins } from './pin.ts';

export type OpenedPins =
  | { readonly ok: true; readonly store: PinStore }
  | { readonly ok: false; readonly code: 'SUB_PINS_UNREADABLE'; readonly message: string };

const FORMAT = 'subluminal-pins/1';
const LENGTH_MAX = 67_108_864;

const TIME: Shape = { kind: 'integer', min: 0 };
const PIN = {
  kind: 'object',
  closed: true,
  conditions: [],
  fields: {
    hash: field({ kind: 'string', lengthMin: 64, lengthMax: 64, format: 'sha256' }, true),
    definition: field({ kind: 'json' }, false),
    seen_at_ms: field(TIME, true),
    accepted_at_ms: field({ kind: 'nullable', inner: { kind: 'integer', min: 0 } }, true),
  },
} as const satisfies Shape;
/** Looked into by a shape of its own. */
const ANY_OBJECT: Shape = { kind: 'object', fields: {}, closed: false, conditions: [] };
const FILE: Shape = {
  kind: 'object',
  closed: true,
  conditions: [],
  fields: {
    format: field({ kind: 'enum', values: [FORMAT] }, true),
    servers: field({ kind: 'record', values: ANY_OBJECT }, true),
  },
};
const SERVER: Shape = {
  kind: 'object',
  closed: true,
  conditions: [],
  fields: {
    instructions: field(PIN, false),
    tools: field({ kind: 'record', values: ANY_OBJECT }, true),
  },
};

function field<const R extends boolean>(shape: Shape, required: R) {
  return { shape, required, doc: '' };
}

function unreadable(message: string): Extract<OpenedPins, { ok: false }> {
  return { ok: false, code: 'SUB_PINS_UNREADABLE', message };
}

/** Reads the file. Each definition is held against its hash: a store that was edited is no proof. */
export function parsePins(text: string, sha256: Sha256): OpenedPins {
  if (text.length > LENGTH_MAX) return unreadable(`longer than ${LENGTH_MAX} characters`);
  // Also refuses repeated keys, of which two readers would take two different ones.
  const canonical = canonicalize(text);
  if (!canonical.ok) return unreadable(`${canonical.message}, at offset ${canonical.offset}`);
  const file: unknown = JSON.parse(text);
  const wrong = mismatchIn(FILE, file, 'the file');
  if (wrong !== undefined) return wrong;
  const servers = new Map<string, ServerPins>();
  for (const [name, server] of Object.entries(partOf(file, 'servers'))) {
    const pins = serverOf(server, sha256);
    if ('code' in pins) return pins;
    servers.set(name, pins);
  }
  return { ok: true, store: { servers } };
}

function partOf(value: unknown, key: string): { readonly [name: string]: unknown } {
  const part: unknown = isObject(value) ? value[key] : undefined;
  return isObject(part) ? part : {};
}

function mismatchIn(shape: Shape, value: unknown, where: string) {
  const [first] = check(shape, value);
  if (first === undefined) return undefined;
  return unreadable(`${where} is not what Subluminal writes: expected ${first.expected}`);
}

type UnreadablePins = Extract<OpenedPins, { ok: false }>;

function serverOf(value: unknown, sha256: Sha256): ServerPins | UnreadablePins {
  const wrong = mismatchIn(SERVER, value, 'a server');
  if (wrong !== undefined) return wrong;
  const tools = new Map<string, Pin>();
  for (const [name, tool] of Object.entries(partOf(value, 'tools'))) {
    const pin = pinAt(tool, sha256);
    if ('code' in pin) return pin;
    tools.set(name, pin);
  }
  const written = isObject(value) ? value['instructions'] : undefined;
  const instructions = written === undefined ? undefined : pinAt(written, sha256);
  if (instructions !== undefined && 'code' in instructions) return instructions;
  return { instructions, tools };
}

function pinAt(value: unknown, sha256: Sha256): Pin | UnreadablePins {
  const wrong = mismatchIn(PIN, value, 'a pin');
  if (wrong !== undefined) return wrong;
  if (!isObject(value)) return unreadable('a pin is no object');
  const { hash, definition, seen_at_ms: seenAtMs, accepted_at_ms: acceptedAtMs } = value;
  if (typeof hash !== 'string' || typeof seenAtMs !== 'number')
    return unreadable('a pin is damaged');
  const pin = {
    hash,
    seenAtMs,
    acceptedAtMs: typeof acceptedAtMs === 'number' ? acceptedAtMs : null,
  };
  if (!isJson(definition)) return pin;
  const again = pinOf(definition, sha256);
  if (!again.ok || again.hash !== hash) return unreadable('a definition does not match its hash');
  return { ...pin, definition };
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
