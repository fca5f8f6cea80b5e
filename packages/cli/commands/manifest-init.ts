import { join } from 'node:path';
import type { Failure } from '@subluminal/contracts';
import { compileManifest, type Manifest, proposeManifest } from '@subluminal/core/surface';
import { ensurePrivateFolder } from '@subluminal/plane/config';
import { sha256 } from '@subluminal/plane/crypto';
import type { ServerListing } from '@subluminal/plane/probe';
import { manifestFileName } from '@subluminal/plane/surface';
import {
  badUsage,
  defineCommand,
  type OptionValues,
  optionalMany,
  orThrow,
  printout,
  textOption,
} from '../input/command.ts';
import { STDIO } from '../input/read-file.ts';
import {
  CLIENT_OPTION,
  COMMAND_LINE_DOC,
  NO_PROBE,
  SERVER_DOC,
  TIMEOUT_OPTION,
} from '../input/shared-options.ts';
import { createNewFile, occupied, replaceFile } from '../input/write-file.ts';
import { commandBehind, probeLive } from '../surface/probe-live.ts';
import { countWords, toolLines, toolRows } from '../surface/render-manifest.ts';
import { surfaceHome } from '../surface/surface-home.ts';
import type { Colors } from '../terminal/io.ts';
import { harmless, harmlessLine, plural } from '../terminal/text.ts';

const OPTIONS = {
  client: CLIENT_OPTION,
  output: textOption('file', 'Write it to this file instead; - is standard output', 'o'),
  force: 'Replace an existing manifest',
  timeout: TIMEOUT_OPTION,
};

export const command = defineCommand({
  description:
    'Starts the server as its client would, lists its tools, prompts and resources, stops it, and writes a cautious manifest: a tool that reads by its name is allowed at a modest rate, a tool that may change something asks for approval, a tool that looks destructive is forbidden. Review it before you rely on it: the server chooses the names.',
  args: { server: SERVER_DOC, 'command-line': optionalMany(COMMAND_LINE_DOC) },
  options: OPTIONS,
  examples: [
    'sub manifest init github',
    'sub manifest init github --client cursor --force',
    'sub manifest init files --output - -- npx -y @modelcontextprotocol/server-filesystem /srv',
  ],
  exitCodes: { 0: 'the manifest is written', 2: NO_PROBE },
  requires: 'person',
  run: async ({ args, options }, io) => {
    const words = orThrow(commandBehind(args.server, args['command-line']));
    const target = orThrow(await targetOf(args.server, options));
    const { server } = words;
    const { client, timeout } = options;
    const live = await probeLive({ server, client, timeout, command: words.command }, io);
    if (live.kind === 'ended') return live.outcome;
    const { seen } = live;
    const { tools, prompts, resources, serverInfo } = seen;
    const offered = { serverInfo, tools, prompts, resources };
    const text = proposeManifest({ server, transport: 'stdio', ...offered });
    const { path, isReplaced } = target;
    const compiled = await compileManifest({ file: path ?? STDIO, text }, { sha256 });
    if (!compiled.ok)
      throw new Error(`a proposal does not compile: ${compiled.problems[0]?.message}`);
    if (path !== null) {
      orThrow(
        await (isReplaced ? replaceFile(path, text) : createNewFile({ path, text, mode: 0o600 })),
      );
    }
    const { manifest } = compiled;
    const rows = toolRows(manifest).map(({ name, tier }) => ({ name, tier }));
    const counts = { prompts: prompts.length, resources: resources.length };
    const document = { server: manifest.server, path, tools: rows, ...counts, manifest: text };
    if (path !== null)
      return printout(document, reportText(manifest, seen, io.out.colors) + readIt(path));
    if (!options.json) io.err.write(reportText(manifest, seen, io.err.colors));
    // The manifest itself holds hostile text only where it was made harmless.
    return printout(document, text);
  },
});

function readIt(path: string): string {
  return harmlessLine(`Wrote ${path}. Read it: names are chosen by the server.`);
}

interface ManifestTarget {
  readonly kind: 'target';
  /** Null for standard output. */
  readonly path: string | null;
  readonly isReplaced: boolean;
}

/** Looked at before the server is started for nothing. */
async function targetOf(
  server: string,
  { output, force }: OptionValues<typeof OPTIONS>,
): Promise<ManifestTarget | Failure> {
  if (server === '') return badUsage('the name of the server is empty.', 'Name it.');
  if (output === STDIO) return { kind: 'target', path: null, isReplaced: false };
  const home = orThrow(await surfaceHome());
  if (output === undefined) {
    for (const folder of [home.paths.home, home.folder]) {
      orThrow(ensurePrivateFolder(folder));
    }
  }
  const path = output ?? join(home.folder, manifestFileName(server));
  const taken = force ? undefined : await occupied(path);
  if (taken === undefined) return { kind: 'target', path, isReplaced: force };
  return { ...taken, fix: 'Add --force to replace it, or look at it with `sub manifest show`.' };
}

function reportText(manifest: Manifest, seen: ServerListing, colors: Colors): string {
  const { prompts, resources, templates } = seen;
  const others = [plural(prompts.length, 'prompt'), plural(resources.length, 'resource')];
  const head = `${manifest.server}: ${countWords(manifest)}; ${others.join(' and ')} not shown`;
  const lines = [harmless(head), ...toolLines(manifest, colors)];
  if (templates.length > 0) {
    const left = plural(templates.length, 'resource template');
    lines.push(`${left} are left out: allow by \`uri\` globs.`);
  }
  return `${lines.join('\n')}\n`;
}
