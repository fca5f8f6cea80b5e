// Inputs of hooks, and what may become of them on their way.
import { isJsonObject, type JsonObject } from '@subluminal/contracts';
import fc from 'fast-check';

export interface CapturedInput {
  readonly name: string;
  readonly text: string;
}

export function bodyNamed(inputs: readonly CapturedInput[], wanted: string): JsonObject {
  const body: unknown = JSON.parse(inputs.find(({ name }) => name === wanted)?.text ?? 'null');
  if (!isJsonObject(body)) throw new Error(`no input ${wanted}`);
  return body;
}

export const hostileText = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.constantFrom(' ', '\n', '\ud800', '\u00a0', '\u3000', '\u001b[2J', '"', '\\', '{}'),
);

/** The bodies with something cut out, put in or exchanged, and texts of any kind. */
export function damagedInputs(inputs: readonly CapturedInput[]): fc.Arbitrary<string> {
  const damaged = fc
    .tuple(fc.constantFrom(...inputs), fc.nat(), fc.nat(40), hostileText)
    .map(([{ text }, at, length, put]) => {
      const start = at % text.length;
      return text.slice(0, start) + put + text.slice(start + length);
    });
  const exchanged = fc
    .tuple(fc.constantFrom(...inputs), fc.nat(), fc.jsonValue())
    .map(([{ name }, at, value]) => {
      const body = bodyNamed(inputs, name);
      const keys = [...Object.keys(body), 'agent_id', 'mcp_server'];
      return JSON.stringify({ ...body, [keys[at % keys.length] ?? '']: value });
    });
  return fc.oneof(damaged, exchanged, hostileText);
}

/** JSON of any kind, objects more than others, and what is none. */
export const anyArgsText = fc.oneof(
  fc.json(),
  fc.json().map((each) => `{"a":${each}}`),
  hostileText,
);
