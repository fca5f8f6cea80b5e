import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { verifies } from '../../../../test/requirements.ts';
import { runs } from '../../../../test/runs.ts';
import { Outline } from './outline.ts';
import { peek } from './peek.ts';
import type { Seen } from './types.ts';

function outlined(text: string, sizes: readonly number[] = []): Seen {
  const outline = new Outline();
  let rest = Buffer.from(text);
  for (const size of sizes) {
    outline.feed(rest.subarray(0, size));
    rest = rest.subarray(size);
  }
  outline.feed(rest);
  return outline.finish();
}

/** What both readers must agree on. */
function gist(seen: Seen) {
  switch (seen.kind) {
    case 'request':
    case 'notification':
      return [
        seen.kind,
        seen.method,
        seen.kind === 'request' ? seen.id : undefined,
        seen.params.name,
        seen.params.metaVersion,
      ];
    case 'response':
      return [seen.kind, seen.id, seen.failed, seen.code, seen.protocolVersion];
    case 'invalid':
      return [seen.kind, seen.reason, seen.id, seen.asks];
    case 'batch':
      return [seen.kind];
  }
}

describe('a message that goes by in parts', () => {
  const value = fc.jsonValue({ maxDepth: 3, stringUnit: 'binary' });
  const words = fc.string({
    unit: fc.constantFrom('a', '"', '\\', '{', '}', 'é', '\n'),
    maxLength: 30,
  });
  const members = fc.dictionary(
    fc.oneof(fc.constantFrom('name', 'arguments', 'isError', 'protocolVersion'), words),
    fc.oneof(value, words),
    { maxKeys: 5 },
  );
  const meta = fc.record({ 'io.modelcontextprotocol/protocolVersion': fc.constant('2026-07-28') });
  const id = fc.oneof(fc.integer(), words);
  const message = fc.oneof(
    fc.tuple(id, words, members, meta).map(([one, method, params, _meta]) => ({
      params: { ...params, _meta },
      method: `m${method}`,
      jsonrpc: '2.0',
      id: one,
    })),
    fc.record({ result: members, jsonrpc: fc.constant('2.0'), id }),
    fc.record({
      error: fc.record({ code: fc.integer(), message: words }),
      jsonrpc: fc.constant('2.0'),
      id,
    }),
  );

  it('is read as if it were whole, wherever it is cut', () => {
    verifies('IP-1.10', 'T-A2.4');
    fc.assert(
      fc.property(message, fc.array(fc.nat({ max: 9 }), { maxLength: 60 }), (wanted, sizes) => {
        const json = JSON.stringify(wanted);
        expect(gist(outlined(json, sizes))).toEqual(gist(peek(Buffer.from(json))));
      }),
      runs(500),
    );
  });

  it.each([
    '{"jsonrpc":"2.0","id":1,"method":"a","params":{"name":"a","n\\u0061me":"b"}}',
    '{"jsonrpc":"2.0","id":1,"method":"a","\\u006dethod":"b","id":1}',
    '{"method":"a","method":"b","jsonrpc":"2.0","id":3}',
    '{"jsonrpc":"2.0","id":1,"method":"a","result":{}}',
    '{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":\r{"jsonrpc":"2.0"}}}',
    '{"jsonrpc":"2.0","id":[1],"method":"a"}',
    '{"jsonrpc":"2.0","id":{"a":1},"method":"a"}',
    '{"jsonrpc":"2.0","id":1,"method":{}}',
    '{"jsonrpc":"2.0","id":1,"method":"a","params":7}',
    '{"jsonrpc":"2.0","id":1,"error":7}',
    '{"jsonrpc":"2.0","id":1,"method":"a"',
    '{"jsonrpc":"2.0","id":1,"method":"a"}}',
    '{"jsonrpc":"2.0","id":1,"method":"a"}{}',
    '{"jsonrpc":"2.0","id":1,"method":"a" "params":{}}',
    '{"jsonrpc":"2.0","id":1,,"method":"a"}',
    '{"jsonrpc" "2.0"}',
    '{"jsonrpc":"2.0","id":1,"method":"a","params":{"Name":"a"}}',
    '{"jsonrpc":"2.0","id":1,"method":"a","paramſ":{}}',
    '{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a","Description":"b"}]}}',
    '{"jsonrpc":"2.0","id":1,"result":{"tools":[{"annotations":{"readonlyhint":true}}]}}',
    '{"jsonrpc":"2.0","id":1,"result":{"tools":[{"inputSchema":{"Properties":{}}}]}}',
    '{"jsonrpc":"2.0","id":1,"error":{"code":1,"Message":"b"}}',
    '{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":[1}}}',
    '{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":{"y" 1}}}',
    '{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":[1,]}}',
    '{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":tru}}',
    '{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":01}}',
    '{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":"\u0001"}}',
    '{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":"\\x"}}',
    '{"jsonrpc":"2.0","id":1,"method":"a"}\f',
    '{"jsonrpc":"2.0","id":1,"method":"a"}\u2028{}',
    '"text"',
    '[]',
  ])('is refused for the same reason: %s', (text) => {
    verifies('F-014');
    const whole = peek(Buffer.from(text));
    const parts = outlined(
      text,
      Array.from({ length: text.length }, () => 1),
    );
    expect(gist(parts).slice(0, 2)).toEqual(gist(whole).slice(0, 2));
  });

  it('is taken exactly if it is taken as a whole, whatever was damaged', () => {
    verifies('F-014');
    const damage = fc.record({
      at: fc.nat({ max: 400 }),
      remove: fc.nat({ max: 2 }),
      insert: fc.constantFrom(
        '',
        '"',
        '{',
        '}',
        '[',
        ']',
        ':',
        ',',
        '\\',
        '\u0001',
        '0',
        't',
        '\f',
        '\u2028',
        'é',
      ),
    });
    const property = fc.property(
      message,
      fc.array(damage, { minLength: 1, maxLength: 2 }),
      fc.array(fc.nat({ max: 9 }), { maxLength: 60 }),
      (wanted, damages, sizes) => {
        let json = JSON.stringify(wanted);
        for (const { at, remove, insert } of damages) {
          const place = at % (json.length + 1);
          json = `${json.slice(0, place)}${insert}${json.slice(place + remove)}`;
        }
        const whole = peek(Buffer.from(json));
        expect(outlined(json, sizes).kind).toBe(whole.kind);
      },
    );
    fc.assert(property, runs(4_000));
  });

  it.each([0x00, 0x0b, 0x0c, 0x0d, 0x1c, 0x1d, 0x1e, 0x1f])(
    'may hold no raw control character in a string, however long: %d',
    (control) => {
      const text = `{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":"${'y'.repeat(300)}${String.fromCharCode(control)}y"}}`;
      const bytes = Buffer.from(text);
      for (const seen of [peek(bytes), peek(bytes, { skim: true }), outlined(text, [100, 200])]) {
        expect(seen).toMatchObject({ kind: 'invalid' });
      }
    },
  );

  it.each([
    ['cut short', [0xe6, 0xbc]],
    ['overlong', [0xc0, 0xaf]],
    ['half a pair', [0xed, 0xa0, 0x80]],
    ['beyond Unicode', [0xf4, 0x90, 0x80, 0x80]],
  ])('may hold no UTF-8 that is %s', (_what, broken) => {
    const [head = '', tail = ''] =
      '{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":"漢?"}}'.split('?');
    const bytes = Buffer.concat([Buffer.from(head), Buffer.from(broken), Buffer.from(tail)]);
    const outline = new Outline();
    for (const byte of bytes) outline.feed(Buffer.from([byte]));
    expect(outline.finish()).toMatchObject({ kind: 'invalid', reason: 'utf8', id: { json: '1' } });
  });

  it('finds its closing brace, and allows little white space behind it', () => {
    const text = '{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":"}"}}';
    const outline = new Outline();
    outline.feed(Buffer.from(text.slice(0, -1)));
    expect(outline.closedAt).toBe(-1);
    outline.feed(Buffer.from('} \r'));
    expect(outline.closedAt).toBe(text.length - 1);
    expect(outline.isFaulty).toBe(false);
    expect(outlined(`${text}${' '.repeat(2_000)}`)).toMatchObject({ kind: 'invalid' });
  });

  it.each(['nullX', 'trux', '+', 'x', '1:', `-${'1'.repeat(5_000)}`])(
    'is faulty as soon as a word or number cannot become one: %s',
    (scalar) => {
      const outline = new Outline();
      outline.feed(Buffer.from(`{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":${scalar}`));
      expect(outline.isFaulty).toBe(true);
    },
  );

  it('never throws', () => {
    const noise = fc.string({
      unit: fc.constantFrom('{', '}', '[', ']', '"', ':', ',', '\\', '1', 'n', ' ', '\r', '\u0001'),
    });
    fc.assert(
      fc.property(noise, fc.array(fc.nat({ max: 3 })), (text, sizes) => {
        expect(typeof outlined(`{"jsonrpc":"2.0",${text}`, sizes).kind).toBe('string');
      }),
      runs(2_000),
    );
  });
});
