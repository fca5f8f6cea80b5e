// What a container is given of this machine. What runs inside of it is not of this machine.
import type { SpecialRun } from './builtin-runs.ts';
import { type OptionValue, type ParsedArguments, parseArguments } from './options.ts';
import { programSpec } from './programs/index.ts';
import type { ScriptOutline } from './script-outline.ts';
import { type NamedRun, useArguments, useValues } from './use-arguments.ts';

/** `docker container run` is `docker run`. */
const GROUP = /^(?:container|image|builder|service|pod)$/;

export const container: SpecialRun = (outline, run) => {
  const spec = programSpec('docker');
  const own = parseArguments(run.args, spec, { stopsAtOperand: true });
  useValues(outline, run, own);
  const given = run.args.slice(own.operandsAt);
  const isGrouped = given[0]?.texts.every((text) => GROUP.test(text)) === true;
  const [verb, ...args] = isGrouped ? given.slice(1) : given;
  for (const name of verb?.texts ?? []) {
    const inner = spec.commands?.get(name) ?? spec;
    // Behind the image stands what the container runs.
    const stopsAtOperand = /^(?:run|create|exec)$/.test(name);
    const parsed = parseArguments(args, inner, { stopsAtOperand });
    const values = parsed.values.map(withHostFolders);
    for (const text of values.filter(({ role }) => role === 'change').flatMap(textsOf))
      outline.findings.addTree(text, run.folders);
    useArguments(outline, run, { spec: inner, parsed: { ...parsed, values } });
    if (name === 'compose') noteProject(outline, run, parsed);
    if (/^(?:build|buildx|cp|bake)$/.test(name)) noteContext(outline, run, { name, parsed });
    for (const text of args.flatMap(({ texts }) => texts)) {
      const [, host] = /^([\w-]+(?:\.[\w-]+)+(?::\d+)?)\//.exec(text) ?? [];
      if (host !== undefined) outline.findings.add('host', host, run.folders);
    }
  }
};

export const compose: SpecialRun = (outline, run, parsed) => {
  useValues(outline, run, parsed);
  noteProject(outline, run, parsed);
};

function textsOf({ value }: OptionValue): readonly string[] {
  return value.texts;
}

/** The folders of this machine in `-v ./data:/data` and `--mount type=bind,source=./data`. */
function withHostFolders(one: OptionValue): OptionValue {
  if (one.option !== '--mount' && one.role !== 'change') return one;
  const folders = one.option === '--mount' ? mountedFolder : hostFolder;
  return {
    ...one,
    role: 'change',
    value: { ...one.value, texts: one.value.texts.flatMap(folders) },
  };
}

/** A name without a slash is a volume. */
function hostFolder(text: string): readonly string[] {
  return /^[./~\0]/.test(text) ? [text.split(':', 1)[0] ?? ''] : [];
}

function mountedFolder(text: string): readonly string[] {
  return text.split(',').flatMap((part) => {
    const [, folder = ''] = /^(?:source|src)=(.*)$/s.exec(part) ?? [];
    return hostFolder(folder);
  });
}

/** Show the environment or the configuration, or build and mount what stands in it. */
const COMPOSE_USES = /^(?:up|run|build|create|watch|config|convert|publish)$/;

/** A project of compose reads `.env` by itself, and what its file says: it lies in its folder. */
function noteProject(
  { findings }: ScriptOutline,
  { folders }: NamedRun,
  { operands, values }: ParsedArguments,
): void {
  if (!operands.some(({ texts }) => texts.some((text) => COMPOSE_USES.test(text)))) return;
  const of = (pattern: RegExp) =>
    values.filter(({ option }) => pattern.test(option)).flatMap(textsOf);
  const project = of(/^--project-directory$/);
  const files = of(/^(?:-f|--file)$/).map(
    (file) => file.slice(0, Math.max(0, file.lastIndexOf('/'))) || '.',
  );
  const roots = project.length > 0 ? project : files;
  for (const root of roots.length > 0 ? roots : ['.']) findings.addTree(root, folders);
}

interface BuildCommand {
  readonly name: string;
  readonly parsed: ParsedArguments;
}

/** All of the folder of a build is sent; `cp` sends what stands first. */
function noteContext(
  { findings }: ScriptOutline,
  { folders }: NamedRun,
  { name, parsed }: BuildCommand,
): void {
  const [first, ...others] = parsed.operands.flatMap(({ texts }) => texts);
  if (name === 'buildx' && first === 'bake') return findings.addTree('.', folders);
  const isVerb = name === 'buildx';
  if (isVerb && first !== 'build') return;
  const context = isVerb ? others[0] : first;
  if (context !== undefined && !/^[\w-]+:/.test(context)) findings.addTree(context, folders);
}
