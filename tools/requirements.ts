// Holds the manifest of requirements against the tests that cite them.
// Usage: node tools/run.mjs tools/requirements.ts [--json] [--verbose]
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { REQUIREMENTS, type Requirement } from '../test/requirements.ts';
import { type Citation, citationsOf, type Source } from './requirements/citations.ts';

interface Row {
  readonly rule:
    | 'duplicate'
    | 'text'
    | 'unknown'
    | 'uncited'
    | 'planned'
    | 'outside'
    | 'unreadable';
  /** The requirement's id, or the file and line. */
  readonly at: string;
  readonly message: string;
}

interface Count {
  readonly done: number;
  readonly all: number;
  readonly planned: number;
  readonly cited: number;
}

interface Report {
  /** What fails the check. */
  readonly findings: readonly Row[];
  /** What someone should look at. */
  readonly warnings: readonly Row[];
  readonly total: Count;
  readonly specifications: readonly (Count & { readonly name: string })[];
}

const TEXT_LENGTH_MAX = 140;
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;
const ROOT = fileURLToPath(new URL('../', import.meta.url));
const FOLDERS = ['packages', 'test', 'tools', 'bench'];

const SPECIFICATIONS = [
  { name: 'interface pack', ids: /^IP-/ },
  { name: 'product', ids: /^(?:SL|T)-/ },
  { name: 'stdio wrapper', ids: /^(?:EC-STDIO|F|NFR)-/ },
  { name: 'model gateway', ids: /^R-/ },
  { name: 'steward', ids: /^ST-/ },
];

export function audit(manifest: readonly Requirement[], files: readonly Source[]): Report {
  const citations = files.flatMap((file) => citationsOf(file));
  const shown = new Set(
    citations.filter(({ place }) => place === 'test').flatMap(({ ids }) => ids),
  );
  return {
    findings: [
      ...duplicates(manifest),
      ...badTexts(manifest),
      ...unknownIds(manifest, citations),
      ...uncited(manifest, citations, shown),
    ],
    warnings: [
      ...plannedButCited(manifest, citations, shown),
      ...outsideTests(citations),
      ...unreadable(citations),
    ],
    total: count(manifest, shown),
    specifications: SPECIFICATIONS.map(({ name, ids }) => ({
      name,
      ...count(
        manifest.filter(({ id }) => ids.test(id)),
        shown,
      ),
    })),
  };
}

function duplicates(manifest: readonly Requirement[]): Row[] {
  const ids = manifest.map(({ id }) => id);
  const again = new Set(ids.filter((id, index) => ids.indexOf(id) !== index));
  return [...again].map((id) => ({
    rule: 'duplicate',
    at: id,
    message: 'stands twice in the list',
  }));
}

function badTexts(manifest: readonly Requirement[]): Row[] {
  return manifest.flatMap(({ id, text }): Row[] => {
    if (text.trim() === '') return [{ rule: 'text', at: id, message: 'has no text' }];
    if (text.includes('\n')) return [{ rule: 'text', at: id, message: 'has more than one line' }];
    if (text.length <= TEXT_LENGTH_MAX) return [];
    const message = `has ${text.length} characters; at most ${TEXT_LENGTH_MAX} are allowed`;
    return [{ rule: 'text', at: id, message }];
  });
}

/** A wrong id is wrong in a skipped test too: it would come back with the test. */
function unknownIds(manifest: readonly Requirement[], citations: readonly Citation[]): Row[] {
  const known = new Set(manifest.map(({ id }) => id));
  return citations.flatMap((citation) =>
    citation.ids
      .filter((id) => !known.has(id))
      .map((id): Row => {
        const message = `cites \`${id}\`, which no requirement has`;
        return { rule: 'unknown', at: placeName(citation), message };
      }),
  );
}

function uncited(
  manifest: readonly Requirement[],
  citations: readonly Citation[],
  shown: ReadonlySet<string>,
): Row[] {
  return manifest
    .filter(({ id, state }) => state === 'done' && !shown.has(id))
    .map(({ id }): Row => {
      const idle = citations.filter(({ ids }) => ids.includes(id));
      const only = idle.map((citation) => `${placeName(citation)} (${citation.place})`).join(', ');
      const message = `is done, but no test that runs cites it${only && `; only ${only}`}`;
      return { rule: 'uncited', at: id, message };
    });
}

function plannedButCited(
  manifest: readonly Requirement[],
  citations: readonly Citation[],
  shown: ReadonlySet<string>,
): Row[] {
  return manifest
    .filter(({ id, state }) => state === 'planned' && shown.has(id))
    .map(({ id }): Row => {
      const by = citations.filter(({ ids, place }) => place === 'test' && ids.includes(id));
      const more = by.length > 1 ? ` and ${by.length - 1} more` : '';
      const [first] = by;
      const message = `is planned, but cited by ${first && placeName(first)}${more}; is it done?`;
      return { rule: 'planned', at: id, message };
    });
}

function outsideTests(citations: readonly Citation[]): Row[] {
  return citations
    .filter(({ place }) => place === 'outside')
    .map((citation): Row => {
      const message = `cites ${citation.ids.join(', ')} outside the body of a test, which counts for nothing`;
      return { rule: 'outside', at: placeName(citation), message };
    });
}

function unreadable(citations: readonly Citation[]): Row[] {
  return citations
    .filter(({ readable }) => !readable)
    .map((citation): Row => {
      const message = 'cites something other than plain strings, which counts for nothing';
      return { rule: 'unreadable', at: placeName(citation), message };
    });
}

function placeName({ path, line }: Citation): string {
  return `${path}:${line}`;
}

function count(manifest: readonly Requirement[], shown: ReadonlySet<string>): Count {
  const done = manifest.filter(({ state }) => state === 'done').length;
  return {
    done,
    all: manifest.length,
    planned: manifest.length - done,
    cited: manifest.filter(({ id }) => shown.has(id)).length,
  };
}

/** Planned and cited is the usual state of work under way: a line for each drowns all else. */
function collapsed(warnings: readonly Row[]): readonly string[] {
  return SPECIFICATIONS.flatMap(({ name, ids }) => {
    const rows = warnings.filter(({ rule, at }) => rule === 'planned' && ids.test(at));
    if (rows.length === 0) return [];
    const what = rows.length === 1 ? '1 requirement is' : `${rows.length} requirements are`;
    return [`note planned    ${name}: ${what} planned, but cited; --verbose lists them`];
  });
}

export function print(report: Report, verbose: boolean): string {
  const width = Math.max(...SPECIFICATIONS.map(({ name }) => name.length));
  const figures = ({ done, all, planned, cited }: Count) =>
    `${done} done / ${all} all (${planned} planned; ${cited} cited)`;
  const row = (mark: string) => (found: Row) =>
    `${mark} ${found.rule.padEnd(10)} ${found.at} ${found.message}`;
  const shown = report.warnings.filter(({ rule }) => verbose || rule !== 'planned');
  return [
    ...shown.map(row('warn')),
    ...(verbose ? [] : collapsed(report.warnings)),
    ...report.findings.map(row('FAIL')),
    ...report.specifications.map((part) => `  ${part.name.padEnd(width)}  ${figures(part)}`),
    `requirements: ${figures(report.total)}`,
  ].join('\n');
}

/** Every test file of the checkout, committed or not, that is not ignored. */
function testFiles(): readonly Source[] {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--', ...FOLDERS];
  const listed = execFileSync('git', args, {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: OUTPUT_BYTES_MAX,
  });
  const paths = [...new Set(listed.split('\0'))].toSorted();
  return paths
    .filter((path) => path.endsWith('.test.ts') && existsSync(join(ROOT, path)))
    .map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }));
}

function main(args: readonly string[]): number {
  const unknown = args.find((arg) => arg !== '--json' && arg !== '--verbose');
  if (unknown !== undefined) {
    process.stderr.write(`requirements: unknown option ${unknown}; use --json or --verbose\n`);
    return 2;
  }
  const report = audit(REQUIREMENTS, testFiles());
  const text = args.includes('--json')
    ? JSON.stringify(report, null, 2)
    : print(report, args.includes('--verbose'));
  process.stdout.write(`${text}\n`);
  return report.findings.length > 0 ? 1 : 0;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.exitCode = main(process.argv.slice(2));
}
