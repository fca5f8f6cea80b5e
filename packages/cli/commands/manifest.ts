// `sub manifest`: write, check and show manifests.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Failure, isFailure } from '@subluminal/contracts';
import {
  compileManifest,
  type Manifest,
  proposeManifest,
  toolRows,
} from '@subluminal/core/surface';
import { ensurePrivateFolder } from '@subluminal/plane/config';
import { sha256 } from '@subluminal/plane/crypto';
import type { ServerListing } from '@subluminal/plane/probe';
import { loadManifest, manifestFileName } from '@subluminal/plane/surface';
import {
  badUsage,
  defineCommand,
  done,
  EXIT,
  type OptionValues,
  optionalMany,
  orThrow,
  printout,
  textOption,
} from '../input/command.ts';
import { errorCode, STDIO, stdinTwice, unreadable } from '../input/read-file.ts';
import {
  CLIENT_OPTION,
  COMMAND_LINE_DOC,
  NO_PROBE,
  REMOTE_OPTIONS,
  SERVER_DOC,
  TIMEOUT_OPTION,
} from '../input/shared-options.ts';
import { createNewFile, occupied, replaceFile } from '../input/write-file.ts';
import { renderProblem } from '../policy/render-problem.ts';
import { type CheckedFile, checkFile } from '../surface/check-manifest.ts';
import { commandBehind, probeLive } from '../surface/probe-live.ts';
import { countWords, otherLines, toolLines } from '../surface/render-manifest.ts';
import { type SurfaceHome, surfaceHome } from '../surface/surface-home.ts';
import type { Colors, Io } from '../terminal/io.ts';
import { reportFailure, warn } from '../terminal/report-failure.ts';
import { harmless, harmlessLine, jsonText, plural } from '../terminal/text.ts';

const INIT_OPTIONS = {
  client: CLIENT_OPTION,
  ...REMOTE_OPTIONS,
  output: textOption('file', 'Write it to this file instead; - is standard output', 'o'),
  force: 'Replace an existing manifest',
  timeout: TIMEOUT_OPTION,
};

export const init = defineCommand({
  description:
    'Starts the server as its client would, or reaches it by its address, lists its tools, prompts and resources, stops it, and writes a cautious manifest: a tool that reads by its name is allowed at a modest rate, a tool that may change something asks for approval, a tool that looks destructive is forbidden. Review it before you rely on it: the server chooses the names.',
  args: { server: SERVER_DOC, 'command-line': optionalMany(COMMAND_LINE_DOC) },
  options: INIT_OPTIONS,
  examples: [
    'sub manifest init github',
    'sub manifest init github --client cursor --force',
    'sub manifest init files --output - -- npx -y @modelcontextprotocol/server-filesystem /srv',
    'sub manifest init linear --url https://mcp.linear.app/mcp --bearer-env LINEAR_TOKEN',
  ],
  exitCodes: { 0: 'the manifest is written', 2: NO_PROBE },
  requires: 'person',
  run: async ({ args, options }, io) => {
    const given = { server: args.server, words: args['command-line'], options };
    const { server, start } = orThrow(commandBehind(given));
    const path = orThrow(await targetOf(server, options));
    const { client, timeout, force } = options;
    const live = await probeLive({ server, client, timeout, start }, io);
    if (live.kind !== 'seen') return live;
    const { seen, transport } = live;
    for (const note of seen.notes) warn(io, note);
    const { tools, prompts, resources, serverInfo } = seen;
    const offered = { serverInfo, tools, prompts, resources };
    const text = proposeManifest({ server, transport, ...offered });
    const compiled = await compileManifest({ file: path ?? STDIO, text }, { sha256 });
    if (!compiled.ok) {
      throw new Error(`a proposal does not compile: ${compiled.problems[0]?.message}`);
    }
    const { manifest } = compiled;
    const rows = toolRows(manifest).map(({ name, tier }) => ({ name, tier }));
    const counts = { prompts: prompts.length, resources: resources.length };
    const document = { server: manifest.server, path, tools: rows, ...counts, manifest: text };
    if (path === null) {
      if (!options.json) io.err.write(reportText(manifest, seen, io.err.colors));
      // The manifest itself holds hostile text only where it was made harmless.
      return printout(document, text);
    }
    orThrow(await (force ? replaceFile(path, text) : createNewFile({ path, text, mode: 0o600 })));
    const readIt = harmlessLine(`Wrote ${path}. Read it: names are chosen by the server.`);
    return printout(document, reportText(manifest, seen, io.out.colors) + readIt);
  },
});

/** The path of the new manifest, null for standard output. Checked before the server is started. */
async function targetOf(
  server: string,
  { output, force }: OptionValues<typeof INIT_OPTIONS>,
): Promise<string | null | Failure> {
  if (server === '') return badUsage('the name of the server is empty.', 'Name it.');
  if (output === STDIO) return null;
  const { home, folder } = await surfaceHome();
  if (output === undefined) {
    for (const one of [home, folder]) orThrow(ensurePrivateFolder(one));
  }
  const path = output ?? join(folder, manifestFileName(server));
  const taken = force ? undefined : await occupied(path);
  if (taken === undefined) return path;
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

/** A file that could not be read is a finding of its own; the others are still checked. */
type Checked = CheckedFile | (Failure & { readonly name: string });

const FILES_MAX = 1_000;

export const check = defineCommand({
  description:
    'Reads manifests as a shim does and prints every problem with its position and a likely fix. In the folder of the manifests it also checks that each file is named after its server and writable only by its owner.',
  args: { file: optionalMany('Manifests (default: all in the folder of the manifests)') },
  examples: ['sub manifest check', 'sub manifest check drafts/github.yaml'],
  exitCodes: {
    0: 'all manifests are usable',
    1: 'a manifest has problems',
    2: 'wrong flags, or a file that cannot be read',
  },
  run: async ({ args }, io) => {
    const home = await surfaceHome();
    const paths = orThrow(args.file.length > 0 ? args.file : await allIn(home));
    orThrow(stdinTwice(paths));
    const checked: Checked[] = [];
    // One after the other, so that the report keeps the order of the arguments.
    for (const path of paths) {
      const one = await checkFile(path, home, io);
      checked.push(isFailure(one) ? { ...one, name: path } : one);
    }
    for (const one of checked) if (isFailure(one)) reportFailure(one, io);
    const read = checked.filter((one) => !isFailure(one));
    const text = read.map((one) => checkedText(one, io)).join('');
    const isWrong = read.some(({ problems }) => problems.length > 0);
    const exitCode = isWrong ? EXIT.findings : EXIT.fine;
    return printout(
      { files: checked.map(checkedDocument) },
      checked.length === 0 ? harmlessLine(`There is no manifest in ${home.folder}.`) : text,
      read.length < checked.length ? EXIT.usage : exitCode,
    );
  },
});

async function allIn({ folder }: SurfaceHome): Promise<readonly string[] | Failure> {
  try {
    const names = readdirSync(folder).filter((name) => /\.ya?ml$/i.test(name));
    if (names.length <= FILES_MAX) return names.toSorted().map((name) => join(folder, name));
    return badUsage(`${folder} has more than ${FILES_MAX} manifests.`, 'Name the files to check.');
  } catch (cause) {
    return errorCode(cause) === 'ENOENT' ? [] : unreadable(folder, cause);
  }
}

function checkedText({ name, manifest, problems, lines }: CheckedFile, io: Io): string {
  const { colors, columns } = io.out;
  const shown = problems.map((problem) => renderProblem(problem, { lines, colors, columns }));
  if (problems.length > 0) {
    return `${shown.join('')}${harmless(name)}: ${plural(problems.length, 'error')}\n`;
  }
  const words = manifest === undefined ? 'no problems' : countWords(manifest);
  return `${colors.green('✔')} ${harmless(`${name}: ${words}`)}\n`;
}

function checkedDocument(one: Checked) {
  if (isFailure(one)) {
    const { name, code, message, fix } = one;
    return { file: name, ok: false, server: null, problems: [], error: { code, message, fix } };
  }
  const { name, manifest, problems } = one;
  return { file: name, ok: problems.length === 0, server: manifest?.server ?? null, problems };
}

const HASH_SHOWN = 12;

export const show = defineCommand({
  description:
    'Prints which file is in force for the server, and in words what it allows: each tool with its tier and its limits, the treatment of tools that are not listed, parameters, prompts, resources, the breaker and the size of answers.',
  args: { server: SERVER_DOC },
  examples: ['sub manifest show github', 'sub manifest show github --json'],
  exitCodes: {
    0: 'the manifest is shown, or there is none',
    1: 'the manifest has problems and is not in force',
    2: 'wrong flags, or a configuration that cannot be read',
  },
  run: async ({ args, options }, io) => {
    const home = await surfaceHome();
    const { server } = args;
    const { folder, profile } = home;
    const loaded = await loadManifest({ folder, server, profile });
    const { path } = loaded;
    const manifest = loaded.kind === 'manifest' ? loaded.manifest : undefined;
    const problems = loaded.kind === 'problems' ? loaded.problems : [];
    if (options.json) {
      const { manifest_hash: hash = null, document = null } = manifest ?? {};
      const tools = manifest === undefined ? [] : toolRows(manifest);
      io.out.write(jsonText({ server, path, hash, tools, manifest: document, problems }));
    } else if (manifest !== undefined) {
      const hash = manifest.manifest_hash.slice(0, HASH_SHOWN);
      const head = [`${server}: ${countWords(manifest)}`, `${path}, hash ${hash}…`].map(harmless);
      const lines = [...head, ...toolLines(manifest, io.out.colors), ...otherLines(manifest)];
      io.out.write(`${lines.join('\n')}\n`);
    } else if (loaded.kind === 'problems') {
      const { colors, columns } = io.out;
      const lines = loaded.text.split(/\r?\n/);
      for (const one of problems) io.out.write(renderProblem(one, { lines, colors, columns }));
      const without =
        profile === 'production' ? 'does not start' : 'starts without a manifest, and says so';
      io.out.write(harmlessLine(`A shim of ${server} ${without}.`));
    } else {
      const none = `${server} has no manifest: all that it lists is shown. ${path} would be its file.`;
      io.out.write(`${harmless(none)}\nWrite one: sub manifest init ${harmless(server)}\n`);
    }
    return done(problems.length > 0 ? EXIT.findings : EXIT.fine);
  },
});
