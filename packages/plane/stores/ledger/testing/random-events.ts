// Any history: several runs whose calls may lack a start or an end, come twice or out of order.
import * as fc from 'fast-check';
import type { IncomingLine } from '../chain/event-line.ts';
import { Shim, T0_MS } from './events.ts';

export const HINT = {
  hint_text: 'Ask for less.',
  suggested_args: { limit: 1 },
  retry_advice: null,
  hint_kind: 'ARG_FIX',
} as const;

interface Step {
  readonly shim: number;
  readonly call: number;
  readonly kind: number;
  readonly odd: boolean;
}

const step: fc.Arbitrary<Step> = fc.record({
  shim: fc.nat(3),
  call: fc.nat(5),
  kind: fc.nat(10),
  odd: fc.boolean(),
});

/** The lines in the order in which they arrive: mixed, and some of them again. */
export function anyHistory(stepsMax = 40): fc.Arbitrary<readonly IncomingLine[]> {
  const mixed = fc.tuple(
    fc.array(step, { maxLength: stepsMax }),
    fc.array(fc.nat(1_000), { maxLength: stepsMax }),
    fc.array(fc.nat(1_000), { maxLength: 5 }),
  );
  return mixed.map(([steps, order, again]) => {
    const shims = [0, 1, 2, 3].map(shimOf);
    const lines = steps.map((one) => lineOf(shims[one.shim] ?? shimOf(0), one));
    const repeated = again.flatMap((index) => lines[index % Math.max(1, lines.length)] ?? []);
    const all = [...lines, ...repeated];
    return all
      .map((line, index) => ({ line, rank: order[index] ?? index }))
      .toSorted((left, right) => left.rank - right.rank)
      .map(({ line }) => line);
  });
}

/** Two shims share a run, as the servers of one agent do. */
function shimOf(index: number): Shim {
  const run = `run-${index >> 1}`;
  const names = { run, server: `server-${index}`, tool: `tool-${index % 2}`, args: `${index}` };
  return new Shim(`shim-${index}`, names, T0_MS + index * 86_400_000);
}

const CONTENT = { action: 'redact', findings: ['secret:aws-access-key'] } as const;
const SURFACE = {
  what: 'tool_changed',
  enforced: true,
  server_name: 'git',
  name: 'log',
  reason_code: 'PIN_CHANGED',
  detail: 'The description is another one.',
} as const;

function lineOf(shim: Shim, { call, kind, odd }: Step): IncomingLine {
  const id = `call-${call}`;
  switch (kind) {
    case 0:
      return odd ? shim.line('surface', { surface: SURFACE }) : shim.runStart();
    case 1:
      return shim.runEnd(call);
    case 2:
      return shim.raw(
        odd ? 'not an event' : '{"v":"0.9.0","type":"from_the_future","run_id":"run-0"}',
      );
    case 3:
      return odd
        ? shim.line('approval', {
            call: { call_id: id },
            approval: {
              id: 'request',
              rule_id: 'r',
              ...(call % 2 === 0 ? { state: 'asked' } : { state: 'approved', by: 'ada' }),
            },
          })
        : shim.line('hint_issued', { call: { call_id: id }, hint: HINT });
    case 4:
    case 5:
      return odd
        ? shim.decision(
            id,
            { action: 'REJECT_WITH_HINT', rule_id: 'r', hint: HINT },
            { content: CONTENT },
          )
        : shim.decision(id);
    case 6:
    case 7:
      return odd
        ? shim.end(id, { status: 'ERROR', error: { class: 'timeout', message: 'late' } })
        : shim.end(id, { call: { ...shim.ref(id), content: CONTENT } });
    default:
      return odd
        ? shim.start(id, { preview: { truncated: true }, risk_class: ['write_like'] })
        : shim.start(id);
  }
}
