import { isFailure } from '@subluminal/contracts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { estimatePartTokens, estimateTokens } from './estimate.ts';
import { outlineRequest } from './outline.ts';
import { partTexts } from './part-texts.ts';
import { redactTexts } from './redact.ts';
import type { WireName } from './shared/form.ts';
import { spliceModel } from './splice.ts';

const SECRET = /hunter2/g;

/** The body with its secrets replaced, as the gateway does it. */
function redacted(wire: WireName, body: string): string {
  const bytes = Buffer.from(body);
  const outline = outlineRequest(wire, bytes);
  if (isFailure(outline)) throw new Error(outline.message);
  const replacements = outline.parts.flatMap((part) => {
    const texts = partTexts(bytes, part);
    if (isFailure(texts)) throw new Error(texts.message);
    return texts.flatMap(({ range }) => {
      const before = bytes.toString('utf8', range.start, range.end);
      const json = before.replaceAll(SECRET, '[REDACTED-PASSWORD-1234abcd]');
      return json === before ? [] : [{ range, json }];
    });
  });
  return Buffer.from(redactTexts(bytes, replacements)).toString();
}

describe('redactTexts', () => {
  it.each<[string, WireName, string]>([
    [
      'a text',
      'anthropic_messages',
      '{ "model":"m","messages":[{"role":"user", "content":"é \\u0041 SECRET\\n"}] , "x":1.0}',
    ],
    [
      'a tool result',
      'anthropic_messages',
      '{"model":"m","messages":[{"role":"user","content":[{"type":"tool_result","content":"SECRET"}]}]}',
    ],
    [
      'an object of arguments',
      'anthropic_messages',
      '{"model":"m","messages":[{"role":"assistant","content":[{"type":"tool_use","input":{"a":["SECRET"],"n":1e400}}]}]}',
    ],
    [
      'a key of arguments',
      'anthropic_messages',
      '{"model":"m","messages":[{"role":"assistant","content":[{"type":"tool_use","input":{"SECRET":0}}]}]}',
    ],
    [
      'a system prompt',
      'openai_responses',
      '{"model":"m","instructions":"SECRET SECRET","input":"SECRET"}',
    ],
  ])('changes only the secret in %s', (_, wire, template) => {
    const after = redacted(wire, template.replaceAll('SECRET', 'hunter2'));
    const text = after.replaceAll('[REDACTED-PASSWORD-1234abcd]', 'SECRET');
    const read = (json: string): unknown => JSON.parse(json);
    expect(read(text)).toEqual(read(template));
    expect(after).not.toContain('hunter2');
    expect(text.replace('\\u0041', 'A')).toBe(template.replace('\\u0041', 'A'));
  });

  it('keeps the JSON inside of arguments', () => {
    const inner = '{"cmd": "echo \\"hunter2\\"\\n", "n": 1.0}';
    const call = { type: 'function_call', call_id: 'c', name: 'sh', arguments: inner };
    const after = redacted('openai_responses', JSON.stringify({ model: 'm', input: [call] }));
    const body: unknown = JSON.parse(after);
    const changed = '{"cmd": "echo \\"[REDACTED-PASSWORD-1234abcd]\\"\\n", "n": 1.0}';
    expect(body).toEqual({ model: 'm', input: [{ ...call, arguments: changed }] });
  });

  it('gives the same bytes back when nothing is replaced', () => {
    const bytes = Buffer.from('{}');
    expect(redactTexts(bytes, [])).toBe(bytes);
  });

  it('replaces very many texts', () => {
    const body = JSON.stringify({
      model: 'm',
      system: Array.from({ length: 90_000 }, () => 'hunter2'),
    });
    expect(redacted('anthropic_messages', body)).not.toContain('hunter2');
  });
});

describe('spliceModel', () => {
  it('changes the model and nothing else', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), fc.string(), (model, wanted) => {
        const before = `{"a":1.0, "model" : ${JSON.stringify(model)} ,"x":"é"}`;
        const bytes = Buffer.from(before);
        const outline = outlineRequest('anthropic_messages', bytes);
        if (isFailure(outline)) throw new Error(outline.message);
        const after = Buffer.concat(spliceModel(bytes, outline, wanted)).toString();
        expect(after).toBe(`{"a":1.0, "model" : ${JSON.stringify(wanted)} ,"x":"é"}`);
      }),
    );
  });
});

describe('estimateTokens', () => {
  it.each([
    ['English', 'The quick brown fox jumps over the lazy dog.', 8, 13],
    ['Chinese', '敏捷的棕色狐狸跳过了懒狗', 10, 20],
    ['nothing', '', 0, 0],
  ])('is near what tokenizers count for %s', (_, text, least, most) => {
    const tokens = estimateTokens(text.length, Buffer.byteLength(text));
    expect(tokens).toBeGreaterThanOrEqual(least);
    expect(tokens).toBeLessThanOrEqual(most);
  });

  it('counts the texts of a part', () => {
    const range = { start: 10, end: 412 };
    expect(estimatePartTokens([{ role: 'user', range, form: 'text' }])).toBe(104);
  });
});
