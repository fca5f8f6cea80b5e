import { join } from 'node:path';
import { type Failure, isFailure } from '@subluminal/contracts';
import { compileManifest, type Manifest, proposeManifest } from '@subluminal/core/surface';
import { ensurePrivateFolder } from '@subluminal/plane/config';
import { sha256 } from '@subluminal/plane/crypto';
import type { ServerListing } from '@subluminal/plane/probe';
import { manifestFileName } from '@subluminal/plane/surface';
import {
  badUsage,
  defineCommand,
  done,
  EXIT,
  flag,
  type OptionValues,
  optionalMany,
  required,
  textOption,
} from '../input/command.ts';
import { STDIO } from '../input/read-file.ts';
import {
  CLIENT_OPTION,
  COMMAND_LINE_DOC,
  JSON_FLAG,
  NO_PROBE,
  SERVER_DOC,
  TIMEOUT_OPTION,
} from '../input/shared-options.ts';
import { createNewFile, occupied, replaceFile } from '../input/write-file.ts';
import { commandBehind, probeLive } from '../surface/probe-live.ts';
import { countWords, toolLines, toolRows } from '../surface/render-manifest.ts';
import { surfaceHome } from '../surface/surface-home.ts';
import type { Io } from '../terminal/io.ts';
import { harmless, jsonText, plural } from '../terminal/text.ts';

const OPTIONS = {
  client: CLIENT_OPTION,
  output: textOption('file', 'Write it to this file instead; - is standard output', 'o'),
  force: flag('Replace an existing manifest'),
  timeout: TIMEOUT_OPTION,
  json: JSON_FLAG,
};

export const command = defineCommand({
  description:
    'Starts the server as its client would, lists its tools, prompts and resources, stops it, and writes a cautious manifest: a tool that reads by its name is allowed at a modest rate, a tool that may change something asks for approval, a tool that looks destructive is forbidden. Review it before you rely on it: the server chooses the names.',
  args: { server: required(SERVER_DOC), 'command-line': optionalMany(COMMAND_LINE_DOC) },
  options: OPTIONS,
  examples: [
    'sub manifest init github',
    'sub manifest init github --client cursor --force',
    'sub manifest init files --output - -- npx -y @modelcontextprotocol/server-filesystem /srv',
  ],
  exitCodes: { 0: 'the manifest is written', 2: NO_PROBE },
  requires: 'person',
  run: async ({ args, options }, io) => {
    const words = commandBehind(args.server, args['command-line']);
    if (isFailure(words)) return words;
    const target = await targetOf(args.server, options);
    if (isFailure(target)) return target;
    const { server } = words;
    const { client, timeout } = options;
    const live = await probeLive({ server, client, timeout, command: words.command }, io);
    if (live.kind === 'ended') return live.outcome;
    const { seen } = live;
    const text = proposalFor(server, seen);
    const compiled = await compileManifest({ file: target.path ?? STDIO, text }, { sha256 });
    if (!compiled.ok)
      throw new Error(`a proposal does not compile: ${compiled.problems[0]?.message}`);
    const written = await write(target, text);
    if (isFailure(written)) return written;
    const { manifest } = compiled;
    printReport({ manifest, seen, text, path: target.path, isJson: options.json }, io);
    return done(EXIT.fine);
  },
});

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
  const home = await surfaceHome();
  if (isFailure(home)) return home;
  if (output === undefined) {
    for (const folder of [home.paths.home, home.folder]) {
      const unsafe = ensurePrivateFolder(folder);
      if (unsafe !== undefined) return unsafe;
    }
  }
  const path = output ?? join(home.folder, manifestFileName(server));
  const taken = force ? undefined : await occupied(path);
  if (taken === undefined) return { kind: 'target', path, isReplaced: force };
  return { ...taken, fix: 'Add --force to replace it, or look at it with `sub manifest show`.' };
}

function proposalFor(server: string, seen: ServerListing): string {
  const { tools, prompts, resources, serverInfo } = seen;
  return proposeManifest({ server, transport: 'stdio', serverInfo, tools, prompts, resources });
}

async function write({ path, isReplaced }: ManifestTarget, text: string) {
  if (path === null) return undefined;
  return isReplaced ? replaceFile(path, text) : createNewFile({ path, text, mode: 0o600 });
}

interface InitReport {
  readonly manifest: Manifest;
  readonly seen: ServerListing;
  readonly text: string;
  readonly path: string | null;
  readonly isJson: boolean;
}

function printReport({ manifest, seen, text, path, isJson }: InitReport, io: Io): void {
  const { server } = manifest;
  if (isJson) {
    const tools = toolRows(manifest).map(({ name, tier }) => ({ name, tier }));
    const counts = { prompts: seen.prompts.length, resources: seen.resources.length };
    io.out.write(jsonText({ server, path, tools, ...counts, manifest: text }));
    return;
  }
  // The manifest itself holds hostile text only where it was made harmless.
  if (path === null) io.out.write(text);
  const out = path === null ? io.err : io.out;
  const { prompts, resources, templates } = seen;
  const others = [plural(prompts.length, 'prompt'), plural(resources.length, 'resource')];
  const head = `${server}: ${countWords(manifest)}; ${others.join(' and ')} not shown`;
  const lines = [harmless(head), ...toolLines(manifest, out.colors)];
  if (templates.length > 0) {
    lines.push(
      `${plural(templates.length, 'resource template')} are left out: allow by \`uri\` globs.`,
    );
  }
  if (path !== null) {
    lines.push(harmless(`Wrote ${path}. Read it: names are chosen by the server.`));
  }
  out.write(`${lines.join('\n')}\n`);
}
