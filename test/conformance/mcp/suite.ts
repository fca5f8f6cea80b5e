// The official conformance suite: where it is installed, and one run of it.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { bundled } from '../../bundled.ts';
import { binFolder, pinnedPackage, ROOT } from '../../clients/installed.ts';
import type { Outcome } from './judge.ts';

export const MODES = ['server', 'client'] as const;
export type Mode = (typeof MODES)[number];
export const REVISIONS = ['2025-11-25', '2026-07-28'] as const;
export type Revision = (typeof REVISIONS)[number];

/** The suite needs Node 22. Where an older one runs this, the package of the binary brings it. */
export const SUITE = pinnedPackage({
  id: 'mcp-conformance',
  title: 'MCP conformance suite',
  packageName: '@modelcontextprotocol/conformance',
  manifest: join(ROOT, 'test', 'conformance', 'mcp', 'pinned'),
  findBin: (modules) => (nodeFor(modules) === undefined ? undefined : modules),
});

function nodeFor(modules: string): string | undefined {
  if (Number.parseInt(process.versions.node, 10) >= 22) return process.execPath;
  const binary = join(modules, `node-${process.platform}-${process.arch}`, 'bin', 'node');
  return existsSync(binary) ? binary : undefined;
}

export interface SuiteRun {
  readonly mode: Mode;
  readonly revision: Revision;
  /** The address of the server, or the command of the client. */
  readonly target: string;
  /** Only this one; else all that the revision requires or names. */
  readonly scenario?: string;
  readonly env?: Readonly<Record<string, string>>;
}

// Far above what a scenario takes: all client scenarios of a revision run at once.
const SCENARIO_MAX_MS = 180_000;
const RUN_MAX_MS = 300_000;
/** The suite starts more than a hundred times. Its Node keeps there what it has compiled; an older one takes no notice. */
const COMPILED = join(ROOT, 'node_modules', '.cache', 'subluminal', 'compiled');

export async function runSuite(run: SuiteRun): Promise<readonly Outcome[]> {
  const output = mkdtempSync(join(tmpdir(), 'sub-conformance-'));
  try {
    const said = await started(run, output);
    const outcomes = readOutcomes(run.mode, output);
    if (outcomes.length === 0) throw new Error(`The suite gave no result:\n${said}`);
    return outcomes;
  } finally {
    rmSync(output, { recursive: true, force: true });
  }
}

function started({ mode, revision, target, scenario, env }: SuiteRun, output: string) {
  const modules = binFolder(SUITE);
  const node = modules === undefined ? undefined : nodeFor(modules);
  if (modules === undefined || node === undefined) throw new Error('The suite is not installed');
  const entry = join(modules, '@modelcontextprotocol', 'conformance', 'dist', 'index.js');
  const chosen =
    scenario === undefined
      ? ['--requirements', revision]
      : ['--scenario', scenario, '--spec-version', revision, '--force'];
  const args = [
    bundled(entry),
    mode,
    mode === 'server' ? '--url' : '--command',
    target,
    ...chosen,
    ...['--timeout', String(SCENARIO_MAX_MS), '--output-dir', output],
  ];
  return new Promise<string>((resolve, reject) => {
    const child = spawn(node, args, {
      env: { ...process.env, NODE_COMPILE_CACHE: COMPILED, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: RUN_MAX_MS,
      killSignal: 'SIGKILL',
    });
    let said = '';
    const collect = (chunk: Buffer): void => {
      said = (said + chunk.toString()).slice(-20_000);
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    child.on('error', reject);
    child.on('close', () => resolve(said));
  });
}

/** A folder per scenario: `auth/basic-cimd-TIME`, of server scenarios `server-tools-list-TIME`. */
function readOutcomes(mode: Mode, output: string): readonly Outcome[] {
  const files = readdirSync(output, { recursive: true, encoding: 'utf8' });
  return files
    .filter((file) => file.endsWith('checks.json'))
    .map((file) => {
      const folder = join(output, file, '..');
      const scenario = relative(output, folder)
        .replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, '')
        .slice(mode === 'server' ? 'server-'.length : 0);
      const stderr = join(folder, 'stderr.txt');
      return {
        scenario,
        checks: JSON.parse(readFileSync(join(output, file), 'utf8')) as Outcome['checks'],
        said: existsSync(stderr) ? readFileSync(stderr, 'utf8') : '',
      };
    });
}
