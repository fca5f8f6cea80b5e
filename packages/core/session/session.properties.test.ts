import { isUtf8 } from 'node:buffer';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { verifies } from '../../../test/requirements.ts';
import { runs } from '../../../test/runs.ts';
import { memberRange } from '../json/member-ranges.ts';
import { spliced, utf8Of } from '../json/patch-text.ts';
import { budget, deny } from '../policy/testing/scenario.ts';
import { guardOf } from './guard.test-support.ts';
import type { Guard } from './guard.ts';
import { has, parsed, under } from './json.test-support.ts';
import { peek } from './peek/peek.ts';
import {
  answersOf,
  bytesOf,
  call,
  type Play,
  play,
  request,
  result,
} from './playbook.test-support.ts';
import type { Command, Side } from './types.ts';

const RULES = [
  deny('no', { tool_name: { glob: ['no*'] } }),
  budget('cap', { scope: 'tool', limit_calls: 3 }),
];
const id = fc.oneof(fc.nat({ max: 5 }), fc.constantFrom('1', 'a', 'é'));
const valid = fc.oneof(
  fc
    .tuple(id, fc.constantFrom('yes', 'no', 'nope'), fc.jsonValue())
    .map(([one, name, x]) => call(one, name, { x })),
  id.map((one) => request(one, 'tools/list')),
  id.map((one) => result(one, { isError: true })),
  id.map((one) => ({
    jsonrpc: '2.0',
    method: 'notifications/cancelled',
    params: { requestId: one },
  })),
  fc.constant({ jsonrpc: '2.0', method: 'notifications/progress', params: {} }),
);
const line = fc.oneof(
  { weight: 6, arbitrary: valid.map((message) => bytesOf(`${JSON.stringify(message)}\n`)) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 40 }) },
  {
    weight: 1,
    arbitrary: fc.tuple(valid, fc.nat(), fc.nat({ max: 255 })).map(([message, at, byte]) => {
      const bytes = bytesOf(`${JSON.stringify(message)}\n`);
      bytes[at % bytes.length] = byte;
      return bytes;
    }),
  },
);
const side = fc.constantFrom<Side>('agent', 'server');
const script = fc.array(fc.tuple(side, line), { maxLength: 40 });

function perform({ send }: Play, steps: readonly (readonly [Side, Uint8Array])[]) {
  return steps.map(([from, bytes], at) => ({ from, bytes, out: send(from, bytes, at) }));
}

const forwards = (out: readonly Command[]) => out.filter((command) => command.do === 'forward');

describe('for any messages', () => {
  it.each(['production', 'development'] as const)(
    'nothing throws, and only whole messages pass (%s)',
    async (profile) => {
      verifies('F-013', 'T-A1.1');
      await fc.assert(
        fc.asyncProperty(script, async (steps) => {
          const one = await play(RULES, { profile });
          for (const { from, out } of perform(one, steps)) {
            const passed = forwards(out);
            expect(passed.length).toBeLessThanOrEqual(1);
            for (const command of passed) {
              // The original bytes, to the other side: there is nothing else to forward.
              expect(command).toEqual({ do: 'forward', to: from === 'agent' ? 'server' : 'agent' });
            }
            expect(passed.length + out.filter((command) => command.do === 'drop').length).toBe(1);
          }
        }),
        runs(150),
      );
    },
  );

  it('every request of the agent is forwarded once or answered once', async () => {
    verifies('F-015', 'T-A1.3');
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(side, valid), { maxLength: 40 }), async (steps) => {
        const one = await play(RULES);
        const lines = steps.map(
          ([from, message]) => [from, bytesOf(`${JSON.stringify(message)}\n`)] as const,
        );
        for (const { from, bytes, out } of perform(one, lines)) {
          const message = parsed(Buffer.from(bytes).toString());
          const asked = from === 'agent' && has(message, 'method') && has(message, 'id');
          const answers = answersOf(out);
          const ids = answers.map((answer) => under(answer, 'id'));
          // Who did not ask gets no answer; who did gets one, or has passed.
          const wanted = asked && forwards(out).length === 0 ? [under(message, 'id')] : [];
          expect(ids).toEqual(wanted);
        }
        // Whatever is still open when the server goes is answered then.
        const open = one.session.openRequests('agent');
        const last = answersOf(one.session.serverExited({ started: true, code: 0 }, 99));
        expect(last.length).toBeLessThanOrEqual(open);
        expect(one.session.openRequests('agent')).toBe(0);
      }),
      runs(150),
    );
  });

  it('every call has one start, one decision and one end', async () => {
    verifies('IP-1.5', 'IP-1.6', 'IP-1.7', 'IP-7.4');
    await fc.assert(
      fc.asyncProperty(script, async (steps) => {
        const one = await play(RULES);
        const out = perform(one, steps).flatMap((step) => step.out);
        const all = [...out, ...one.session.serverExited({ started: true }, 99)];
        const told = new Map<string, string[]>();
        for (const command of all) {
          if (command.do !== 'emit' || !('call' in command.body)) continue;
          const { call_id } = command.body.call;
          told.set(call_id, [...(told.get(call_id) ?? []), command.type]);
        }
        for (const types of told.values()) {
          expect(types).toEqual(['tool_call_start', 'tool_call_decision', 'tool_call_end']);
        }
        const { calls_total, calls_allowed, calls_blocked, calls_throttled } =
          one.session.summary();
        expect(calls_total).toBe(told.size);
        expect(calls_allowed + calls_blocked + calls_throttled).toBe(calls_total);
      }),
      runs(150),
    );
  });

  it('a native reader of UTF-8 changes nothing for valid messages', async () => {
    verifies('T-A2.5');
    const decode = (bytes: Uint8Array, start: number, end: number) =>
      Buffer.from(bytes.subarray(start, end)).toString();
    const config = { isUtf8, decode };
    const lines = valid.map((message) => bytesOf(`${JSON.stringify(message)}\n`));
    const steps = fc.array(fc.tuple(side, lines), { maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(steps, async (said) => {
        const [one, two] = [await play(RULES), await play(RULES, { config })];
        expect(perform(one, said)).toEqual(perform(two, said));
      }),
      { numRuns: 60 },
    );
  });

  it('the same script gives the same commands', async () => {
    verifies('T-A2.5');
    await fc.assert(
      fc.asyncProperty(script, async (steps) => {
        const [one, two] = [await play(RULES), await play(RULES)];
        expect(perform(one, steps)).toEqual(perform(two, steps));
      }),
      { numRuns: 40 },
    );
  });
});

describe('a guard that lets everything pass', () => {
  it.each(['production', 'development'] as const)(
    'changes nothing at all (%s)',
    async (profile) => {
      // It looks at everything, and leaves it as it is.
      const looked: string[] = [];
      const passing: Guard['passing'] = (_way, { value }) => {
        looked.push(typeof value);
        return { kind: 'same' };
      };
      const content: Guard['content'] = ({ args }) => {
        looked.push(typeof args);
        return { kind: 'pass' };
      };
      const guard = guardOf({ wants: () => true, passing, content });
      await fc.assert(
        fc.asyncProperty(script, async (steps) => {
          const one = await play(RULES, { profile });
          const two = await play(RULES, { profile, config: { guard } });
          expect(perform(two, steps)).toEqual(perform(one, steps));
          expect(two.session.summary()).toEqual(one.session.summary());
        }),
        runs(150),
      );
      expect(looked).toContain('object');
    },
  );
});

describe('a value that is replaced', () => {
  const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString();

  it('is the only thing that differs, whatever it is', () => {
    fc.assert(
      fc.property(valid, fc.json({ stringUnit: 'binary' }), (message, json) => {
        const bytes = Buffer.from(`${JSON.stringify(message, null, 1).replaceAll('\n', ' ')}\n`);
        expect(peek(bytes).kind).not.toBe('invalid');
        for (const name of ['params', 'result']) {
          const range = memberRange(bytes, name);
          const value = under(message, name);
          expect(range === undefined).toBe(value === undefined);
          if (range === undefined) continue;
          const { start, end } = range;
          expect(parsed(textOf(bytes.subarray(start, end)))).toEqual(parsed(JSON.stringify(value)));
          const text = JSON.stringify(JSON.parse(json));
          const whole = spliced(bytes, range, utf8Of(text));
          const before = textOf(bytes.subarray(0, start));
          expect(textOf(whole)).toBe(`${before}${text}${textOf(bytes.subarray(end))}`);
        }
      }),
    );
  });
});
