import { isFailure } from '@subluminal/contracts';
import { shellWord } from '@subluminal/core/visible';
import { adoptionStatus, hookStatus, type StatusFile } from '@subluminal/plane/clients/setup';
import { type Whereabouts, whereabouts } from '../adopt/wish.ts';
import { unfoundPath, writtenText } from '../init/offer-starter.ts';
import { previewPolicy, previewText } from '../init/preview.ts';
import { planStarter, writeStarter } from '../init/starter-policy.ts';
import { USES } from '../init/survey-project.ts';
import { choice, defineCommand, done, EXIT, orThrow, textOption } from '../input/command.ts';
import { type Asker, asker } from '../terminal/confirm.ts';
import type { Io } from '../terminal/io.ts';
import { warn } from '../terminal/report-failure.ts';
import { harmless, harmlessLine, jsonText, plural } from '../terminal/text.ts';

export const command = defineCommand({
  description:
    'Looks at the project and at the agent clients found, writes a commented starter policy to .subluminal/policy.yaml, and shows what it would do to the last recorded calls. The starters close files with keys, .git and the policy itself, keep writes inside the project, ask before pushes, publishing and deleting, have budgets and scan contents. On a terminal it then offers `sub import`. An existing policy stays as it is without --force.',
  options: {
    use: choice(USES, 'Which starter (default: chosen by what the project shows)'),
    project: textOption('dir', 'The folder of the project (default: the current folder)'),
    force: 'Replace the policy that is there; the old one is kept beside it',
    'dry-run': 'Print the policy, and write nothing',
  },
  examples: ['sub init', 'sub init --use team', 'sub init --use read-only --dry-run'],
  exitCodes: {
    0: 'the policy is written, or printed with --dry-run',
    2: 'wrong flags, a policy that is there already, or a file that cannot be read or written',
  },
  requires: 'person',
  run: async ({ options }, io) => {
    const where = orThrow(await whereabouts(options.project));
    const files = clientFiles(where);
    const clients = [...new Set(files.map(({ title }) => title))];
    const plan = orThrow(planStarter({ ...where, use: options.use, clients }));
    const isDry = options['dry-run'];
    const kept = isDry ? undefined : await writeStarter(plan, options.force);
    // The policy is written by now, so a ledger that cannot be read is no reason to end.
    const tried = await previewPolicy(plan, io);
    const preview = isFailure(tried) ? undefined : tried;
    if (isFailure(tried)) warn(io, `no preview: ${tried.message} ${tried.fix} [${tried.code}]`);
    if (options.json) {
      const { path: file, use, why, survey, text: policy } = plan;
      const written = !isDry;
      io.out.write(
        jsonText({ file, use, why, found: survey.found, clients, written, kept, policy, preview }),
      );
      return done(EXIT.fine);
    }
    if (isDry) io.out.write(plan.text);
    else io.out.write(writtenText(plan, kept));
    // With --dry-run, standard output is the policy alone.
    if (!isFailure(tried)) (isDry ? io.err : io.out).write(previewText(tried, io));
    if (isDry) return done(EXIT.fine);
    const path = unfoundPath(plan, where, io);
    const asks = asker(io, false);
    asks.noteChange();
    try {
      return done(await offerImport({ files, unhooked: unhookedClients(where), path, asks, io }));
    } finally {
      await asks.close();
    }
  },
});

function clientFiles(where: Whereabouts): readonly StatusFile[] {
  return adoptionStatus({ ...where, own: ownCall() }).files;
}

function unhookedClients(where: Whereabouts): readonly string[] {
  const status = hookStatus({ ...where, own: ownCall() });
  return status.filter(({ state }) => state === 'session').map(({ title }) => title);
}

function ownCall() {
  return { runtime: process.execPath, script: process.argv[1] };
}

interface ImportOffer {
  readonly files: readonly StatusFile[];
  /** Clients that could have hooks, and have none. */
  readonly unhooked: readonly string[];
  /** The policy, where it has to be named. */
  readonly path: string | undefined;
  readonly asks: Asker;
  readonly io: Io;
}

/** Offers to govern the servers that are not; without a terminal, it prints the command. */
async function offerImport({ files, unhooked, path, asks, io }: ImportOffer): Promise<number> {
  const named = path === undefined ? '' : ` --policy ${shellWord(path)}`;
  // Those that git shares with others are not imported by `sub import` alone.
  const shared = openServers(files.filter(({ isShared }) => isShared));
  const words = openServers(files.filter(({ isShared }) => !isShared));
  if (shared !== undefined) {
    const text = `Not offered, because git shares them with others: ${shared}. To govern them: sub import --shared${named}`;
    io.out.write(harmlessLine(text));
  }
  if (words === undefined) {
    if (shared !== undefined) return EXIT.fine;
    const isHeld = path === undefined && hasServer(files, 'governed');
    const text = isHeld
      ? 'Your servers are governed: it holds from their next start on.'
      : `No server waits to be governed. When one does: sub import${named}`;
    io.out.write(harmlessLine(text));
    if (unhooked.length > 0) {
      const tools = `The own tools of ${unhooked.join(', ')} (shell, edits, reads) are not governed yet: sub import --hooks${named}`;
      io.out.write(harmlessLine(tools));
    }
    return EXIT.fine;
  }
  const isTerminal = io.stdinIsTerminal && io.err.isTerminal;
  if (isTerminal && orThrow(await asks.ask(harmless(`Govern ${words} now, with sub import?`)))) {
    const { importServers } = await import('./import.ts');
    return importServers(path, io, asks);
  }
  io.out.write(harmlessLine(`Next, to govern ${words}: sub import${named}`));
  return EXIT.fine;
}

/** `2 servers of Claude Code, Codex`: those that are not governed; undefined when there are none. */
function openServers(files: readonly StatusFile[]): string | undefined {
  const open = files.flatMap(({ title, servers }) =>
    servers.filter(({ state }) => state === 'open').map(() => title),
  );
  if (open.length === 0) return undefined;
  return `${plural(open.length, 'server')} of ${[...new Set(open)].join(', ')}`;
}

function hasServer(files: readonly StatusFile[], state: string): boolean {
  return files.some(({ servers }) => servers.some((server) => server.state === state));
}
