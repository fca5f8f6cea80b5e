// `npm run lines`: how much there is to read. Shipped is what lies in packages, without tests.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const CODE = /\.(?:ts|mts|tsx|js|mjs)$/;
const TEST = /\.test\.ts$|\.test-support\.ts$|\/(?:testing|fixtures)\//;

export function countLines() {
  const paths = execFileSync('git', ['ls-files', '-z'], { cwd: ROOT, encoding: 'utf8' }).split(
    '\0',
  );
  const code = paths.filter((path) => CODE.test(path) && existsSync(join(ROOT, path)));
  const total = (wanted: (path: string) => boolean) =>
    code.filter(wanted).reduce((sum, path) => sum + linesIn(path), 0);
  return {
    shipped: total((path) => path.startsWith('packages/') && !TEST.test(path)),
    tests: total(
      (path) => /^(?:packages|test)\//.test(path) && (TEST.test(path) || path.startsWith('test/')),
    ),
    tools: total((path) => path.startsWith('tools/')),
  };
}

function linesIn(path: string): number {
  return readFileSync(join(ROOT, path), 'utf8').split('\n').length - 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [name, lines] of Object.entries(countLines())) {
    process.stdout.write(`${name.padEnd(8)} ${lines.toLocaleString('en')} lines\n`);
  }
}
