// What the commands of git touch.
import type { SpecialRun } from './builtin-runs.ts';
import { lastName } from './folders.ts';
import { type Argument, type ParsedArguments, parseArguments } from './options.ts';
import { programSpec } from './programs/index.ts';
import { specOf } from './programs/spec.ts';
import type { ScriptOutline } from './script-outline.ts';
import { isOption, type NamedRun, useArgument, useArguments } from './use-arguments.ts';

const UNKNOWN_COMMAND = specOf({ operands: ['revision_read'] });
/** Settings of git that hold commands. */
const COMMAND_SETTING =
  /^(?:alias\.[^=]*|core\.(?:pager|editor|sshcommand|fsmonitor|askpass|gitproxy|alternaterefscommand)|tar\.[^=]*\.command|trailer\.[^=]*\.(?:command|cmd)|interactive\.difffilter|uploadpack\.packobjectshook|remote\.[^=]*\.(?:uploadpack|receivepack)|merge\.[^=]*\.driver|gc\.recentobjectshook|man\.[^=]*|browser\.[^=]*|pager\.[^=]*|diff\.(?:external|[^=]*\.(?:command|textconv))|credential\.(?:[^=]*\.)?helper|gpg\.(?:[^=]*\.)?(?:program|defaultkeycommand)|filter\.[^=]*|sequence\.editor|(?:merge|diff)tool\.[^=]*)=/i;
/** Settings of git that name files with commands in them. */
const LOADING_SETTING =
  /^(?:core\.hookspath|include\.path|includeif\.[^=]*|protocol\.ext\.[^=]*|remote\.[^=]*\.vcs|init\.templatedir)=/i;

export const git: SpecialRun = (outline, run) => {
  const spec = programSpec('git');
  const own = parseArguments(run.args, spec, { stopsAtOperand: true });
  const folders = own.values
    .filter(({ option }) => option === '-C' || option === '--work-tree')
    .reduce((at, { value }) => at.below(value.texts), run.folders);
  for (const { option, role, value } of own.values) {
    if (option === '-c') for (const text of value.texts) setGit(outline, run, text);
    else if (option === '--exec-path') outline.findings.addOpaque('redefined', option);
    else if (option === '--config-env' && value.texts.some((one) => COMMAND_SETTING.test(one)))
      outline.findings.addOpaque('redefined', option);
    else useArgument(outline, run, { role, argument: value });
  }
  const [command, ...words] = run.args.slice(own.operandsAt);
  // The address of a repository that is a command.
  for (const text of words.flatMap(({ texts }) => texts))
    if (/(?:^|=)ext::/.test(text)) outline.findings.addOpaque('inline_code', text);
  for (const name of command?.texts ?? []) {
    const inner = spec.commands?.get(name) ?? UNKNOWN_COMMAND;
    const parsed = withFullFlags(parseArguments(words, inner));
    const inside = { ...run, folders };
    useArguments(outline, inside, { spec: inner, parsed });
    runWords(outline, inside, { name, words });
    noteTrees(outline, inside, { name, parsed });
    noteWrites(outline, inside, { name, parsed });
    noteRemoves(outline, inside, { name, parsed });
    noteUnknown(outline, { name, parsed });
  }
};

const REACHING_FLAGS = [
  '--force',
  '--no-index',
  '--untracked',
  '--include-untracked',
  '--all',
  '--pathspec-from-file',
  '--batch',
];

/** `--untr` is `--untracked`. */
function withFullFlags(parsed: ParsedArguments): ParsedArguments {
  const full = parsed.flags.flatMap((flag) =>
    REACHING_FLAGS.filter((name) => name !== flag && isOption(flag, name)),
  );
  return full.length === 0 ? parsed : { ...parsed, flags: [...parsed.flags, ...full] };
}

interface GitWords {
  readonly name: string;
  readonly words: readonly Argument[];
}

/** Commands of git that run others, or that set which ones are run. */
function runWords(outline: ScriptOutline, run: NamedRun, { name, words }: GitWords): void {
  const texts = words.map(({ texts: [text = ''] }) => text);
  if (name === 'bisect' && texts[0] === 'run') outline.run({ ...run, args: words.slice(1) });
  if (name === 'submodule' && texts[0] === 'foreach')
    outline.runScript(texts.slice(1).join(' '), run);
  if (name !== 'config') return;
  for (const [index, key] of texts.entries()) {
    const setting = `${key}=${texts[index + 1] ?? ''}`;
    if (COMMAND_SETTING.test(setting) || LOADING_SETTING.test(setting))
      setGit(outline, run, setting);
  }
}

function setGit(outline: ScriptOutline, run: NamedRun, text: string): void {
  if (LOADING_SETTING.test(text)) outline.findings.addOpaque('redefined', text);
  if (COMMAND_SETTING.test(text)) {
    const value = text.slice(text.indexOf('=') + 1);
    const isGit = /^alias\./i.test(text) && !value.startsWith('!');
    if (value !== '') outline.runScript(isGit ? `git ${value}` : value.replace(/^!/, ''), run);
  } else outline.findings.add('setting', text, run.folders);
}

interface GitCommand {
  readonly name: string;
  readonly parsed: ParsedArguments;
}

/**
 * Commands that show or keep files that git does not keep yet. What it keeps anyway (`git log -p`, `git grep`) is no
 * tree: an ignored file is not in it, and everyday work would be.
 */
function noteTrees({ findings }: ScriptOutline, { folders }: NamedRun, command: GitCommand): void {
  const { name, parsed } = command;
  const texts = parsed.operands.flatMap((operand) => operand.texts);
  const has = (pattern: RegExp) => parsed.flags.some((flag) => pattern.test(flag));
  const note = (paths: readonly string[]) => {
    for (const path of paths) findings.addTree(path, folders);
  };
  const noteAll = (paths: readonly string[]) => note(paths.length === 0 ? ['.'] : paths);
  if (name === 'add' || name === 'stage') {
    if (has(/^(?:-f|--force)$/)) noteAll(texts);
  } else if (name === 'stash') {
    if (has(UNTRACKED)) note(['.']);
  } else if (name === 'diff' && has(/^--no-index$/)) note(texts);
  else if (name === 'grep' && has(/^--(?:no-index|untracked)$/))
    noteAll(has(/^-[ef]$/) ? texts : texts.slice(1));
}

/** Files that git names itself. */
function noteWrites({ findings }: ScriptOutline, { folders }: NamedRun, command: GitCommand): void {
  const { name, parsed } = command;
  const texts = parsed.operands.flatMap((operand) => operand.texts);
  const has = (pattern: RegExp) => parsed.flags.some((flag) => pattern.test(flag));
  const isLooking = has(/^--(?:check|stat|numstat|summary)$/);
  const isPatched = /^(?:apply|am)$/.test(name) && !isLooking;
  const isClean = name === 'clean' && texts.length === 0;
  const isExported = name === 'checkout-index' && has(/^(?:-a|--all)$/);
  const isPatchMade = name === 'format-patch' && !has(/^(?:-o|--output-directory|--stdout)$/);
  if (isPatched || isClean || isPatchMade || isExported) findings.add('write', '.', folders);
  const [from, into] = name === 'submodule' && texts[0] === 'add' ? texts.slice(1) : texts;
  const isCloned = name === 'clone' || (name === 'submodule' && texts[0] === 'add');
  if (isCloned && from !== undefined && into === undefined)
    findings.add('write', clonedName(from, has(/^--(?:bare|mirror)$/)), folders);
  if (name.startsWith('credential')) findings.add('read', '~/.git-credentials', folders);
}

/** The folder that `git clone` makes: the last name of the address. */
function clonedName(address: string, isBare: boolean): string {
  const name = lastName(address.replace(/\/\.git\/?$/, ''))
    .replace(/^.*:/s, '')
    .replace(/\.(?:git|bundle)$/, '');
  return isBare ? `${name}.git` : name;
}

/** Files that stand in another file, or that only the repository knows by the hash of what is in them. */
function noteUnknown({ findings }: ScriptOutline, { name, parsed }: GitCommand): void {
  const has = (pattern: RegExp) => parsed.flags.some((flag) => pattern.test(flag));
  const isChosen = name === 'checkout' || name === 'restore' || name === 'reset';
  if (isChosen && has(/^--pathspec-from-file$/)) findings.addOpaque('dynamic_argument', name);
  if (name !== 'cat-file' || has(/^-[tse]$/)) return;
  const hashes = parsed.operands.flatMap(({ texts }) => texts.filter((text) => HASH.test(text)));
  if (hashes.length > 0 || has(/^--batch/)) findings.addOpaque('dynamic_argument', name);
}

const HASH = /^[0-9a-f]{4,64}$/;

const REMOVING = /^(?:rm|mv|clean|checkout|restore)$/;
const DRY_RUN = /^(?:-n|--dry-run|--cached)$/;
const UNTRACKED = /^(?:-u|-a|--include-untracked|--all)$/;

/** What git takes out of the work tree, or exchanges for what the repository holds. */
function noteRemoves(
  { findings }: ScriptOutline,
  { folders }: NamedRun,
  { name, parsed: { flags, operands } }: GitCommand,
): void {
  const has = (pattern: RegExp) => flags.some((flag) => pattern.test(flag));
  const isInIndex = has(/^(?:-S|--staged)$/) && !has(/^(?:-W|--worktree)$/);
  if (has(DRY_RUN) || isInIndex) return;
  const isAll = name === 'clean' && operands.length === 0;
  const isStashed = name === 'stash' && has(UNTRACKED);
  if (isAll || isStashed) findings.addRemoved('.', folders);
  if (!REMOVING.test(name)) return;
  // To take back all changes, `git checkout .`, is everyday work.
  const isWhole = (text: string) =>
    /^(?:checkout|restore)$/.test(name) &&
    /^\.?\/?$/.test(text) &&
    folders.current.every((folder) => folder === '');
  const removed = name === 'mv' ? operands.slice(0, -1) : operands;
  for (const text of removed.flatMap(({ texts }) => texts)) {
    const path = text.replace(/^:(?:\([^)]*\)|\/)/, '');
    // A pattern of git reaches into folders.
    if (!isWhole(path)) findings.addRemoved(path.includes('*') ? `**/${path}` : path, folders);
  }
}
