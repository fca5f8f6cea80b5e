// Reads what git knows or would take in, and prints what is out of order.
import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FileText } from './source.ts';
import { formatFinding, tidy } from './tidy.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const BYTES_MAX = 4 * 1024 * 1024;
const LIST = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];

function readFiles(): readonly FileText[] {
  const listed = execFileSync('git', LIST, { cwd: ROOT, encoding: 'utf8', maxBuffer: BYTES_MAX });
  const paths = [...new Set(listed.split('\0'))].filter((path) => path !== '');
  return paths.flatMap((path) => {
    // A deleted file is still in git's index until the deletion is staged.
    const stat = statSync(join(ROOT, path), { throwIfNoEntry: false });
    if (!stat?.isFile() || stat.size > BYTES_MAX) return [];
    const text = readFileSync(join(ROOT, path), 'utf8');
    return text.includes('\0') ? [] : [{ path, text }];
  });
}

const files = readFiles();
const findings = tidy(files);
for (const finding of findings) process.stdout.write(`${formatFinding(finding)}\n`);
process.stdout.write(`tidy: ${findings.length} findings in ${files.length} files\n`);
process.exitCode = findings.length === 0 ? 0 : 1;
