// Programs that no table describes.
import { BUILTIN_RUNS, type SpecialRun } from './builtin-runs.ts';
import { compose, container } from './container-run.ts';
import { git } from './git-run.ts';
import { LIST_RUNS } from './list-runs.ts';
import { parseArguments } from './options.ts';
import { programSpec } from './programs/index.ts';
import { specOf } from './programs/spec.ts';
import { joinedTexts, useArgument, useArguments, useValues } from './use-arguments.ts';

/** Behind the host stands a command that the other machine runs. */
const ssh: SpecialRun = (outline, run) => {
  const spec = programSpec('ssh');
  const own = parseArguments(run.args, spec, { stopsAtOperand: true });
  for (const { option, role, value } of own.values) {
    const [text = ''] = value.texts;
    const [, inner] = /^(?:ProxyCommand|LocalCommand)[= ](.*)$/is.exec(text) ?? [];
    if (inner !== undefined) outline.runScript(inner, run);
    else if (option !== '-o' || /^Proxy|^HostName/i.test(text))
      useArgument(outline, run, { role, argument: value });
  }
  const [host, ...words] = run.args.slice(own.operandsAt);
  if (host === undefined) return;
  useArgument(outline, run, { role: 'host', argument: host });
  const rest = parseArguments(words, spec, { stopsAtOperand: true });
  for (const line of joinedTexts(outline, words.slice(rest.operandsAt))) {
    if (line !== '') outline.runScript(line, { ...run, feed: undefined });
  }
};

const TAR = specOf({
  operands: ['read'],
  values: {
    '-f --file -C --directory': 'none',
    '-T --files-from -X --exclude-from': 'read',
    '-I --use-compress-program --to-command --checkpoint-action -F --info-script': 'command',
    '--exclude --strip-components --transform --xform --owner --group --mode -b --blocking-factor -H --format --mtime -N --newer -K --one-top-level':
      'none',
  },
});

const tar: SpecialRun = (outline, run) => {
  const [first, ...others] = run.args;
  const isOld = /^[A-Za-z]+$/.test(first?.texts[0] ?? '');
  // `tar xzf a.tgz`: the first word holds options without a dash.
  const args = isOld
    ? [{ texts: [`-${first?.texts[0] ?? ''}`], isProse: false }, ...others]
    : run.args;
  const parsed = parseArguments(args, TAR);
  const has = (...names: readonly string[]) => names.some((name) => parsed.flags.includes(name));
  const isExtracted = has('-x', '--extract', '--get');
  const isRead = isExtracted || has('-t', '--list', '-d', '--diff');
  const folders = parsed.values.filter(({ option }) => option === '-C' || option === '--directory');
  const inside = folders.reduce((at, { value }) => at.below(value.texts), run.folders);
  for (const { option, role, value } of parsed.values) {
    const isFile = option === '-f' || option === '--file';
    if (isFile)
      useArgument(outline, run, { role: isRead ? 'remote_read' : 'remote_write', argument: value });
    else if (role !== 'none') useArgument(outline, run, { role, argument: value });
    else if (folders.some((one) => one.value === value))
      useArgument(outline, run, { role: isExtracted ? 'write' : 'read', argument: value });
  }
  if (isExtracted && folders.length === 0) outline.findings.add('write', '.', run.folders);
  const members = parsed.operands.flatMap(({ texts }) => texts);
  const isRenamed = has('--strip-components', '--transform', '--xform');
  if (isExtracted)
    for (const to of isRenamed || members.length === 0 ? ['.'] : members)
      outline.findings.addPut({ from: undefined, to }, inside);
  if (isRead) return;
  for (const argument of parsed.operands) {
    useArgument(outline, { ...run, folders: inside }, { role: 'read', argument });
    for (const text of argument.texts) outline.findings.addTree(text, inside);
  }
};

const RUNNERS: ReadonlyMap<string, RegExp> = new Map([
  ['npm', /^(?:exec|x)$/],
  ['pnpm', /^(?:exec|dlx)$/],
  ['yarn', /^(?:exec|dlx)$/],
  ['bun', /^(?:x)$/],
  ['uv', /^(?:run)$/],
  ['poetry', /^(?:run)$/],
  ['pipenv', /^(?:run)$/],
  ['hatch', /^(?:run)$/],
  ['pdm', /^(?:run)$/],
  ['rye', /^(?:run)$/],
  ['bundle', /^(?:exec)$/],
]);

/** `npm exec x`, `uv run x`: a program behind a command. */
const packageRun: SpecialRun = (outline, run) => {
  const name = run.path.slice(run.path.lastIndexOf('/') + 1);
  const spec = programSpec(name);
  const own = parseArguments(run.args, spec, { stopsAtOperand: true });
  useValues(outline, run, own);
  const [command, ...words] = run.args.slice(own.operandsAt);
  if (command === undefined) return;
  const isRun = command.texts.some((text) => RUNNERS.get(name)?.test(text) === true);
  if (!isRun) return useArguments(outline, run, { spec, parsed: parseArguments(words, spec) });
  const inner = parseArguments(words, spec, { stopsAtOperand: true });
  useValues(outline, run, inner);
  const args = words.slice(inner.operandsAt);
  if (args.length > 0) outline.run({ ...run, args, isWrapped: true });
};

/** Puts its words together, and gives them to a shell. */
const watch: SpecialRun = (outline, run, parsed) => {
  useValues(outline, run, parsed);
  for (const line of joinedTexts(outline, run.args.slice(parsed.operandsAt))) {
    if (line !== '') outline.runScript(line, run);
  }
};

/** `flock FILE -c 'command'`. */
const flock: SpecialRun = (outline, run, parsed) => {
  useValues(outline, run, parsed);
  const [file, option, ...rest] = run.args.slice(parsed.operandsAt);
  if (file !== undefined) useArgument(outline, run, { role: 'write', argument: file });
  if (option === undefined) return;
  const isLine = /^(?:-c|--command)$/.test(option.texts[0] ?? '');
  if (!isLine) return outline.run({ ...run, args: [option, ...rest], isWrapped: true });
  for (const text of rest[0]?.texts ?? []) outline.runScript(text, run);
};

/** A file of the same name as the end of the address: `curl -O`, `wget`. */
const download: SpecialRun = (outline, run, parsed) => {
  const name = run.path.slice(run.path.lastIndexOf('/') + 1);
  useArguments(outline, run, { spec: programSpec(name), parsed });
  const has = (pattern: RegExp) => parsed.flags.some((flag) => pattern.test(flag));
  const isSaved =
    name === 'curl'
      ? has(/^(?:-O|--remote-name(?:-all)?)$/)
      : !has(/^(?:-O|--output-document|--spider)$/);
  if (!isSaved) return;
  for (const text of parsed.operands.flatMap(({ texts }) => texts)) {
    const [path = ''] = text.replace(/^[a-z]+:\/\//i, '').split(/[?#]/, 1);
    const file = path.slice(path.indexOf('/') + 1).replace(/^.*\//, '');
    if (path.includes('/') && file !== '') outline.findings.add('write', file, run.folders);
  }
};

export const SPECIAL_RUNS: ReadonlyMap<string, SpecialRun> = new Map<string, SpecialRun>([
  ...BUILTIN_RUNS,
  ...LIST_RUNS,
  ['git', git],
  ['ssh', ssh],
  ['tar', tar],
  ['bsdtar', tar],
  ...[...RUNNERS.keys()].map((name) => [name, packageRun] as const),
  ['watch', watch],
  ['flock', flock],
  ['docker', container],
  ['podman', container],
  ['nerdctl', container],
  ['docker-compose', compose],
  ['podman-compose', compose],
  ['curl', download],
  ['wget', download],
]);
