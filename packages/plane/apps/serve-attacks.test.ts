// Callers and servers that try to get past `sub serve`, with the real session and real processes behind it.
import { expect, test } from 'vitest';
import { begin, call, post, served, textOf } from './testing/served.ts';

const NO_HOLD = `
policy_id: serve-attacks
version: "1"
mode: guardrails
rules:
  - rule_id: no-hold
    kind: deny
    match: { tool_name: { glob: ["hold"] } }
    effect: { action: BLOCK }
`;

test.each([
  ['', '\n', 1],
  ['large ', '\n', 1_100_000],
  ['', '\r\n', 1],
  ['large ', '\r', 1_100_000],
])(
  'a line inside of a %smessage is no message for a server on stdio (%j)',
  async (_, end, size) => {
    const flags = { profile: 'production' };
    const { url } = await served({ policy: NO_HOLD, flags });
    const session = await begin(url());
    const args = `{"message":"${'x'.repeat(size)}","more":${end}${call(2, 'hold')}${end}}`;
    const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"count","arguments":${args}}}`;
    expect(await textOf(await post(url(), body, session))).toBe(String(size));
    expect(await textOf(await post(url(), call(3, 'holding'), session))).toBe('0');
  },
);
