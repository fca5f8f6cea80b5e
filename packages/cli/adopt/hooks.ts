// Hooks in the settings of clients: shows what would change, asks, and puts them in.
import { isFailure } from '@subluminal/contracts';
import type { Client } from '@subluminal/plane/clients';
import {
  type HookImport,
  type HookOptions,
  hookStatus,
  limitsOf,
  noHooks,
  planHooks,
  trustState,
  withHooks,
} from '@subluminal/plane/clients/setup';
import { badUsage, orThrow } from '../input/command.ts';
import type { Asker } from '../terminal/confirm.ts';
import type { Io } from '../terminal/io.ts';
import { warn } from '../terminal/report-failure.ts';
import { harmless, harmlessLine } from '../terminal/text.ts';
import { diffLines, printLines, tellProblems } from './lines.ts';

export const HOOK_OPTIONS = {
  hooks: 'Put hooks into the client as well, so that its own tools and prompts are governed',
  'no-hooks': 'Put no hooks in, and do not offer to',
  managed: 'Put the hooks into the settings of the machine, which no project can switch off',
  'trust-hooks': 'Trust these hooks in Codex without asking, as you would in Codex itself',
};

export interface HookFlags {
  readonly hooks: boolean;
  readonly 'no-hooks': boolean;
  readonly managed: boolean;
  readonly 'trust-hooks': boolean;
  readonly 'dry-run': boolean;
  readonly yes: boolean;
  readonly json: boolean;
}

export const UNSET_HOOKS = {
  ...{ hooks: false, 'no-hooks': false, managed: false, 'trust-hooks': false },
};

/** Throws its failure. */
export function checkHookFlags(flags: HookFlags, client: Client | undefined): void {
  const { managed, 'trust-hooks': trusts } = flags;
  const wanted = (['hooks', 'managed', 'trust-hooks'] as const).find((name) => flags[name]);
  if (flags['no-hooks'] && wanted !== undefined) {
    orThrow(badUsage(`--${wanted} and --no-hooks say the opposite.`, 'Leave out one of the two.'));
  }
  if (managed && trusts) {
    orThrow(badUsage('the hooks of --managed are trusted already.', 'Leave out --trust-hooks.'));
  }
  if (trusts && client !== undefined && client.id !== 'codex') {
    const message = `--trust-hooks is for Codex: ${client.title} asks for no trust.`;
    orThrow(badUsage(message, 'Use --hooks in its place.'));
  }
}

/** Whether the user wants them whatever there is else. */
export function wantsHooks({ hooks, managed, 'trust-hooks': trusts }: HookFlags): boolean {
  return hooks || managed || trusts;
}

export interface OfferedHooks {
  readonly files: readonly HookImport[];
  readonly applied: ReadonlySet<HookImport>;
  /** Codex was told to trust them. */
  readonly isTrusted: boolean;
  readonly hasFailed: boolean;
}

const NONE: OfferedHooks = { files: [], applied: new Set(), isTrusted: false, hasFailed: false };

interface Offer {
  readonly where: Omit<HookOptions, 'clients' | 'isManaged'>;
  readonly clients: readonly Client[];
  readonly flags: HookFlags;
  readonly io: Io;
  readonly asks: Asker;
}

/** Throws its failure. */
export async function offerHooks(offer: Offer): Promise<OfferedHooks> {
  const { where, flags, io } = offer;
  const clients = withHooks(offer.clients);
  if (flags['no-hooks']) return NONE;
  if (clients.length === 0) return wantsHooks(flags) ? orThrow(noHooks(offer.clients)) : NONE;
  const plan = orThrow(await planHooks({ ...where, clients, isManaged: flags.managed }));
  const open = plan.files.filter(({ isChanged }) => isChanged);
  if (!wantsHooks(flags) && !(await isOfferTaken(open, offer))) return NONE;
  const hasFailed = tellProblems(plan.problems, io);
  for (const warning of plan.warnings) warn(io, warning);
  const writable = open.filter(({ byHand }) => byHand === undefined);
  if (!flags.json) for (const file of open) printFile(file, io);
  const result = await applyHooks(writable, offer);
  const mayTrust = !flags['dry-run'] && !flags.managed;
  const trust = mayTrust ? await offerTrust(plan.files, offer) : 'left';
  const offered = { files: plan.files, ...result, isTrusted: trust === 'trusted' };
  if (!flags['dry-run']) tellResult(offered, offer);
  return { ...offered, hasFailed: hasFailed || result.hasFailed || trust === 'failed' };
}

/** Hooks that are in may still not be called: nobody is told then that it is done. */
function tellResult(
  { files, applied, isTrusted }: Omit<OfferedHooks, 'hasFailed'>,
  { where, flags, io }: Offer,
): void {
  const status = hookStatus(where);
  for (const file of files) {
    const { id, title } = file.client;
    const { state, problems = [] } = status.find(({ client }) => client === id) ?? {};
    if (state === 'faulty') {
      warn(io, `not all of the hooks of ${title} are called. ${problems.join(' ')}`);
    } else if (applied.has(file) || (isTrusted && id === 'codex')) {
      const done = `Done: the own tools of ${title} are governed from its next start on. Undo it with: sub restore ${id}`;
      if (!flags.json) io.out.write(harmlessLine(done));
    }
  }
}

/** Only a person can take it. */
async function isOfferTaken(open: readonly HookImport[], { flags, io, asks }: Offer) {
  if (open.length === 0) return false;
  const titles = open.map(({ client }) => client.title).join(', ');
  const tools = open
    .flatMap(({ client }) => client.builtInTools)
    .slice(0, 4)
    .join(', ');
  // Without an answer, what is printed at the end says what is not governed.
  const canAsk = io.stdinIsTerminal && io.err.isTerminal && !flags.yes;
  if (!canAsk || flags.json || flags['dry-run']) {
    const stale = open.filter(({ isThere }) => isThere).map(({ client }) => client.title);
    if (stale.length > 0) {
      warn(
        io,
        `the hooks of ${stale.join(', ')} stay as they are: --hooks brings them up to date.`,
      );
    }
    return false;
  }
  const question = `Put hooks into ${titles} as well, so that its own tools (${tools}, …) are governed?`;
  return orThrow(await asks.ask(question));
}

function printFile(file: HookImport, io: Io): void {
  const { client, path, diff, byHand, hooks, isManaged, note } = file;
  const head = io.out.colors.bold(harmless(`${client.title}, hooks: ${path}`));
  printLines([head, ...diffLines(diff, io.out)], io.out);
  for (const limit of limitsOf(hooks, isManaged)) io.out.write(harmlessLine(`  ${limit}`));
  if (note !== undefined) io.out.write(harmlessLine(`  ${note}`));
  if (byHand === undefined) return;
  warn(io, `you may not write ${path}: its owner has to put this there.`);
  io.out.write(byHand);
}

async function applyHooks(
  files: readonly HookImport[],
  { flags, io, asks }: Offer,
): Promise<Pick<OfferedHooks, 'applied' | 'hasFailed'>> {
  const applied = new Set<HookImport>();
  let hasFailed = false;
  if (files.length === 0 || flags['dry-run']) return { applied, hasFailed };
  const text = `Put these hooks into ${files.map(({ path }) => path).join(', ')}?`;
  if (!orThrow(await asks.ask(text))) {
    warn(io, 'no hooks were put in.');
    return { applied, hasFailed };
  }
  for (const file of files) {
    const result = file.apply();
    if (isFailure(result)) {
      hasFailed = tellProblems([result], io);
      continue;
    }
    for (const warning of result.warnings) warn(io, warning);
    applied.add(file);
  }
  return { applied, hasFailed };
}

/** Never without the word of the user: it is Codex that they tell what it may run. */
async function offerTrust(
  files: readonly HookImport[],
  { where, flags, io, asks }: Offer,
): Promise<'trusted' | 'left' | 'failed'> {
  if (!files.some(({ client }) => client.id === 'codex')) return 'left';
  const state = trustState(where);
  if (state === undefined) return 'left';
  if (isFailure(state)) {
    tellProblems([state], io);
    return 'failed';
  }
  const count = state.untrusted.length - state.changed.length;
  if (state.changed.length > 0) {
    const events = state.changed.join(', ');
    warn(
      io,
      `Codex knows other hooks in place of ours (${events}): review them in Codex, by /hooks.`,
    );
  }
  if (count === 0) return 'left';
  const canAsk = io.stdinIsTerminal && io.err.isTerminal && !flags.yes;
  const question = `Trust these hooks in ${state.path}, so that Codex runs them?`;
  const isTrusted = flags['trust-hooks'] || (canAsk && orThrow(await asks.ask(question)));
  if (!isTrusted) return 'left';
  const result = state.apply();
  return isFailure(result) && tellProblems([result], io) ? 'failed' : 'trusted';
}

/** For programs. */
export function hookParts({ files, applied }: OfferedHooks): readonly object[] {
  return files.map((file) => ({
    client: file.client.id,
    path: file.path,
    managed: file.isManaged,
    changes: file.isChanged,
    diff: file.diff,
    applied: applied.has(file),
    by_hand: file.byHand ?? null,
    limits: limitsOf(file.hooks, file.isManaged),
  }));
}
