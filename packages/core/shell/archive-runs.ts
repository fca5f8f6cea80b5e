// Programs that put files into archives and take them out: `tar`, `cpio`.
import type { SpecialRun } from './builtin-runs.ts';
import type { WorkingFolders } from './folders.ts';
import { type ParsedArguments, parseArguments } from './options.ts';
import { programSpec } from './programs/index.ts';
import { specOf } from './programs/spec.ts';
import { readListed, useArgument, useArguments, useValues } from './use-arguments.ts';

const TAR = specOf({
  operands: ['read'],
  values: {
    '-f --file -C --directory': 'none',
    '-T --files-from': 'instructions',
    '-X --exclude-from': 'read',
    '--checkpoint': 'glued',
    '-I --use-compress-program --to-command --checkpoint-action -F --info-script --new-volume-script --rsh-command --rmt-command':
      'command',
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
  const isPrinted = has('-O', '--to-stdout');
  const folders = parsed.values.filter(({ option }) => option === '-C' || option === '--directory');
  const inside = folders.reduce((at, { value }) => at.below(value.texts), run.folders);
  for (const { option, role, value } of parsed.values) {
    if (option === '-f' || option === '--file')
      useArgument(outline, run, { role: isRead ? 'remote_read' : 'remote_write', argument: value });
    else if (option === '--checkpoint-action')
      for (const text of value.texts) outline.runScript(text.replace(/^exec=/, ''), run);
    else if (role !== 'none') useArgument(outline, run, { role, argument: value });
    else if (folders.some((one) => one.value === value))
      useArgument(outline, run, { role: isExtracted ? 'write' : 'read', argument: value });
    else if (isExtracted && /^--(?:transform|xform)$/.test(option))
      outline.findings.addOpaque('dynamic_argument', value.texts[0] ?? '');
  }
  if (isExtracted && !isPrinted && folders.length === 0)
    outline.findings.add('write', '.', run.folders);
  const members = parsed.operands.flatMap(({ texts }) => texts);
  const isRenamed = has('--strip-components', '--transform', '--xform');
  if (isExtracted && !isPrinted)
    for (const to of isRenamed || members.length === 0 ? ['.'] : members)
      outline.findings.addPut({ from: undefined, to }, inside);
  if (isRead && !isExtracted) return;
  for (const argument of parsed.operands) {
    const role = isExtracted && !isPrinted ? 'write' : 'read';
    useArgument(outline, { ...run, folders: inside }, { role, argument });
    if (!isExtracted) for (const text of argument.texts) outline.findings.addTree(text, inside);
  }
};

const CPIO = specOf({
  operands: ['none'],
  values: {
    '-F --file': 'none',
    '-I -E --pattern-file': 'read',
    '-O': 'write',
    '-D --directory': 'path',
    '--rsh-command': 'command',
    '-H --format -R --owner -C --io-size -M --message --block-size': 'none',
  },
});

/** Reads the names of files from its input, and their contents. */
const cpio: SpecialRun = (outline, run) => {
  const parsed = parseArguments(run.args, CPIO);
  const has = (...names: readonly string[]) => names.some((name) => parsed.flags.includes(name));
  const isPassed = has('-p', '--pass-through');
  const isMade = has('-o', '--create');
  useValues(outline, run, parsed);
  for (const { option, value } of parsed.values) {
    if (option !== '-F' && option !== '--file') continue;
    useArgument(outline, run, { role: isMade ? 'remote_write' : 'remote_read', argument: value });
  }
  if (isMade || isPassed) readListed(outline, run);
  for (const argument of isPassed ? parsed.operands : [])
    useArgument(outline, run, { role: 'write', argument });
  const isExtracted = !isMade && !isPassed && !has('-t', '--list', '--to-stdout');
  if (!isExtracted) return;
  const inside = foldersAt(run.folders, parsed, /^(?:-D|--directory)$/);
  outline.findings.add('write', '.', inside);
  outline.findings.addPut({ from: undefined, to: '.' }, inside);
};

/** Where a program works that is told to by an option. */
function foldersAt(
  folders: WorkingFolders,
  { values }: ParsedArguments,
  option: RegExp,
): WorkingFolders {
  const named = values.filter((one) => option.test(one.option));
  return named.reduce((at, { value }) => at.below(value.texts), folders);
}

/** What is in an archive or a patch is written where its names say. */
const unzip: SpecialRun = (outline, run, parsed) => {
  useArguments(outline, run, { spec: programSpec('unzip'), parsed });
  if (parsed.flags.some((flag) => /^-[lptvzZ]$/.test(flag))) return;
  const inside = foldersAt(run.folders, parsed, /^-d$/);
  outline.findings.add('write', '.', inside);
  outline.findings.addPut({ from: undefined, to: '.' }, inside);
};

const patch: SpecialRun = (outline, run, parsed) => {
  useArguments(outline, run, { spec: programSpec('patch'), parsed });
  const isElsewhere = /^(?:--dry-run|-o|--output)$/;
  if (parsed.flags.some((flag) => isElsewhere.test(flag))) return;
  const inside = foldersAt(run.folders, parsed, /^(?:-d|--directory)$/);
  outline.findings.add('write', '.', inside);
};

export const ARCHIVE_RUNS: ReadonlyMap<string, SpecialRun> = new Map<string, SpecialRun>([
  ['tar', tar],
  ['bsdtar', tar],
  ['cpio', cpio],
  ['unzip', unzip],
  ['patch', patch],
]);
