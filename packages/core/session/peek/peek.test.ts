import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { verifies } from '../../../../test/requirements.ts';
import { runs } from '../../../../test/runs.ts';
import { has, parsed, under } from '../json.test-support.ts';
import { peek } from './peek.ts';
import type { Seen } from './types.ts';

const read = (text: string, skim = false): Seen => peek(Buffer.from(text), { skim });
const reason = (bytes: string | Uint8Array) => {
  const seen = peek(typeof bytes === 'string' ? Buffer.from(bytes) : bytes);
  return seen.kind === 'invalid' ? seen.reason : seen.kind;
};
const CALL = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}';

/** What was seen, as far as JSON.parse has a say in it. */
function gistOf(seen: Seen, text: string) {
  if (seen.kind === 'request' || seen.kind === 'notification') {
    const { name, args } = seen.params;
    const slice = args && Buffer.from(text).subarray(args.start, args.end).toString();
    const id = seen.kind === 'request' ? [parsed(seen.id.json)] : [];
    return [seen.kind, seen.method, id, name, slice && [parsed(slice)]];
  }
  if (seen.kind !== 'response') return [seen.kind];
  return [seen.kind, parsed(seen.id?.json ?? ''), seen.failed, seen.code];
}

function parsedGist(message: unknown) {
  if (has(message, 'method')) {
    const id = has(message, 'id') ? [under(message, 'id')] : [];
    const params = under(message, 'params');
    const name = under(params, 'name');
    return [
      id.length > 0 ? 'request' : 'notification',
      under(message, 'method'),
      id,
      typeof name === 'string' ? name : undefined,
      has(params, 'arguments') ? [under(params, 'arguments')] : undefined,
    ];
  }
  const code = under(message, 'error', 'code');
  const isError = under(message, 'result', 'isError') === true;
  const failed = code === undefined ? (isError ? 'tool' : 'no') : 'rpc';
  return ['response', under(message, 'id'), failed, code];
}

describe('the kind of a message', () => {
  it('distinguishes requests, notifications, answers and batches', () => {
    verifies('T-A1.1', 'F-013');
    expect(read(CALL).kind).toBe('request');
    expect(read('{"jsonrpc":"2.0","method":"notifications/initialized"}').kind).toBe(
      'notification',
    );
    expect(read('{"result":{},"jsonrpc":"2.0","id":"a"}').kind).toBe('response');
    expect(read('{"jsonrpc":"2.0","error":{"code":-32700,"message":"x"}}').kind).toBe('response');
    expect(read(' [{"jsonrpc":"2.0"}]').kind).toBe('batch');
  });

  it('takes name, arguments and token of a call from the bytes', () => {
    verifies('T-A1.2', 'IP-7.1');
    const text =
      '{"id":1,"params":{"_meta":{"progressToken": "p" ,"x":1},"arguments" : {"a":[1, 2]},"name":"t"},"method":"tools/call","jsonrpc":"2.0"}';
    const seen = read(text);
    if (seen.kind !== 'request') throw new Error(seen.kind);
    const { name, args, progressToken } = seen.params;
    expect(name).toBe('t');
    expect(text.slice(args?.start, args?.end)).toBe('{"a":[1, 2]}');
    expect(text.slice(progressToken?.start, progressToken?.end)).toBe('"p"');
  });

  it('reads the failure in an answer', () => {
    const answer = (rest: string) => {
      const seen = read(`{"jsonrpc":"2.0","id":1,${rest}}`);
      return seen.kind === 'response' ? [seen.failed, seen.code] : seen;
    };
    expect(answer('"result":{"content":[],"isError":true}')).toEqual(['tool', undefined]);
    expect(answer('"result":{"isError":false}')).toEqual(['no', undefined]);
    expect(answer('"result":{"content":[{"isError":true}]}')).toEqual(['no', undefined]);
    expect(answer('"error":{"code":-32601,"message":"no"}')).toEqual(['rpc', -32601]);
    expect(answer('"result":[]')).toEqual(['no', undefined]);
  });

  it.each([
    ['1', 'number', '1'],
    ['"1"', 'string', '"1"'],
    ['null', 'null', 'null'],
    ['-0', 'number', '0'],
    ['12345678901234567890123', 'number', '12345678901234567890123'],
    ['"\\u0061\\/é"', 'string', '"a/é"'],
  ])('keeps the id %s apart from every other', (id, type, json) => {
    verifies('F-015');
    expect(read(`{"jsonrpc":"2.0","id":${id},"method":"ping"}`)).toMatchObject({
      id: { type, json },
    });
  });
});

describe('an invalid message', () => {
  it.each([
    ['[', 'batch'],
    ['"text"', 'not_object'],
    ['', 'not_object'],
    ['{', 'json'],
    [`${CALL}x`, 'json'],
    [`${CALL}${CALL}`, 'json'],
    ['{"jsonrpc":"2.0","id":1,"method":"a","params":{"a":tru}}', 'json'],
    ['{"jsonrpc":"2.0","id":1,"method":"a","params":{"a":01}}', 'json'],
    ['{"jsonrpc":"2.0","id":1,"method":"a","params":{"a":1.}}', 'json'],
    ['{"jsonrpc":"2.0","id":1,"method":"a","params":{"a":"\u0001"}}', 'json'],
    ['{"jsonrpc":"2.0","id":1,"method":"a","params":{"a":"\\x"}}', 'json'],
    ['{"jsonrpc":"2.0","id":1,"method":"a","params":{"a":"\\u12g4"}}', 'json'],
    ['{"jsonrpc":"2.0","id":1,"method":"a","params":{"a":1,}}', 'json'],
    ['{"jsonrpc":"2.0","id":1,"method":"a",}', 'json'],
    ['{"jsonrpc":"1.0","id":1,"method":"a"}', 'version'],
    ['{"id":1,"method":"a"}', 'version'],
    ['{"jsonrpc":2.0,"id":1,"method":"a"}', 'version'],
    ['{"jsonrpc":"2.0"}', 'shape'],
    ['{"jsonrpc":"2.0","id":1}', 'shape'],
    ['{"jsonrpc":"2.0","result":{}}', 'shape'],
    ['{"jsonrpc":"2.0","id":1,"method":"a","result":{}}', 'conflict'],
    ['{"jsonrpc":"2.0","id":1,"error":{},"result":{}}', 'conflict'],
    ['{"jsonrpc":"2.0","id":1,"method":7}', 'method'],
    ['{"jsonrpc":"2.0","id":1,"method":""}', 'method'],
    ['{"jsonrpc":"2.0","id":1,"method":"a","params":"x"}', 'params'],
    ['{"jsonrpc":"2.0","id":1e400,"method":"a"}', 'id'],
    ['{"jsonrpc":"2.0","id":true,"method":"a"}', 'id'],
    ['{"jsonrpc":"2.0","id":[1],"method":"a"}', 'id'],
    ['{"jsonrpc":"2.0","id":{},"method":"a"}', 'id'],
    [`{"jsonrpc":"2.0","id":"${'x'.repeat(2_000)}","method":"a"}`, 'id'],
  ])('%s', (text, wanted) => {
    verifies('T-A1.1', 'F-013', 'EC-STDIO-015', 'EC-STDIO-016', 'EC-STDIO-017');
    expect(reason(text)).toBe(wanted);
  });

  it.each([
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{},"method":"ping"}',
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{},"\\u006dethod":"ping"}',
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","name":"b"}}',
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","n\\u0061me":"b"}}',
    '{"jsonrpc":"2.0","id":1,"method":"a","params":{"other":1,"\\u006fther":2}}',
    '{"jsonrpc":"2.0","id":1,"method":"a","params":{"_meta":{"x":1,"x":2}}}',
    '{"jsonrpc":"2.0","id":1,"result":{"isError":true,"isError":false}}',
    '{"jsonrpc":"2.0","id":1,"error":{"code":1,"code":2}}',
    '{"jsonrpc":"2.0","id":1,"id":2,"method":"a"}',
    '{"jsonrpc":"2.0","id":1,"method":"a","extra":1,"extra":2}',
  ])('a key that stands twice: %s', (text) => {
    verifies('F-014', 'EC-STDIO-018');
    expect(reason(text)).toBe('duplicate_key');
  });

  it('a message that hides behind a carriage return', () => {
    verifies('F-014', 'EC-STDIO-018');
    const hidden = '{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"evil"}}';
    const text = `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":\r${hidden}\r}}`;
    expect(reason(text)).toBe('smuggled');
    expect(reason(`${CALL}\r\n`)).toBe('request');
    expect(reason(`\r${CALL}`)).toBe('request');
  });

  it.each([
    ['a lone continuation', [0x80]],
    ['an overlong form', [0xc0, 0xaf]],
    ['a surrogate', [0xed, 0xa0, 0x80]],
    ['too large a code point', [0xf4, 0x90, 0x80, 0x80]],
    ['a sequence that a quote cuts short', [0xc3]],
  ])('%s in UTF-8', (_, bad) => {
    verifies('F-013');
    const bytes = (where: string) =>
      Buffer.concat(
        `{"jsonrpc":"2.0","id":1,"method":"a","params":{"${where}":"${where}"}}`
          .split('?')
          .flatMap((part, index) =>
            index === 0 ? [Buffer.from(part)] : [Buffer.from(bad), Buffer.from(part)],
          ),
      );
    expect(reason(bytes('a?'))).toBe('utf8');
    expect(reason(bytes('a'))).toBe('request');
  });

  it('nesting beyond its limit, without running out of stack', () => {
    expect(reason(`{"jsonrpc":"2.0","id":1,"method":"a","params":${'['.repeat(100_000)}`)).toBe(
      'depth',
    );
  });

  it('gives the id if there is no doubt about it', () => {
    const id = (text: string) => {
      const seen = read(text);
      return seen.kind === 'invalid' ? [seen.id?.json, seen.asks] : seen.kind;
    };
    expect(id('{"id":7,"method":"a"}')).toEqual(['7', true]);
    expect(id('{"method":"a","params":{"a":1,"a":2},"jsonrpc":"2.0","id":7}')).toEqual(['7', true]);
    expect(id('{"jsonrpc":"2.0","id":7,"method":"a","params":{"a":tru')).toEqual(['7', true]);
    expect(id('{"jsonrpc":"2.0","id":7,"id":8,"method":"a"}')).toEqual([undefined, true]);
    expect(id('{"jsonrpc":"2.0","id":7,"id":8,"id":7,"method":"a"}')).toEqual([undefined, true]);
    expect(id(`${CALL}{`)).toEqual([undefined, true]);
    expect(id('{"id":7,"result":{}}')).toEqual(['7', false]);
  });
});

describe('beside JSON.parse', () => {
  const key = fc.oneof(
    fc.constantFrom('name', 'arguments', '_meta', 'isError', 'progressToken', 'content', 'x'),
    fc.string({ unit: 'binary', maxLength: 60 }),
  );
  const value = fc.jsonValue({ maxDepth: 4, stringUnit: 'binary' });
  const inner = fc.dictionary(key, value, { maxKeys: 6 });
  const id = fc.oneof(
    fc.integer(),
    fc.string({ unit: 'binary', maxLength: 20 }),
    fc.constant(null),
  );
  const method = fc.oneof(fc.constant('tools/call'), fc.string({ minLength: 1, maxLength: 30 }));
  const message = fc.oneof(
    fc.record(
      { jsonrpc: fc.constant('2.0'), id, method, params: inner },
      { requiredKeys: ['jsonrpc', 'method'] },
    ),
    fc.record({ jsonrpc: fc.constant('2.0'), id, result: inner }),
    fc.record({
      jsonrpc: fc.constant('2.0'),
      id,
      error: fc.record({ code: fc.integer(), message: fc.string() }),
    }),
  );
  const style = fc.record({
    spaces: fc.array(fc.constantFrom('', ' ', '\t', '  '), { minLength: 4, maxLength: 4 }),
    escape: fc.nat({ max: 3 }),
    seed: fc.nat(),
  });
  type Style = {
    readonly spaces: readonly string[];
    readonly escape: number;
    readonly seed: number;
  };

  it.each([false, true])(
    'agrees on valid messages, however they are written (skim: %s)',
    (skim) => {
      verifies('T-A1.1', 'T-A1.2');
      fc.assert(
        fc.property(message, style, (wanted, how) => {
          const text = written(wanted, how);
          expect(gistOf(read(text, skim), text)).toEqual(parsedGist(parsed(text)));
        }),
        runs(400),
      );
    },
  );

  it('finds the end of a long string, whatever is escaped in it', () => {
    const long = fc.string({
      unit: fc.constantFrom('a', '"', '\\', 'é', '\n'),
      minLength: 60,
      maxLength: 400,
    });
    fc.assert(
      fc.property(long, long, (content, name) => {
        const text = JSON.stringify({
          result: { content, isError: true },
          jsonrpc: '2.0',
          id: name.slice(0, 300),
        });
        expect(gistOf(read(text, true), text)).toEqual(parsedGist(parsed(text)));
      }),
      runs(400),
    );
  });

  it('takes no text for a message that JSON.parse would not take', () => {
    const seedTexts = fc.oneof(
      message.map((one) => JSON.stringify(one)),
      fc.constant(CALL),
    );
    fc.assert(
      fc.property(seedTexts, fc.nat(), fc.uint8Array({ maxLength: 3 }), (text, at, noise) => {
        const bytes = Buffer.from(text);
        const place = at % (bytes.length + 1);
        const damaged = Buffer.concat([
          bytes.subarray(0, place),
          noise,
          bytes.subarray(place + noise.length),
        ]);
        const seen = peek(damaged);
        if (seen.kind === 'invalid' || seen.kind === 'batch') return;
        const decoded = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(damaged);
        expect(JSON.parse(decoded)).toMatchObject({ jsonrpc: '2.0' });
      }),
      runs(2_000),
    );
  });

  it('never throws', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.boolean(), (bytes, skim) => {
        expect(typeof peek(bytes, { skim }).kind).toBe('string');
      }),
      runs(2_000),
    );
  });

  /** JSON with other keys first, odd spaces and needless escapes. */
  function written(given: unknown, how: Style): string {
    const [a = '', b = '', c = '', d = ''] = how.spaces;
    if (typeof given === 'string') return quoted(given, how.escape);
    if (Array.isArray(given)) {
      return `[${a}${given.map((item) => written(item, how)).join(`${b},${c}`)}${d}]`;
    }
    if (typeof given !== 'object' || given === null) return JSON.stringify(given);
    const members = Object.entries(given).filter(([, one]) => one !== undefined);
    const turn = how.seed % (members.length + 1);
    const turned = [...members.slice(turn), ...members.slice(0, turn)];
    const parts = turned.map(
      ([name, one]) => `${quoted(name, how.escape)}${a}:${b}${written(one, how)}`,
    );
    return `${c}{${d}${parts.join(`${a},${b}`)}${c}}${d}`;
  }

  /** Escapes every nth unit, and whatever must be. */
  function quoted(text: string, every: number): string {
    const units = Array.from({ length: text.length }, (_, at) => {
      const code = text.charCodeAt(at);
      const must =
        code < 0x20 || code === 0x22 || code === 0x5c || (code >= 0xd800 && code <= 0xdfff);
      return must || (every > 0 && at % every === 0)
        ? `\\u${code.toString(16).padStart(4, '0')}`
        : text.charAt(at);
    });
    return `"${units.join('')}"`;
  }
});
