// Holds the manifest of requirements (test/requirements.ts) against the tests that cite them with
// `verifies('ID')`. `npm run requirements` prints how many of each specification are done.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { REQUIREMENTS, type Requirement } from '../test/requirements.ts';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const SPECIFICATIONS = [
  { name: 'interface pack', ids: /^IP-/ },
  { name: 'product', ids: /^(?:SL|T)-/ },
  { name: 'stdio wrapper', ids: /^(?:EC-STDIO|F|NFR)-/ },
  { name: 'model gateway', ids: /^R-/ },
  { name: 'steward', ids: /^ST-/ },
];
const CITATION = /(?<![.\w])verifies\(([^)]*)\)/g;

/** The ids that a test file cites. The linter forbids skipped tests, so every citation runs. */
export function citedIds(text: string): readonly string[] {
  const code = text.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
  return [...code.matchAll(CITATION)].flatMap(([, ids = '']) =>
    [...ids.matchAll(/'([^']+)'/g)].map(([, id = '']) => id),
  );
}

/** What is wrong, one sentence each: unknown ids, and requirements that are done but not tested. */
export function findProblems(
  manifest: readonly Requirement[],
  cited: ReadonlySet<string>,
): readonly string[] {
  const known = new Set(manifest.map(({ id }) => id));
  const untested = manifest.filter(({ id, state }) => state === 'done' && !cited.has(id));
  return [
    ...[...cited].filter((id) => !known.has(id)).map((id) => `No requirement has the id ${id}.`),
    ...untested.map(({ id }) => `${id} is done, but no test cites it.`),
  ];
}

export function specificationOf(id: string): string | undefined {
  return SPECIFICATIONS.find(({ ids }) => ids.test(id))?.name;
}

/** The ids that the tests of this checkout cite. */
export function citedInTests(): ReadonlySet<string> {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '*.test.ts'];
  const paths = execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).split('\0');
  const files = paths.filter((path) => path !== '' && existsSync(join(ROOT, path)));
  return new Set(files.flatMap((path) => citedIds(readFileSync(join(ROOT, path), 'utf8'))));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const { name, ids } of SPECIFICATIONS) {
    const all = REQUIREMENTS.filter(({ id }) => ids.test(id));
    const done = all.filter(({ state }) => state === 'done').length;
    process.stdout.write(`${name.padEnd(15)} ${done} of ${all.length} done\n`);
  }
}
