import { createHmac } from 'node:crypto';
import { isFailure } from '@subluminal/contracts';
import type { Actions } from '@subluminal/core/detect';
import { outlineRequest, type WireName } from '@subluminal/core/wires';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../test/runs.ts';
import { TurnInspector } from './inspector.ts';

const TOKEN = ['ghp', 'aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5'].join('_');
const PASSWORD = 'k7Qz-93vLpWx-2tRb';
const MARK = /\[REDACTED-GITHUB-TOKEN-[0-9A-F]{8}\]/;
const actions: Actions = {
  outbound: { secret: 'redact', personal: 'tag', injection: 'allow', hidden_text: 'allow' },
  inbound: { secret: 'tag', personal: 'tag', injection: 'tag', hidden_text: 'tag' },
  confidenceMin: 'likely',
  blockConfidence: 'certain',
  unscanned: 'block',
};
const fingerprint = (text: string) => createHmac('sha256', 'key').update(text).digest('hex');
const newInspector = () =>
  new TurnInspector({ fingerprint, classes: ['secret', 'personal'], actions });

function inspect(
  inspector: TurnInspector,
  request: object | string,
  wire: WireName = 'anthropic_messages',
) {
  const body = Buffer.from(typeof request === 'string' ? request : JSON.stringify(request));
  const outline = outlineRequest(wire, body);
  if (isFailure(outline)) throw new Error(outline.message);
  const inspection = inspector.inspect({ body, outline });
  if (isFailure(inspection)) throw new Error(inspection.message);
  return { body, inspection };
}

const said = (content: unknown, role = 'user') => ({ role, content });
const asked = (...messages: readonly object[]) => ({ model: 'm', max_tokens: 9, messages });

describe('the inspector', () => {
  it('leaves the bytes of a clean request as they are', () => {
    const { body, inspection } = inspect(newInspector(), asked(said('Hello.')));
    expect(inspection.findings).toEqual([]);
    expect(inspection.redacted()).toBe(body);
  });

  const places: readonly (readonly [string, WireName, object])[] = [
    ['words of the user', 'anthropic_messages', asked(said(`It is ${TOKEN}.`))],
    [
      'the arguments of a tool',
      'anthropic_messages',
      asked(said([{ type: 'tool_use', id: 't', name: 'x', input: { a: [TOKEN] } }], 'assistant')),
    ],
    [
      'the result of a tool',
      'anthropic_messages',
      asked(
        said([{ type: 'tool_result', tool_use_id: 't', content: [{ type: 'text', text: TOKEN }] }]),
      ),
    ],
    ['the system prompt', 'anthropic_messages', { ...asked(said('x')), system: `Use ${TOKEN}` }],
    [
      'arguments that are JSON in a string',
      'openai_chat_completions',
      asked({
        role: 'assistant',
        tool_calls: [
          {
            id: 't',
            type: 'function',
            function: { name: 'x', arguments: `{"a":"${TOKEN}\\n", "n": 1.0}` },
          },
        ],
      }),
    ],
    [
      'the output of a function',
      'openai_responses',
      {
        model: 'm',
        input: [{ type: 'function_call_output', call_id: 'c', output: `is ${TOKEN}` }],
      },
    ],
  ];
  it.each(places)('finds and redacts a secret in %s', (_place, wire, request) => {
    const { inspection } = inspect(newInspector(), request, wire);
    expect(inspection.findings).toMatchObject([{ class: 'secret', rule: 'github-token' }]);
    const text = inspection.redacted().toString();
    expect(text).not.toContain(TOKEN);
    expect(text).toMatch(MARK);
    const value: unknown = JSON.parse(text);
    expect(JSON.stringify(value)).toBe(
      JSON.stringify(request).replaceAll(TOKEN, MARK.exec(text)?.[0] ?? ''),
    );
  });

  const input = `{ "user":"ada", "password": "${PASSWORD}","n":1.0, "big":12345678901234567890 }`;
  const chatCall = { id: 't', type: 'function', function: { name: 'x', arguments: input } };
  const secretByKey: readonly (readonly [WireName, string])[] = [
    [
      'anthropic_messages',
      `{"model":"m","messages":[{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"x","input":${input}}]}]}`,
    ],
    [
      'openai_chat_completions',
      JSON.stringify(asked({ role: 'assistant', tool_calls: [chatCall] })),
    ],
    [
      'openai_responses',
      JSON.stringify({
        model: 'm',
        input: [{ type: 'function_call', call_id: 'c', name: 'x', arguments: input }],
      }),
    ],
  ];
  it.each(secretByKey)('finds a secret by its key in the arguments of %s', (wire, text) => {
    const { inspection } = inspect(newInspector(), text, wire);
    expect(inspection.findings).toMatchObject([{ class: 'secret', role: 'tool_use' }]);
    const redacted = inspection.redacted().toString();
    const [mark = ''] = /\[REDACTED-[A-Z-]+-[0-9A-F]{8}\]/.exec(redacted) ?? [];
    expect(redacted).toBe(text.replace(PASSWORD, mark));
  });

  it('looks at both values of arguments in which a model has written a key twice', () => {
    const twice = `{"a":"${TOKEN}","a":"b"}`;
    const call = { type: 'function_call', call_id: 'c', name: 'x', arguments: twice };
    const { inspection } = inspect(
      newInspector(),
      { model: 'm', input: [call] },
      'openai_responses',
    );
    expect(inspection.redacted().toString()).not.toContain(TOKEN);
  });

  it.each([
    ['a token of an MCP server', { mcp_servers: [{ name: 'x', authorization_token: TOKEN }] }],
    ['a member that nobody knows', { from_tomorrow: `Use ${TOKEN}` }],
    ['metadata beside the id of the user', { metadata: { user_id: 'u', note: TOKEN } }],
  ])('finds and redacts a secret in %s', (_, member) => {
    const { inspection } = inspect(newInspector(), { ...asked(said('x')), ...member });
    expect(inspection.findings).toMatchObject([{ class: 'secret', role: 'other' }]);
    expect(inspection.redacted().toString()).toBe(
      JSON.stringify({ ...asked(said('x')), ...member }).replace(
        TOKEN,
        MARK.exec(inspection.redacted().toString())?.[0] ?? '',
      ),
    );
  });

  it('passes what clients say of themselves unchanged', () => {
    const hex = fc.string({
      unit: fc.constantFrom(...'0123456789abcdef'),
      minLength: 64,
      maxLength: 64,
    });
    const facts = fc.record({ device: hex, account: fc.uuid(), session: fc.uuid() });
    fc.assert(
      fc.property(facts, ({ device, account, session }) => {
        const ids = { device_id: device, account_uuid: account, session_id: session };
        const claude = { ...asked(said('x')), metadata: { user_id: JSON.stringify(ids) } };
        const codex = {
          model: 'm',
          input: 'x',
          prompt_cache_key: session,
          client_metadata: { 'x-codex-installation-id': account, session_id: session },
          include: ['reasoning.encrypted_content'],
          text: { verbosity: 'low' },
        };
        const inspector = newInspector();
        expect(inspect(inspector, claude).inspection.findings).toEqual([]);
        expect(inspect(inspector, codex, 'openai_responses').inspection.findings).toEqual([]);
      }),
      runs(300),
    );
  });

  it.each([
    ['characters of several bytes', 'ö😀ё', '😁ö[ё'],
    ['escapes that are written otherwise', '\\u0041\\/ \\ud83d\\ude00', ' \\u00e9\\t'],
    ['what a mark begins and ends with', '[RED [', '] 4]'],
  ])('leaves a text as it is around a secret: %s', (_, before, behind) => {
    const written = (secret: string) => `"${before} ${secret} ${behind}"`;
    const request = `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":${written(TOKEN)}}]}`;
    const redacted = inspect(newInspector(), request).inspection.redacted().toString();
    const [mark = ''] = MARK.exec(redacted) ?? [];
    expect(JSON.parse(redacted)).toEqual(asked(said(JSON.parse(written(mark)))));
    expect(mark).not.toBe('');
  });

  it('gives the same value the same mark, in every turn', () => {
    const inspector = newInspector();
    const first = inspect(inspector, asked(said(TOKEN)))
      .inspection.redacted()
      .toString();
    const second = inspect(inspector, asked(said(`again ${TOKEN}`)))
      .inspection.redacted()
      .toString();
    expect(MARK.exec(second)?.[0]).toBe(MARK.exec(first)?.[0]);
  });

  it('takes out copies that nothing around them gives away', () => {
    const request = asked(
      said(`password: ${PASSWORD}`),
      said([{ type: 'text', text: `so ${PASSWORD} it is` }], 'assistant'),
    );
    const text = inspect(newInspector(), request).inspection.redacted().toString();
    expect(text).not.toContain(PASSWORD);
    expect(JSON.parse(text)).toMatchObject({ messages: [{}, { content: [{ type: 'text' }] }] });
  });

  it('finds the same whatever it has seen before, and scans nothing twice', () => {
    const texts = fc.constantFrom('one', `two ${TOKEN}`, 'three', `${PASSWORD} is the password`);
    const requests = fc.array(fc.array(texts, { minLength: 1, maxLength: 8 }), { maxLength: 12 });
    fc.assert(
      fc.property(requests, (all) => {
        const inspector = newInspector();
        const seen = new Set<string>();
        for (const messages of all) {
          const request = asked(...messages.map((text) => said(text)));
          const { inspection } = inspect(inspector, request);
          const { inspection: fresh } = inspect(newInspector(), request);
          expect(inspection.findings).toEqual(fresh.findings);
          expect(inspection.redacted()).toEqual(fresh.redacted());
          expect(inspection.scannedParts).toBe(
            [...new Set(messages)].filter((text) => !seen.has(text)).length,
          );
          for (const text of messages) seen.add(text);
        }
      }),
      runs(50),
    );
  });

  it('scans what changed in the middle of a conversation', () => {
    const inspector = newInspector();
    const talk = (third: string) => asked(...['a', 'b', 'c', third, 'e'].map((text) => said(text)));
    expect(inspect(inspector, talk('d')).inspection.findings).toEqual([]);
    const { inspection } = inspect(inspector, talk(TOKEN));
    expect(inspection).toMatchObject({ scannedParts: 1, findings: [{ class: 'secret' }] });
    expect(inspect(inspector, talk('d')).inspection.findings).toEqual([]);
  });

  it('scans a part once', () => {
    const inspector = newInspector();
    const messages = [said('one'), said(`two ${TOKEN}`, 'assistant'), said('three')];
    expect(inspect(inspector, asked(...messages)).inspection.scannedParts).toBe(3);
    const { inspection } = inspect(inspector, asked(...messages, said('four')));
    expect(inspection.scannedParts).toBe(1);
    expect(inspection.redacted().toString()).not.toContain(TOKEN);
    expect(inspection.findings).toHaveLength(1);
  });

  it('tells personal data without taking it out', () => {
    const { body, inspection } = inspect(
      newInspector(),
      asked(said('Pay with 4111 1111 1111 1111.')),
    );
    expect(inspection.findings).toMatchObject([{ class: 'personal' }]);
    expect(inspection.redacted()).toBe(body);
  });

  it('keeps any request JSON, and lets no copy through', () => {
    const around = fc.string({
      unit: fc.constantFrom('\\', '"', 'n', 'u', '0', 'é', '\n', ' ', 'k'),
    });
    fc.assert(
      fc.property(around, around, (before, behind) => {
        const copy = `${before}${PASSWORD}${behind}`;
        const request = asked(said(`password: ${PASSWORD} `), said(copy));
        const { inspection } = inspect(newInspector(), request);
        const text = inspection.redacted().toString();
        expect(text).not.toContain(PASSWORD);
        expect(() => JSON.parse(text) as unknown).not.toThrow();
      }),
      runs(200),
    );
  });
});
