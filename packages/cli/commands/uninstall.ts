import { existsSync } from 'node:fs';
import { type Failure, failure, isFailure } from '@subluminal/contracts';
import { planRestore, type RestoreFile } from '@subluminal/plane/clients/setup';
import { findPolicies, loadConfig, userHome } from '@subluminal/plane/config';
import { createLedgerClient } from '@subluminal/plane/ingest';
import { openTrust } from '@subluminal/plane/policy';
import { askSteward, controlSocket } from '@subluminal/plane/steward-socket';
import {
  type FoundLedger,
  type HomeContents,
  homeContents,
  livingRuns,
  purgeRefusal,
  removableLedger,
  removeContents,
} from '@subluminal/plane/uninstall';
import { forgetVaultKey } from '@subluminal/plane/vault';

import { problemParts, tellProblems } from '../adopt/lines.ts';
import { printRestore, restoreFiles, restoreParts } from '../adopt/restore-files.ts';
import { type Whereabouts, whereabouts } from '../adopt/wish.ts';
import { defineCommand, done, EXIT, type OptionValues, orThrow } from '../input/command.ts';
import { YES_FLAG } from '../input/shared-options.ts';
import { stopDaemon } from '../ledger/stop-daemon.ts';
import { confirm } from '../terminal/confirm.ts';
import type { Io } from '../terminal/io.ts';
import { warn } from '../terminal/report-failure.ts';
import {
  displayWidth,
  harmlessLine,
  jsonText,
  padded,
  plural,
  sizeText,
} from '../terminal/text.ts';

const OPTIONS = {
  purge: 'Also remove the ledger, the secrets, the keys and everything else in the home of sub',
  'dry-run': 'Print what would change, and change nothing',
  yes: YES_FLAG,
};
const PACKAGE = 'Remove the package itself with: npm rm -g subluminal\n';

export const command = defineCommand({
  description:
    'Restores the config of every client, also of a `sub wrap` that was killed, stops the ledger daemon, and lists what it leaves: the ledger, your policy, secrets and keys. --purge removes those for good. It refuses while Steward runs, and the removal while a run is alive, when a config could not be restored, and where the home or the ledger does not look like one of Subluminal. Policies of projects always stay.',
  options: OPTIONS,
  examples: ['sub uninstall', 'sub uninstall --purge --dry-run', 'sub uninstall --purge --yes'],
  exitCodes: {
    0: 'it is done, there was nothing to do, or you declined',
    2: 'wrong flags, no terminal to ask on, a config that cannot be restored, a Steward that runs, a daemon that does not end, or with --purge a run that is still alive, or a file that is not of Subluminal or cannot be removed',
  },
  requires: 'person',
  run: async ({ options }, io) => {
    const installation = await findInstallation(orThrow(await whereabouts(undefined)));
    const { where, socket } = installation;
    await refuseBesideSteward(where.paths.run);
    const runs = livingRuns(where.paths);
    if (options.purge) orThrow(purgeObstacle(installation, runs));
    const live = runs?.map(runText) ?? [];
    const plan = orThrow(await planRestore({ ...where, isProjectOnly: false }));
    tellProblems(plan.problems, io);
    const daemon = (await createLedgerClient({ socketPath: socket }).status())?.pid ?? null;
    const found: Found = {
      ...plan,
      installation,
      live,
      daemon,
      contents: homeContents(installation),
    };
    if (!options.json) printFound(found, options, io);
    const agreed = options['dry-run'] ? 'nothing' : await agreement(found, options, io);
    const result = agreed === 'yes' ? await uninstall(found, options, io) : NOTHING;
    const problems = [...plan.problems, ...result.problems];
    if (options.json) io.out.write(jsonText(documentOf(found, { ...result, problems })));
    else if (agreed !== 'no') {
      if (!options.purge)
        printContents('What stays; --purge removes it:', homeContents(installation), io);
      io.out.write(closingText(found, result, options));
    }
    return done(problems.length > 0 ? EXIT.usage : EXIT.fine);
  },
});

type Flags = OptionValues<typeof OPTIONS>;

/** It would start the daemon again, and write into what is gone. */
async function refuseBesideSteward(run: string): Promise<void> {
  const status = await askSteward(controlSocket(run), 'status', { input: {} });
  if (isFailure(status)) return;
  const message = `Steward runs (pid ${status.pid}).`;
  orThrow(failure('SUB_LEDGER_BUSY', message, 'Run `sub steward stop` first.'));
}

/** What of Subluminal is on this machine, and where. */
interface Installation {
  readonly where: Whereabouts;
  readonly paths: Whereabouts['paths'];
  readonly ledger: FoundLedger;
  readonly socket: string;
  readonly userHome: string;
}

/** With a broken configuration, everything is looked for in its usual place. */
async function findInstallation(where: Whereabouts): Promise<Installation> {
  const { env, paths } = where;
  const loaded = await loadConfig({ env, flags: {}, cwd: where.project });
  const path = loaded.ok ? loaded.config['ledger.path'] : paths.ledger;
  const ledger = await removableLedger(path, paths.ledger);
  const socket = loaded.ok ? loaded.config['ledger.socket'] : paths.socket;
  return { where, paths, ledger, socket, userHome: userHome(env) };
}

interface Found {
  readonly installation: Installation;
  readonly files: readonly RestoreFile[];
  readonly problems: readonly Failure[];
  readonly live: readonly string[];
  /** The process of the daemon. */
  readonly daemon: number | null;
  readonly contents: HomeContents;
}

interface Result {
  readonly restored: ReadonlySet<RestoreFile>;
  readonly stopped: number | null;
  readonly removed: readonly string[];
  readonly problems: readonly Failure[];
}

const NOTHING: Result = { restored: new Set(), stopped: null, removed: [], problems: [] };

type LivingRuns = ReturnType<typeof livingRuns>;

function runText({ runId, processes }: NonNullable<LivingRuns>[number]): string {
  const words = processes.map(({ pid, isHere }) => (isHere ? `${pid}` : `${pid} elsewhere`));
  return `run ${runId} (${words.length === 1 ? 'process' : 'processes'} ${words.join(', ')})`;
}

function purgeObstacle(installation: Installation, runs: LivingRuns): Failure | undefined {
  if (runs === undefined) {
    const { run } = installation.paths;
    const message = `it is unknown which runs are alive: not all files in ${run} can be read.`;
    const fix =
      'Remove the files `agent-*` there that are not yours, and those of runs that are over.';
    return failure('SUB_LEDGER_BUSY', message, fix);
  }
  if (runs.length === 0) return purgeRefusal(installation);
  const message = `still running: ${runs.map(runText).join(', ')}.`;
  const unseen = runs.flatMap(({ processes }) => processes).filter(({ isHere }) => !isHere);
  const elsewhere = unseen.map(({ path }) => path).join(', ');
  const hint =
    unseen.length === 0 ? '' : ` If its container or machine is gone, remove ${elsewhere}.`;
  return failure('SUB_LEDGER_BUSY', message, `End it, then purge; nothing was changed.${hint}`);
}

function printFound(
  { files, contents, installation, live }: Found,
  { purge }: Flags,
  io: Io,
): void {
  for (const file of files) printRestore(file, io);
  for (const one of live) {
    warn(io, `${one} still runs: its servers stay behind shims, which start the daemon again.`);
  }
  if (purge) printContents('To be removed for good:', contents, io);
  const others = [...contents.foreign, ...projectPolicies(installation)];
  if (others.length > 0) io.out.write(harmlessLine(`Yours, left alone: ${others.join(', ')}`));
}

function printContents(title: string, { items }: HomeContents, io: Io): void {
  if (items.length === 0) return;
  io.out.write(`${title}\n`);
  const width = Math.max(...items.map(({ path }) => displayWidth(path)));
  for (const { path, bytes, what } of items) {
    io.out.write(harmlessLine(`  ${padded(path, width)}  ${sizeText(bytes)}, ${what}`));
  }
}

/** Policies of projects, as far as they are known here. */
function projectPolicies({ where, paths, userHome: folder }: Installation): readonly string[] {
  const trusted = openTrust(paths.home);
  const known = isFailure(trusted) ? [] : trusted.map(({ path }) => path);
  const { project } = findPolicies({ cwd: where.project, home: paths.home, userHome: folder });
  const all = new Set([...known, ...(project === undefined ? [] : [project])]);
  return [...all].filter((path) => existsSync(path));
}

/** `nothing` where there is nothing to ask about. */
async function agreement(
  found: Found,
  { purge, yes }: Flags,
  io: Io,
): Promise<'yes' | 'no' | 'nothing'> {
  const { files, daemon, contents } = found;
  const parts = [
    ...(files.length > 0 ? [`put ${plural(files.length, 'config')} back`] : []),
    ...(daemon === null ? [] : ['stop the daemon']),
    ...(purge && contents.items.length > 0 ? ['remove the files above for good'] : []),
  ];
  const [first = '', ...rest] = parts;
  if (first === '') return 'nothing';
  const question = [first.charAt(0).toUpperCase() + first.slice(1), ...rest].join(', ');
  const answer = orThrow(await confirm(`${question}?`, io, yes));
  if (!answer) warn(io, 'nothing was changed.');
  return answer ? 'yes' : 'no';
}

async function uninstall(found: Found, { purge }: Flags, io: Io): Promise<Result> {
  const { restored, problems, isIncomplete } = await restoreFiles(found.files, io);
  const stopped = await stopDaemon(found.installation.socket);
  const failed = isFailure(stopped) ? [...problems, stopped] : problems;
  if (isFailure(stopped)) tellProblems([stopped], io);
  const pid = isFailure(stopped) ? null : stopped.pid;
  const result = { restored, stopped: pid, removed: [], problems: failed };
  if (!purge) return result;
  // A config that could not be read has no record here, so nothing of the home can help it.
  const isUnrestored = found.problems.some(({ code }) => code !== 'SUB_CLIENT_CONFIG');
  if (failed.length > 0 || isUnrestored || isIncomplete) {
    const message = 'nothing was removed: the home holds what is still needed, as said above.';
    const held = failure('SUB_CLIENT_RESTORE', message, 'See to that, then purge again.');
    tellProblems([held], io);
    return { ...result, problems: [...failed, held] };
  }
  return { ...result, ...(await removeAll(found.installation, failed, io)) };
}

/** The keychain first: which key is in it, only the store says. */
async function removeAll(
  installation: Installation,
  before: readonly Failure[],
  io: Io,
): Promise<Pick<Result, 'removed' | 'problems'>> {
  if (!(await forgetVaultKey({ home: installation.paths.home }))) {
    warn(io, 'the keychain may still have the key of the secrets: remove `subluminal` there.');
  }
  // Not what was found before: restoring and stopping have changed that.
  const contents = homeContents(installation);
  const problems = removeContents(contents, installation);
  tellProblems(problems, io);
  const removed = contents.items.map(({ path }) => path).filter((path) => !existsSync(path));
  return { removed, problems: [...before, ...problems] };
}

function closingText(found: Found, result: Result, flags: Flags): string {
  const { restored, stopped, removed } = result;
  const { files, daemon, problems, contents } = found;
  if (flags['dry-run']) {
    return daemon === null ? PACKAGE : `The daemon (pid ${daemon}) would be stopped.\n${PACKAGE}`;
  }
  const parts = [
    ...(restored.size > 0 ? [`${plural(restored.size, 'config')} put back`] : []),
    ...(stopped === null ? [] : [`the daemon (pid ${stopped}) stopped`]),
    ...(removed.length > 0 ? ['the files above removed'] : []),
  ];
  const isClean = files.length + problems.length === 0 && daemon === null;
  const isEmpty = !flags.purge || contents.items.length === 0;
  const nothing = isClean && isEmpty ? 'Nothing to do.\n' : '';
  return `${parts.length > 0 ? `Done: ${parts.join(', ')}.\n` : nothing}${PACKAGE}`;
}

function documentOf(found: Found, { restored, stopped, removed, problems }: Result): object {
  const { files, live, installation } = found;
  const { items, foreign } = homeContents(installation);
  return {
    files: files.map((one) => restoreParts(one, restored)),
    stopped,
    live,
    removed,
    left: items.map(({ path, what, bytes }) => ({ path, what, bytes })),
    foreign: [...foreign, ...projectPolicies(installation)],
    problems: problems.map(problemParts),
  };
}
