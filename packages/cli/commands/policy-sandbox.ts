import { type Failure, failure, isFailure } from '@subluminal/contracts';
import type { Snapshot } from '@subluminal/core/policy';
import {
  compileSandbox,
  SANDBOX_DIALECTS,
  type SandboxDialect,
  withProtected,
} from '@subluminal/core/sandbox';
import { findClient } from '@subluminal/plane/clients';
import { planSandbox, type SandboxFile, sandboxFile } from '@subluminal/plane/clients/sandbox';
import { userHome } from '@subluminal/plane/config';
import { policySources, projectPaths, sourceWarnings } from '@subluminal/plane/policy';
import { diffLines, printLines } from '../adopt/lines.ts';
import {
  badUsage,
  defineCommand,
  EXIT,
  type Input,
  orThrow,
  printout,
  textOption,
} from '../input/command.ts';
import { type LoadedConfig, loadOwnConfig } from '../input/own-config.ts';
import { STDIO } from '../input/read-file.ts';
import { mayAct } from '../input/require-person.ts';
import { YES_FLAG } from '../input/shared-options.ts';
import { loadInForce } from '../policy/load-policy.ts';
import { confirm } from '../terminal/confirm.ts';
import type { Io } from '../terminal/io.ts';
import { warn } from '../terminal/report-failure.ts';
import { harmless, harmlessLine } from '../terminal/text.ts';

const KNOWN = SANDBOX_DIALECTS.map(({ client }) => client).join(', ');
const ARGS = { client: `The client: ${KNOWN}` };
const OPTIONS = {
  policy: textOption('file', 'The policy (default: the one that is in force here)'),
  write: 'Put the settings into the file of the client',
  'dry-run': 'With --write: print what would change, and change nothing',
  yes: YES_FLAG,
};
type SandboxInput = Input<typeof ARGS, typeof OPTIONS>;

export const sandbox = defineCommand({
  description:
    'Prints the settings by which a client itself holds what a policy forbids: files that are not read or written, folders to write in, hosts. They are a second line of defence behind hooks and shims, and only tighten: what the policy does not forbid stays as it is. What a sandbox cannot say is listed. `sub restore` takes them out again.',
  args: ARGS,
  options: OPTIONS,
  examples: [
    'sub policy sandbox claude-code',
    'sub policy sandbox codex --write --dry-run',
    'sub policy sandbox codex --policy policy.yaml --write --yes',
  ],
  exitCodes: {
    0: 'the settings are printed or written, there was nothing to do, or you declined',
    2: 'wrong flags, --write by an agent of a run, no policy, a client without a sandbox that can be set, or a file that cannot be changed safely',
  },
  run: async (input, io) => {
    const { options } = input;
    if (options['dry-run'] && !options.write) {
      return badUsage('--dry-run goes with --write.', 'Add --write, or leave it out.');
    }
    // A looser policy would take the place of the one that is written there.
    if (options.write) orThrow(mayAct('person', io));
    const dialect = orThrow(dialectFor(input.args.client));
    const file = orThrow(await plannedFile(dialect, input, io));
    if (!options.json) printFile(file, options, io);
    let isWritten = false;
    if (options.write && !options['dry-run'] && file.isChanged) {
      isWritten = orThrow(await confirm(`Change ${file.path}?`, io, options.yes));
      const warnings = isWritten ? orThrow(file.apply()) : ['nothing was changed.'];
      for (const words of warnings) warn(io, words);
    }
    const { path, text, left, notes, diff, isChanged } = file;
    const shown = { client: dialect.client, tried: dialect.isTried, path, settings: text };
    const document = { ...shown, left, notes, changed: isChanged, diff, written: isWritten };
    return printout(document, endText(file, { isWritten, ...options }), EXIT.fine);
  },
});

function dialectFor(word: string): SandboxDialect | Failure {
  const id = findClient(word)?.id ?? word;
  const dialect = SANDBOX_DIALECTS.find(({ client }) => client === id);
  if (dialect !== undefined) return dialect;
  const message = `${word} has no sandbox that a policy can be written into.`;
  return failure('SUB_CLIENT_UNKNOWN', message, `There are: ${KNOWN}.`);
}

async function plannedFile(
  dialect: SandboxDialect,
  { options }: SandboxInput,
  io: Io,
): Promise<SandboxFile | Failure> {
  const { policy } = options;
  if (policy === STDIO || policy === '') {
    return badUsage('--policy must be a file.', 'Save the policy, and name its file.');
  }
  const loaded = await loadOwnConfig({ policy });
  const { snapshot, policies } = orThrow(await policyHere(loaded, io));
  const places = projectPaths();
  const compiled = compileSandbox(snapshot, dialect, places);
  const where = { env: process.env, project: places.project, paths: loaded.paths };
  const isOff = snapshot.document.self_protection === 'off';
  const files = isOff ? [] : await governing({ ...where, dialect, loaded, policies });
  return planSandbox({
    ...where,
    dialect,
    plan: withProtected(compiled, files, places),
    places,
    redactPatterns: loaded.config['redact.extra_patterns'],
  });
}

interface PolicyHere {
  readonly kind: 'here';
  readonly snapshot: Snapshot;
  readonly policies: readonly string[];
}

async function policyHere({ config, paths }: LoadedConfig, io: Io): Promise<PolicyHere | Failure> {
  const found = policySources({
    cwd: process.cwd(),
    home: paths.home,
    userHome: userHome(process.env),
    named: config['policy.path'],
    trusts: false,
  });
  for (const words of sourceWarnings(found)) warn(io, words);
  const [first, second] = found.sources;
  if (first === undefined) {
    const message = 'no policy is found here, so there is nothing to write into a sandbox.';
    return failure('SUB_USAGE', message, 'Name one with --policy, or write one: sub init');
  }
  const loaded = await loadInForce([first, second], config.profile, io);
  if (isFailure(loaded)) return loaded;
  const policies = found.sources.map(({ path }) => path);
  return { kind: 'here', snapshot: loaded.snapshot, policies };
}

interface Governing {
  readonly env: NodeJS.ProcessEnv;
  readonly project: string;
  readonly dialect: SandboxDialect;
  readonly loaded: LoadedConfig;
  readonly policies: readonly string[];
}

/** The files that self-protection keeps, but for places of policies above the project. */
async function governing({
  env,
  project,
  dialect,
  loaded: { config, paths },
  policies,
}: Governing): Promise<readonly string[]> {
  const { finderOptions, protectedFiles } = await import('@subluminal/plane/governor');
  const server = { env, cwd: project, command: '', args: [] };
  const options = finderOptions(server, { config, paths, policies });
  const places = new Set(options.policyPlaces.filter((path) => !path.startsWith(`${project}/`)));
  const { files } = protectedFiles(options).current();
  const place = { platform: process.platform, userHome: userHome(env), project, env };
  const own = sandboxFile(dialect.client, place).path;
  const kept = files.map(({ path }) => path).filter((path) => !places.has(path));
  return [...new Set([...kept, own])];
}

function printFile(file: SandboxFile, { write }: SandboxInput['options'], { out }: Io): void {
  const { path, text, diff, left, notes } = file;
  const title = (words: string) => out.colors.bold(harmless(words));
  const body = write
    ? diffLines(diff, out)
    : text
        .trimEnd()
        .split('\n')
        .map((line) => harmless(line));
  const rules = left.map(({ rule_id, why }) => `  ${harmless(`${rule_id}: ${why}`)}`);
  printLines(
    [
      title(path),
      ...body,
      ...(rules.length === 0 ? [] : ['', title('Not in the sandbox:'), ...rules]),
      ...(notes.length === 0 ? [] : ['', ...notes.map((note) => harmless(note))]),
    ],
    out,
  );
}

function endText(
  { path, isChanged }: SandboxFile,
  { write, isWritten }: { readonly write: boolean; readonly isWritten: boolean },
): string {
  if (isWritten) return harmlessLine(`Done: ${path} is written. Start the client again.`);
  if (!write) return '';
  return isChanged ? '' : 'Nothing to do.\n';
}
