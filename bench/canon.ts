// The canonical hash of raw arguments beside the plain one: SHA-256 over JSON.stringify of the
// same arguments, parsed beforehand. `npm run bench -- canon`.
import { argsHash, canonicalize } from '@subluminal/core/json';
import { sha256 } from '@subluminal/plane/crypto';
import { goalLine, type Measurement, measure, readBenchOptions, report, table } from './measure.ts';

interface Input {
  readonly name: string;
  readonly value: unknown;
  readonly text: string;
}

interface CanonRow {
  readonly input: string;
  readonly lengthUnits: number;
  readonly plainUs: number;
  readonly canonUs: number;
  /** How many times the plain hash takes: the goal is at most 3. */
  readonly ratio: number;
  readonly measurement: Measurement;
}

interface GrowthRow {
  readonly input: string;
  readonly smallNsPerUnit: number;
  readonly largeNsPerUnit: number;
  /** Near 1 where time grows with the length (ropes beyond the young heap make it 3); 16 where with its square. */
  readonly ratio: number;
}

const SIZES = [1_024, 102_400];
const GROWTH_SMALL = 65_536;
const GROWTH_LARGE = 1_048_576;
const GROWTH_SAMPLES = 40;
const RATIO_GOAL = 3;
const PLAIN = 'JSON.stringify + SHA-256';
const CANON = 'argsHash from raw text';
const REPARSED = 'JSON.parse + JSON.stringify + SHA-256';

const SOURCE_LINES = [
  "import { readFile } from 'node:fs/promises';",
  '',
  'export async function load(path: string): Promise<Config> {',
  '\tconst raw = await readFile(path, "utf8");',
  '\treturn parse(raw);',
  '}',
  '// Keep the cache warm: a cold start costs 40 ms.',
  '    if (value === undefined) throw new Error(`no value for "${name}"`);',
  '  <div className="panel">{items.map((item) => <Row key={item.id} {...item} />)}</div>',
];

/** The same sequence each time, so that runs compare. */
function sequence(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function sourceCode(length: number, below: (below: number) => number): string {
  let code = '';
  while (code.length < length) code += `${SOURCE_LINES[below(SOURCE_LINES.length)]}\n`;
  return code;
}

/** Fills a list until the arguments are as long as wanted. */
function filled<T>(length: number, make: () => T): readonly T[] {
  const list: T[] = [];
  for (let total = 0; total < length; ) {
    const item = make();
    list.push(item);
    total += JSON.stringify(item).length + 1;
  }
  return list;
}

/** An edit of a file: contents, paths, positions, options. */
function editArgs(length: number): object {
  const below = sequence(7);
  const edits = filled(length * 0.55, () => ({
    start_line: below(4_000),
    end_line: below(4_000),
    old_text: sourceCode(60, below),
    new_text: sourceCode(80, below),
    options: { trim: below(2) === 0, score: below(1_000) / 1_000, note: null },
    file: `src/${below(1e6).toString(36)}/index.ts`,
  }));
  const metadata = { ticket: 'PLANE-1432', tags: ['stdio', 'spawn'], retries: 3, ratio: 0.875 };
  const content = sourceCode(length * 0.3, below);
  return {
    path: 'packages/plane/services/transports/stdio/spawn.ts',
    content,
    mode: 420,
    create: true,
    edits,
    metadata,
  };
}

function escapeArgs(length: number): object {
  return { content: sourceCode(length * 0.9, sequence(9)), path: 'C:\\src\\repo\\main.ts' };
}

function numberArgs(length: number): object {
  const below = sequence(11);
  const time = 1_700_000_000_000;
  const row = () => [time + below(1e9), below(1e6) / 1e3, below(1_000), -below(1e9) / 1e9];
  return { columns: ['t', 'v', 'n', 'd'], rows: filled(length, row) };
}

function recordArgs(length: number): object {
  const below = sequence(13);
  const rows = filled(length, () => ({
    id: below(1e9),
    name: `customer ${below(1e5)}`,
    email: `c${below(1e5)}@example.com`,
    active: below(3) > 0,
    balance: below(1e6) / 100,
    address: { city: 'Gent', zip: '9000', street: 'Veldstraat 12' },
  }));
  return { table: 'orders', rows };
}

function inputs(length: number): readonly Input[] {
  const edit = editArgs(length);
  const sorted = canonicalize(JSON.stringify(edit));
  if (!sorted.ok) throw new Error(sorted.message);
  const [records, numbers, escapes] = [recordArgs(length), numberArgs(length), escapeArgs(length)];
  const han = { text: '治理平面记录每次工具调用'.repeat(length / 72) };
  return [
    { name: 'edit, compact, sorted', value: JSON.parse(sorted.canonical), text: sorted.canonical },
    { name: 'edit, compact, unsorted', value: edit, text: JSON.stringify(edit) },
    { name: 'edit, pretty-printed', value: edit, text: JSON.stringify(edit, null, 2) },
    { name: 'escape-heavy text', value: escapes, text: JSON.stringify(escapes) },
    { name: 'text in \\u escapes', value: han, text: toAscii(JSON.stringify(han)) },
    { name: 'numbers, compact', value: numbers, text: JSON.stringify(numbers) },
    { name: 'numbers, pretty-printed', value: numbers, text: JSON.stringify(numbers, null, 2) },
    { name: 'records, compact, unsorted', value: records, text: JSON.stringify(records) },
    { name: 'records, pretty-printed', value: records, text: JSON.stringify(records, null, 2) },
  ];
}

function toAscii(text: string): string {
  return text.replace(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Every input in 1 KB and 100 KB, plain and canonical in turns. */
function canonRows(samples: number): readonly CanonRow[] {
  return SIZES.flatMap((length) => inputs(length).map((input) => canonRow(input, samples)));
}

function canonRow({ name, value, text }: Input, samples: number): CanonRow {
  const large = text.length > 10_000;
  const measurement = measure(
    [
      { name: PLAIN, run: () => sha256(JSON.stringify(value)) },
      { name: CANON, run: () => argsHash(text, sha256) },
      { name: REPARSED, run: () => sha256(JSON.stringify(JSON.parse(text))) },
    ],
    {
      samples: large ? Math.max(1, Math.round(samples / 10)) : samples,
      warmup: large ? 200 : 2_000,
    },
  );
  const p50Us = (contestant: string): number =>
    (measurement.timings.find((timing) => timing.name === contestant)?.p50Ns ?? Number.NaN) / 1_000;
  const [plainUs, canonUs] = [p50Us(PLAIN), p50Us(CANON)];
  const lengthUnits = text.length;
  return { input: name, lengthUnits, plainUs, canonUs, ratio: canonUs / plainUs, measurement };
}

/** Shapes that would be slow if anything in the reader grew faster than its input. */
const GROWTH: Readonly<Record<string, (length: number) => string>> = {
  'many keys, falling': (length) => keysFalling(Math.floor(length / 13)),
  'long keys, one prefix': (length) => longKeys(Math.floor(length / 520)),
  'nested 256 deep, unsorted': (length) => nested(Math.floor(length / 3_328)),
  'a string of escapes': (length) => `{"a":"${'\\n\\"'.repeat(length / 4)}"}`,
  'a string of backslashes': (length) => `{"a":"\\/${'\\\\\\"'.repeat(length / 4)}"}`,
  'a string of lone surrogates': (length) => `{"a":"${'\ud83d '.repeat(length / 2)}"}`,
  'one number': (length) => `[1${'0'.repeat(length)}.${'0'.repeat(length)}1e5]`,
  'white space': (length) => `{${' '.repeat(length)}}`,
  'spaced out numbers': (length) => `[${'1 , '.repeat(length / 4)}1]`,
};

function keysFalling(count: number): string {
  const names = Array.from({ length: count }, (_, index) => String(count - index).padStart(8, '0'));
  return `{${names.map((name) => `"${name}":1`).join(',')}}`;
}

function longKeys(count: number): string {
  const prefix = 'k'.repeat(500);
  const names = Array.from({ length: count }, (_, index) => prefix + ((index * 7_919) % count));
  return `{${names.map((name) => `"${name}":1`).join(',')}}`;
}

function nested(count: number): string {
  const one = `${'{"b":1,"a":'.repeat(254)}0${'}'.repeat(254)}`;
  return `[${Array.from({ length: count }, () => one).join(',')}]`;
}

/** Processor time: a long call on a busy machine is interrupted, which is not its fault. */
function cpuClock(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) * 1_000;
}

/** Time per unit of 64 KB beside that of 1 MB, collecting the garbage of both included. */
function growthRows(): readonly GrowthRow[] {
  return Object.entries(GROWTH).map(([input, make]) => {
    const [small, large] = [make(GROWTH_SMALL), make(GROWTH_LARGE)];
    const contestants = [small, large].map((text, index) => ({
      name: String(index),
      run: () => argsHash(text, (canonical) => canonical.slice(0, 1)),
    }));
    const { timings } = measure(contestants, {
      samples: GROWTH_SAMPLES,
      warmup: 10,
      clock: cpuClock,
    });
    const smallNsPerUnit = (timings[0]?.p50Ns ?? Number.NaN) / small.length;
    const largeNsPerUnit = (timings[1]?.p50Ns ?? Number.NaN) / large.length;
    return { input, smallNsPerUnit, largeNsPerUnit, ratio: largeNsPerUnit / smallNsPerUnit };
  });
}

function canonTable(rows: readonly CanonRow[]): string {
  const head = ['', 'length', 'plain µs', 'canon µs', '×'];
  const cells = rows.map((row) => [
    row.input,
    String(row.lengthUnits),
    row.plainUs.toFixed(1),
    row.canonUs.toFixed(1),
    row.ratio.toFixed(2),
  ]);
  return `args_hash, p50 beside ${PLAIN} (goal: at most ${RATIO_GOAL}×)\n${table([head, ...cells])}`;
}

function growthTable(rows: readonly GrowthRow[]): string {
  const head = ['', '64 KB ns/unit', '1 MB ns/unit', '×'];
  const cells = rows.map((row) => [
    row.input,
    row.smallNsPerUnit.toFixed(2),
    row.largeNsPerUnit.toFixed(2),
    row.ratio.toFixed(2),
  ]);
  return `canonicalize, growth (1 is linear)\n${table([head, ...cells])}`;
}

export function run(args: readonly string[]): void {
  const { json, samples } = readBenchOptions(args, 1_000);
  const rows = canonRows(samples);
  if (json) {
    for (const { input, lengthUnits, measurement } of rows) {
      const title = `args_hash: ${input}, ${lengthUnits} units`;
      process.stdout.write(report(measurement, { title, floor: PLAIN, json }));
    }
    return;
  }
  const worst = Math.max(...rows.map(({ ratio }) => ratio));
  const goal = goalLine('args_hash, the slowest input: × the plain hash', worst, RATIO_GOAL);
  process.stdout.write(`${canonTable(rows)}${goal}${growthTable(growthRows())}`);
}
