// `sub import --hooks`: hooks in the settings of clients, for as long as nobody takes them out.
import { type Failure, failure, isFailure } from '@subluminal/contracts';
import { addHooks, removeHooks } from '../hooks/edit-hooks.ts';
import { homesIn, hookCommand } from '../hooks/hook-command.ts';
import { hooksOf } from '../hooks/registry.ts';
import type { ClientHooks, HookFile } from '../hooks/types.ts';
import type { Client, ConfigFailure, ConfigFile, RewrittenConfig } from '../index.ts';
import {
  type AdoptionPlace,
  clientPlace,
  loadDiffRedactor,
  storeAt,
  withCode,
} from '../inspect/adoption-place.ts';
import { hooksDiff } from '../inspect/hooks-diff.ts';
import { type OwnCall, ownProgram } from '../inspect/own-program.ts';
import { applyChange, readPriorState } from '../store/apply-change.ts';
import { configFailure, configKey } from '../store/change-store.ts';
import { absentConfig, readConfigFile, replaceProblem } from '../store/config-file.ts';
import { documentIn } from '../text/document.ts';
import { policyOfServers, recordedHooks } from './hook-policy.ts';
import type { Imported } from './import.ts';
import { closedPolicy, closedPrograms, unsharedHome } from './shared-hooks.ts';
import { adoptionStatus } from './status.ts';

export interface HookOptions extends AdoptionPlace {
  readonly clients: readonly Client[];
  /** Into the settings of the machine in place of those of the user. */
  readonly isManaged: boolean;
  readonly own: OwnCall;
  /**
   * What decides. Without it, hooks keep what they have, or get what the user's servers have; else it is found
   * from the folder that the agent works in.
   */
  readonly policyPath?: string | undefined;
  /** `redact.extra_patterns` */
  readonly redactPatterns: readonly string[];
}

export interface HookImport {
  readonly client: Client;
  readonly hooks: ClientHooks;
  readonly path: string;
  readonly isManaged: boolean;
  readonly isChanged: boolean;
  /** There are hooks of ours already. */
  readonly isThere: boolean;
  /** The file that they name. */
  readonly policy?: string;
  /** What to know about their policy; a sentence. */
  readonly note?: string;
  /** For people. */
  readonly diff: string;
  /** What its owner has to add there, because this user may not. */
  readonly byHand?: string;
  readonly apply: () => Imported;
}

export interface HookPlan {
  readonly kind: 'plan';
  readonly files: readonly HookImport[];
  /** Of single files; the others can be changed all the same. */
  readonly problems: readonly Failure[];
  /** What keeps other users of the machine from using hooks of its settings; sentences. */
  readonly warnings: readonly string[];
}

const USER_MODE = 0o600;
const MACHINE_MODE = 0o644;

export async function planHooks(options: HookOptions): Promise<HookPlan | Failure> {
  const program = ownProgram(options.own);
  if (program.kind === 'failure') return program;
  const redact = await loadDiffRedactor(options.redactPatterns);
  if (isFailure(redact)) return redact;
  const place = clientPlace(options);
  const files = options.policyPath === undefined ? adoptionStatus(options).files : [];
  const planned = options.clients.flatMap((client): readonly (HookImport | Failure)[] => {
    const hooks = hooksOf(client.id, options.isManaged);
    if (hooks === undefined) return [];
    const file = options.isManaged ? hooks.managedFile?.(place) : hooks.userFile(place);
    if (file === undefined) return [unmanaged(client)];
    const present = recordedHooks(file, storeAt(options.paths));
    const path = options.policyPath ?? present?.policy;
    const { path: policy, note } = path === undefined ? policyOfServers(client, files) : { path };
    const named = policy !== undefined && { policy };
    // Those of the machine are for all its users: whose home it is, the hook asks the system.
    const homes = options.isManaged ? {} : homesIn(place);
    const call = { program: program.words, homes, ...named };
    const command = hookCommand(client.id, call);
    const isThere = present !== undefined;
    const target = { client, hooks, file, command, isThere, ...named, ...(note && { note }) };
    return [planFile(target, { options, redact })];
  });
  const hookFiles = planned.flatMap((one) => (isFailure(one) ? [] : [one]));
  const policies = [...new Set(hookFiles.flatMap(({ policy }) => policy ?? []))];
  const warnings = [
    ...unsharedHome(options.env),
    ...closedPrograms(program.words),
    ...policies.flatMap(closedPolicy),
  ];
  return {
    kind: 'plan',
    files: hookFiles,
    problems: planned.filter(isFailure),
    warnings: options.isManaged ? warnings : [],
  };
}

interface HookTarget {
  readonly client: Client;
  readonly hooks: ClientHooks;
  readonly file: HookFile;
  readonly command: string;
  readonly policy?: string;
}

interface PlannedTarget extends HookTarget, Pick<HookImport, 'isThere' | 'note'> {}

function planFile(
  { client, isThere, note, ...target }: PlannedTarget,
  { options, redact }: { readonly options: HookOptions; readonly redact: (text: string) => string },
): HookImport | Failure {
  const { isManaged } = options;
  const { hooks, file } = target;
  const store = storeAt(options.paths);
  const mode = isManaged ? MACHINE_MODE : USER_MODE;
  const read = readConfigFile(file.path);
  if (read.kind === 'failure') return withCode('SUB_CLIENT_CONFIG', read);
  const config = read.kind === 'missing' ? absentConfig(file.path, mode) : read;
  const before = readPriorState(config, configKey(config.target, file.part), store);
  if (before.kind === 'failure') return withCode('SUB_CLIENT_RESTORE', before);
  const rewrite = (base: string) => {
    const made = rewritten(base, target);
    return 'kind' in made || !isManaged
      ? made
      : { ...made, hooks: { ...made.hooks, isManaged: true as const } };
  };
  const next = rewrite(before.text);
  if ('kind' in next) return withCode('SUB_CLIENT_CONFIG', next);
  const change = next.hooks ?? {};
  const isChanged = next.text !== config.text;
  const isOpen = !isChanged || replaceProblem(config) === undefined;
  const configFile: ConfigFile = { ...file, scope: 'user' };
  return {
    client,
    hooks,
    path: file.path,
    isManaged,
    isChanged,
    isThere,
    ...(target.policy !== undefined && { policy: target.policy }),
    ...(note !== undefined && { note }),
    diff: hooksDiff({ file, before: config.text, after: next.text, change, redact }),
    ...(!isOpen && isManaged && { byHand: ownText(target) }),
    apply: () => {
      const request = {
        ...store,
        file: configFile,
        kind: 'import',
        part: file.part,
        rewrite,
        newMode: mode,
      } as const;
      const result = applyChange(request);
      return result.kind === 'failure'
        ? withCode('SUB_CLIENT_WRITE', result)
        : { kind: result.kind, warnings: result.warnings };
    },
  };
}

/** What else is in the file is not shown. */
function ownText(target: Omit<HookTarget, 'client'>): string {
  const alone = rewritten('', target);
  return 'kind' in alone ? '' : alone.text.trimStart();
}

/** Hooks of ours that no record knows of, or that start another sub, are replaced. */
function rewritten(
  base: string,
  { hooks, file, command, policy }: Omit<HookTarget, 'client'>,
): RewrittenConfig | ConfigFailure {
  const { path, format } = file;
  const named = policy !== undefined && { policy };
  const block = format === 'toml' ? hooks.managedBlock?.(command) : undefined;
  if (block !== undefined) return withBlock(base, file, { block, ...named });
  const clean = removeHooks({ text: base, format }, hooks);
  if (clean.kind === 'refused') return unfit(path, clean.why);
  const added = addHooks({ text: clean.text, format }, hooks, command);
  if (added.kind === 'refused') return unfit(path, added.why);
  const stripped = clean.text === base ? {} : { base: clean.text };
  const guards = hooks.projectFiles;
  return { text: added.text, changes: [], hooks: { guards, ...named }, ...stripped };
}

function withBlock(
  base: string,
  { path, format }: HookFile,
  hooks: { readonly block: string; readonly policy?: string },
) {
  const { block } = hooks;
  const text = base.includes(block) ? base : `${base}${block}`;
  if (documentIn(text, format) !== undefined) return { text, changes: [], hooks };
  return unfit(path, 'it has settings of hooks or features already, or cannot be read.');
}

function unmanaged({ title }: Client): Failure {
  const message = `No settings of the machine are known that would hold the hooks of ${title}.`;
  return failure('SUB_CLIENT_HOOKS', message, 'Leave out --managed.');
}

function unfit(path: string, why: string): ConfigFailure {
  const fix = 'Correct the file, and try again.';
  return configFailure(path, `Hooks cannot be put into ${path}: ${why}`, fix);
}

/** The clients of these that have hooks to put into a file. */
export function withHooks(clients: readonly Client[]): readonly Client[] {
  return clients.filter(({ id }) => hooksOf(id) !== undefined);
}

/** A failure where none of them has any. */
export function noHooks(clients: readonly Client[]): Failure {
  if (clients.length === 0) {
    const fix = 'Name the one that is to have hooks, such as sub import claude-code --hooks';
    return failure('SUB_CLIENT_HOOKS', 'no agent client has a config here.', fix);
  }
  const titles = clients.map(({ title }) => title).join(', ');
  const have = clients.length === 1 ? 'has' : 'have';
  return failure(
    'SUB_CLIENT_HOOKS',
    `${titles} ${have} no hooks that sub knows.`,
    'Leave out --hooks.',
  );
}
