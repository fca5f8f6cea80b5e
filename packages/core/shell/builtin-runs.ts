// Builtins of the shell that change what the rest of a script means.
import type { ParsedArguments } from './options.ts';
import type { ScriptOutline } from './script-outline.ts';
import { joinedTexts, type NamedRun } from './use-arguments.ts';
import { UNKNOWN } from './word-texts.ts';

export type SpecialRun = (outline: ScriptOutline, run: NamedRun, parsed: ParsedArguments) => void;

const firstTexts = (parsed: ParsedArguments): readonly string[] => parsed.operands[0]?.texts ?? [];

const changeFolder: SpecialRun = ({ findings }, { folders }, { operands, flags }) => {
  const texts = operands[0]?.texts ?? (flags.includes('-') ? ['-'] : ['~']);
  if (texts.includes('-')) return folders.goBack();
  for (const text of texts) findings.add('path', text, folders);
  folders.change(
    texts.map((text) => (text.includes(UNKNOWN) || /^[+]\d/.test(text) ? undefined : text)),
  );
};

/** `pushd -n x`, `pushd +1` and `pushd` alone turn the stack. */
const pushFolder: SpecialRun = ({ findings }, { folders }, { operands, flags }) => {
  const texts = operands[0]?.texts ?? [];
  const isPlain = texts.length > 0 && flags.length === 0 && !texts.some((one) => /^[-+]/.test(one));
  for (const text of texts) findings.add('path', text, folders);
  if (!isPlain) findings.addOpaque('dynamic_argument', 'pushd');
  const places = texts.map((text) => (text.includes(UNKNOWN) ? undefined : text));
  folders.push(isPlain ? places : undefined);
};

const popFolder: SpecialRun = ({ findings }, { folders, args }) => {
  const isKnown = folders.pop();
  if (!isKnown || args.length > 0) findings.addOpaque('dynamic_argument', 'popd');
};

const leave: SpecialRun = (_outline, { folders }) => folders.leave();

const evaluate: SpecialRun = (outline, run) => {
  const [first, ...rest] = run.args;
  const operands = first?.texts[0] === '--' ? rest : run.args;
  for (const line of joinedTexts(outline, operands)) outline.evaluate(line, run);
};

const source: SpecialRun = (outline, run, parsed) => {
  for (const text of firstTexts(parsed)) {
    outline.findings.addOpaque('sourced_script', text);
    outline.findings.add('read', text, run.folders);
  }
};

const alias: SpecialRun = (outline, run, { operands }) => {
  for (const text of operands.flatMap(({ texts }) => texts)) {
    const sign = text.indexOf('=');
    if (sign === -1) continue;
    const name = text.slice(0, sign);
    outline.aliases.set(name, [...(outline.aliases.get(name) ?? []), text.slice(sign + 1)]);
    outline.runScript(text.slice(sign + 1), run);
  }
};

const trap: SpecialRun = (outline, run, { operands }) => {
  const [handler, ...signals] = operands;
  if (handler === undefined || signals.length === 0) return;
  if (signals.some(({ texts }) => texts.includes('DEBUG')))
    outline.findings.addOpaque('redefined', 'trap DEBUG');
  for (const text of handler.texts) {
    if (text === '-') continue;
    outline.runScript(text, run);
    outline.addHandler(text, run);
  }
};

/** `set -e` counts where it holds for the whole line. */
const setOptions: SpecialRun = (_outline, { folders, isCertain, args }) => {
  const words = args.map(({ texts: [text = ''] }) => text);
  const isStrict = words.some((word, index) => {
    return /^-\w*e/.test(word) || (word === 'errexit' && words[index - 1] === '-o');
  });
  const isLoose = words.some((word) => word.startsWith('+'));
  folders.endsOnFailure = (folders.endsOnFailure || (isStrict && isCertain)) && !isLoose;
};

const unset: SpecialRun = (outline, _run, { operands }) => {
  for (const name of operands.flatMap(({ texts }) => texts)) outline.forgetFunction(name);
};

const hash: SpecialRun = ({ findings }, run, { flags }) => {
  if (flags.includes('-p') || flags.includes('-f')) findings.addOpaque('redefined', run.path);
};

/** `command -v x` runs nothing. */
const runCommand: SpecialRun = (outline, run, { flags, operandsAt }) => {
  if (flags.includes('-v') || flags.includes('-V')) return;
  const inner = run.args.slice(operandsAt);
  if (inner.length > 0) outline.run({ ...run, args: inner, isWrapped: true });
};

const FILE_TEST = /^-[abcdefghkprstuwxGLNOS]$/;

/** Only what is tested as a file is a path. */
const test: SpecialRun = ({ findings }, { args, folders }) => {
  for (const [index, { texts }] of args.entries()) {
    const before = args[index - 1]?.texts[0] ?? '';
    for (const text of FILE_TEST.test(before) ? texts : []) {
      if (!text.includes(UNKNOWN)) findings.add('path', text, folders);
    }
  }
};

export const BUILTIN_RUNS: ReadonlyMap<string, SpecialRun> = new Map<string, SpecialRun>([
  ['test', test],
  ['[', test],
  ['[[', test],
  ['cd', changeFolder],
  ['pushd', pushFolder],
  ['popd', popFolder],
  ['exit', leave],
  ['return', leave],
  ['eval', evaluate],
  ['source', source],
  ['.', source],
  ['alias', alias],
  ['trap', trap],
  ['set', setOptions],
  ['unset', unset],
  ['hash', hash],
  ['enable', hash],
  ['command', runCommand],
]);
