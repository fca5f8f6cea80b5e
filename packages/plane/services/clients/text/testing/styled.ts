// Configs with servers in them, written in random styles: what the properties of edits are held to.

import * as fc from 'fast-check';
import type { ValuePath } from '../tree.ts';

export type Data =
  | string
  | number
  | boolean
  | null
  | readonly Data[]
  | { readonly [key: string]: Data };

export interface Server {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[] | undefined;
  /** Other fields, in front of the command and behind it. */
  readonly front: readonly (readonly [string, Data])[];
  readonly back: readonly (readonly [string, Data])[];
}

export interface Styled {
  readonly text: string;
  /** To each server. */
  readonly paths: readonly ValuePath[];
  readonly servers: readonly Server[];
}

/** Random choices of style, read in turn. */
export interface Tape {
  /** From 0 to below the count. */
  pick(count: number): number;
  chance(oneIn: number): boolean;
  oneOf<T>(...choices: readonly [T, ...T[]]): T;
}

export const keys = fc.oneof(
  { arbitrary: fc.stringMatching(/^[a-z_-]{1,8}$/), weight: 4 },
  { arbitrary: fc.string({ unit: 'grapheme', maxLength: 6 }), weight: 2 },
  {
    arbitrary: fc.constantFrom('__proto__', 'a.b', '', 'it\'s "so"', '# no', '// no', '日本'),
    weight: 1,
  },
);
export const strings = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.string({ unit: 'binary', maxLength: 6 }).filter((value) => !/\p{Surrogate}/u.test(value)),
  fc.constantFrom(
    '',
    'C:\\node\\node.exe',
    '/* no */',
    '// no',
    '# no',
    '"',
    "'''",
    '"""',
    '],}',
    '\u0000\u007F\u0085\u2028',
  ),
);
const { data } = fc.letrec<{ data: Data }>((tie) => ({
  data: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    strings,
    fc.boolean(),
    fc.integer({ min: -1_000_000, max: 1_000_000 }),
    fc.array(tie('data'), { maxLength: 3 }),
    fc
      .uniqueArray(fc.tuple(keys, tie('data')), { maxLength: 3, selector: ([key]) => key })
      .map(fromPairs),
  ),
}));

export const tapes = fc
  .array(fc.nat({ max: 1_000_000 }), { minLength: 20, maxLength: 60 })
  .map(makeTape);

export const servers: fc.Arbitrary<readonly Server[]> = fc.uniqueArray(
  fc
    .record({
      name: keys,
      command: strings,
      args: fc.option(fc.array(strings, { maxLength: 4 }), { nil: undefined }),
      others: fc.uniqueArray(fc.tuple(keys, data), { maxLength: 4, selector: ([key]) => key }),
      split: fc.nat({ max: 4 }),
    })
    .map(({ name, command, args, others, split }) => {
      const fields = others.filter(([key]) => key !== 'command' && key !== 'args');
      return { name, command, args, front: fields.slice(0, split), back: fields.slice(split) };
    }),
  { minLength: 1, maxLength: 3, selector: ({ name }) => name },
);

function makeTape(numbers: readonly number[]): Tape {
  let at = 0;
  const pick = (count: number): number => {
    const number = numbers[at % numbers.length] ?? 0;
    at += 1;
    // The round counts too, so that a long text isn't periodic.
    return (number + Math.floor(at / numbers.length)) % count;
  };
  return {
    pick,
    chance: (oneIn) => pick(oneIn) === oneIn - 1,
    oneOf: (...choices) => choices[pick(choices.length)] ?? choices[0],
  };
}

export function fromPairs(pairs: readonly (readonly [string, Data])[]): {
  readonly [key: string]: Data;
} {
  return Object.fromEntries(pairs);
}

/** The fields of a server in their order. */
export function fieldsOf({
  command,
  args,
  front,
  back,
}: Server): readonly (readonly [string, Data])[] {
  const middle: [string, Data][] = [['command', command]];
  if (args !== undefined) middle.push(['args', args]);
  return [...front, ...middle, ...back];
}

export { data };
